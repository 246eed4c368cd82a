import type { Progress } from "../../../types/webhook-store.js";
import { readNumber, type WebhookDatabases } from "./databases.js";

/** Counters of one transaction: read once, written once at its end, however often they change. */
export interface Tally {
  get(key: string): number;
  add(key: string, by: number): number;
  /** Writes what changed. A counter that reaches 0 is removed. */
  flush(): void;
}

export const createTally = (db: WebhookDatabases): Tally => {
  const changed = new Map<string, number>();
  const get = (key: string): number => changed.get(key) ?? readNumber(db, key);
  return {
    get,
    add: (key, by) => {
      const value = get(key) + by;
      changed.set(key, value);
      return value;
    },
    flush: () => {
      for (const [key, value] of changed) {
        if (value === 0) db.counters.removeSync(key);
        else db.counters.putSync(key, value);
      }
    },
  };
};

/** Where webhooks are, in one transaction: read once, written once at its end. */
export interface ProgressRows {
  get(webhookId: number): Progress | undefined;
  put(webhookId: number, progress: Progress): void;
  remove(webhookId: number): void;
  /** Writes what changed. */
  flush(): void;
}

export const createProgressRows = ({ progress: database }: WebhookDatabases): ProgressRows => {
  const known = new Map<number, Progress | undefined>();
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
      for (const webhookId of changed) {
        const progress = known.get(webhookId);
        if (progress === undefined) database.removeSync(webhookId);
        else database.putSync(webhookId, progress);
      }
    },
  };
};
