import { asBinary } from "lmdb";
import type { Environment } from "./environment.js";
import { type DatabaseName, databases } from "./keys.js";
import { createUndoLog, type UndoEntry, undoEntries, undoKeys } from "./undo-log.js";

/** The bytes that lie under a key; null: nothing does. */
export type Before = Buffer | null;

/** The one way in which a block writes. Who knows what lies under a key says so (`before`), and spares the looking. */
export interface Journal {
  get(database: DatabaseName, key: Buffer): unknown;
  put(database: DatabaseName, key: Buffer, value: unknown, before?: Before): void;
  /** A put under a key that is known to be new. */
  insert(database: DatabaseName, key: Buffer, value: unknown): void;
  remove(database: DatabaseName, key: Buffer, before?: Before): void;
}

/**
 * Remembers what stood under every key before the block touched it. Reverting is putting that back, so it restores the state
 * exactly, whatever wrote it.
 */
export interface UndoJournal extends Journal {
  /** What to put back. */
  undo(): Buffer;
}

const names = Object.keys(databases) as DatabaseName[];
const placeOf = Object.fromEntries(names.map((name, place) => [name, place])) as Record<DatabaseName, number>;

export const createUndoJournal = ({ db }: Pick<Environment, "db">): UndoJournal => {
  const log = createUndoLog();
  const looked = new Set<string>();

  /** Only the first look at a key sees what was there before the block. */
  const look = (database: DatabaseName, key: Buffer): void => {
    const mark = `${placeOf[database]} ${key.toString("latin1")}`;
    if (looked.has(mark)) return;
    looked.add(mark);
    log.add(placeOf[database], key, db[database].getBinary(key) ?? null);
  };

  return {
    get: (database, key) => db[database].get(key),
    put: (database, key, value, before) => {
      if (before === undefined) look(database, key);
      else log.add(placeOf[database], key, before);
      db[database].putSync(key, value);
    },
    insert: (database, key, value) => {
      log.add(placeOf[database], key, null);
      db[database].putSync(key, value);
    },
    remove: (database, key, before) => {
      if (before === undefined) look(database, key);
      else log.add(placeOf[database], key, before);
      db[database].removeSync(key);
    },
    undo: log.bytes,
  };
};

/** For blocks that will not be reverted: nothing is remembered. */
export const createPlainJournal = ({ db }: Pick<Environment, "db">): Journal => {
  const put = (database: DatabaseName, key: Buffer, value: unknown): void => void db[database].putSync(key, value);
  return {
    get: (database, key) => db[database].get(key),
    put,
    insert: put,
    remove: (database, key) => void db[database].removeSync(key),
  };
};

/** Puts back what a block wrote over, the last first: what stood under a key before all of it comes last. */
export const rollBack = ({ db }: Pick<Environment, "db">, undo: Buffer): void => {
  const putBack = ({ database, key, before }: UndoEntry): void => {
    const name = names[database];
    if (name === undefined) throw new Error(`the undo record names a database ${database} that is not known`);
    if (before === null) db[name].removeSync(key);
    else db[name].putSync(key, asBinary(before));
  };
  undoEntries(undo).reverse().forEach(putBack);
};

/** The keys under which a block wrote into a database, as its undo record tells. */
export const keysWritten = <Name extends DatabaseName>(undo: Buffer, databases: readonly Name[]): Record<Name, Buffer[]> => {
  const places = new Map(databases.map((name) => [placeOf[name], name]));
  const written = Object.fromEntries(databases.map((name): [Name, Buffer[]] => [name, []])) as Record<Name, Buffer[]>;
  for (const { database, key } of undoKeys(undo, new Set(places.keys()))) written[places.get(database) as Name].push(key);
  return written;
};
