import type { Database, Key } from "lmdb";
import type { Progress } from "../../../types/webhook-store.js";
import type { WebhookDatabases } from "./databases.js";

/** Rows of a database in one transaction: read once, if at all, and written once at its end, however often they change. */
interface Rows<K, V> {
  get(key: K): V | undefined;
  /** Undefined: it is removed. */
  put(key: K, value: V | undefined): void;
  /** Writes what changed, at the end. Says whether anything was put, or removed. */
  flush(): boolean;
}

/** `known`: rows that need not be read. It learns all others. */
const createRows = <K extends Key, V>(database: Database<V, K>, known: Map<K, V | undefined>): Rows<K, V> => {
  const changed = new Set<K>();
  return {
    get: (key) => {
      const before = known.get(key);
      if (before !== undefined || known.has(key)) return before;
      const value = database.get(key);
      known.set(key, value);
      return value;
    },
    put: (key, value) => {
      known.set(key, value);
      changed.add(key);
    },
    flush: () => {
      let wrote = false;
      for (const key of changed) {
        const value = known.get(key);
        wrote = (value === undefined ? database.removeSync(key) : database.putSync(key, value)) || wrote;
      }
      return wrote;
    },
  };
};

/** Counters in one transaction. One that reaches 0 is removed. */
export interface Tally {
  get(key: string): number;
  add(key: string, by: number): number;
  flush(): boolean;
}

export const createTally = (db: WebhookDatabases, known = new Map<string, number | undefined>()): Tally => {
  const rows = createRows(db.counters as Database<number, string>, known);
  const get = (key: string): number => rows.get(key) ?? 0;
  return {
    get,
    add: (key, by) => {
      const value = get(key) + by;
      rows.put(key, value === 0 ? undefined : value);
      return value;
    },
    flush: rows.flush,
  };
};

/** Where webhooks are, in one transaction. */
export type ProgressRows = Rows<number, Progress>;

export const createProgressRows = (db: WebhookDatabases, known: Map<number, Progress | undefined>): ProgressRows => createRows(db.progress, known);
