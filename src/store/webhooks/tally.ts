import type { Progress } from "../../../types/webhook-store.js";
import { readNumber, type WebhookDatabases } from "./databases.js";

/** Counters in one transaction: read once, if at all, and written once at its end, however often they change. */
export interface Tally {
  get(key: string): number;
  add(key: string, by: number): number;
  /** Writes what changed, at the end. A counter that reaches 0 is removed. Says whether anything was put, or removed. */
  flush(): boolean;
}

/** `known`: counters that need not be read. It learns all others. */
export const createTally = (db: WebhookDatabases, known = new Map<string, number>()): Tally => {
  const changed = new Set<string>();
  const get = (key: string): number => {
    const before = known.get(key);
    if (before !== undefined) return before;
    const value = readNumber(db, key);
    known.set(key, value);
    return value;
  };
  return {
    get,
    add: (key, by) => {
      const value = get(key) + by;
      known.set(key, value);
      changed.add(key);
      return value;
    },
    flush: () => {
      let wrote = false;
      for (const key of changed) {
        const value = get(key);
        wrote = (value === 0 ? db.counters.removeSync(key) : db.counters.putSync(key, value)) || wrote;
      }
      return wrote;
    },
  };
};

/** Where webhooks are, in one transaction: read once, if at all, and written once at its end. */
export interface ProgressRows {
  get(webhookId: number): Progress | undefined;
  put(webhookId: number, progress: Progress): void;
  remove(webhookId: number): void;
  /** Writes what changed, at the end. Says whether anything was put, or removed. */
  flush(): boolean;
}

/** `known`: rows that need not be read. It learns all others. */
export const createProgressRows = ({ progress: database }: WebhookDatabases, known = new Map<number, Progress | undefined>()): ProgressRows => {
  const changed = new Set<number>();
  const change = (webhookId: number, progress: Progress | undefined): void => {
    known.set(webhookId, progress);
    changed.add(webhookId);
  };
  return {
    get: (webhookId) => {
      if (!known.has(webhookId)) known.set(webhookId, database.get(webhookId));
      return known.get(webhookId);
    },
    put: change,
    remove: (webhookId) => change(webhookId, undefined),
    flush: () => {
      let wrote = false;
      for (const webhookId of changed) {
        const progress = known.get(webhookId);
        wrote = (progress === undefined ? database.removeSync(webhookId) : database.putSync(webhookId, progress)) || wrote;
      }
      return wrote;
    },
  };
};
