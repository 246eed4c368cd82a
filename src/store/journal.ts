import { asBinary } from "lmdb";
import type { Environment } from "./environment.js";
import type { DatabaseName } from "./keys.js";

/** What to put back, in order: database, key, the bytes that were there (null: nothing was). */
export type Undo = [database: DatabaseName, key: Buffer, before: Buffer | null][];

/**
 * The one way in which a block writes: it remembers what stood under every key before the block touched it. Reverting is
 * putting that back, so it restores the state exactly, whatever wrote it.
 */
export interface Journal {
  get(database: DatabaseName, key: Buffer): unknown;
  put(database: DatabaseName, key: Buffer, value: unknown): void;
  /** A put under a key that is known to be new. */
  insert(database: DatabaseName, key: Buffer, value: unknown): void;
  remove(database: DatabaseName, key: Buffer): void;
  readonly undo: Undo;
}

export const createJournal = ({ db }: Pick<Environment, "db">): Journal => {
  const undo: Undo = [];
  const touched = new Set<string>();
  const remember = (database: DatabaseName, key: Buffer): void => {
    const mark = `${database} ${key.toString("latin1")}`;
    if (touched.has(mark)) return;
    touched.add(mark);
    const before = db[database].getBinary(key);
    undo.push([database, key, before === undefined ? null : Buffer.from(before)]);
  };
  return {
    undo,
    get: (database, key) => db[database].get(key),
    put: (database, key, value) => {
      remember(database, key);
      db[database].putSync(key, value);
    },
    insert: (database, key, value) => {
      touched.add(`${database} ${key.toString("latin1")}`);
      undo.push([database, key, null]);
      db[database].putSync(key, value);
    },
    remove: (database, key) => {
      remember(database, key);
      db[database].removeSync(key);
    },
  };
};

/** Puts back what a block wrote over. */
export const rollBack = ({ db }: Pick<Environment, "db">, undo: Undo): void => {
  for (const [database, key, before] of undo) {
    if (before === null) db[database].removeSync(Buffer.from(key));
    else db[database].putSync(Buffer.from(key), asBinary(Buffer.from(before)));
  }
};
