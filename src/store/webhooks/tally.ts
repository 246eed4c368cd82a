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
