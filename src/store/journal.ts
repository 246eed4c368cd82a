import { type DatabaseName, databases } from "./keys.js";
import type { Bytes, Pending } from "./pending.js";
import { createUndoLog, type UndoEntry, undoEntries, undoKeys } from "./undo-log.js";

/** The one way in which a block writes. Who knows what lies under a key says so (`before`), and spares the looking. */
export interface Journal {
  put(database: DatabaseName, key: Buffer, value: unknown, before?: Bytes): void;
  /** A put under a key that is known to be new. */
  insert(database: DatabaseName, key: Buffer, value: unknown): void;
  remove(database: DatabaseName, key: Buffer, before?: Bytes): void;
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

export const createUndoJournal = (pending: Pending): UndoJournal => {
  const log = createUndoLog();
  const looked = new Set<string>();

  /** Only the first look at a key sees what was there before the block. */
  const look = (database: DatabaseName, key: Buffer): void => {
    const mark = `${placeOf[database]} ${key.toString("latin1")}`;
    if (looked.has(mark)) return;
    looked.add(mark);
    log.add(placeOf[database], key, pending.bytes(database, key));
  };

  const note = (database: DatabaseName, key: Buffer, before: Bytes | undefined): void => {
    if (before === undefined) look(database, key);
    else log.add(placeOf[database], key, before);
  };

  return {
    put: (database, key, value, before) => {
      note(database, key, before);
      pending.put(database, key, value);
    },
    insert: (database, key, value) => {
      note(database, key, null);
      pending.put(database, key, value);
    },
    remove: (database, key, before) => {
      note(database, key, before);
      pending.putBytes(database, key, null);
    },
    undo: log.bytes,
  };
};

/** For blocks that will not be reverted: nothing is remembered. */
export const createPlainJournal = (pending: Pending): Journal => ({
  put: pending.put,
  insert: pending.put,
  remove: (database, key) => pending.putBytes(database, key, null),
});

/** Puts back what a block wrote over, the last first: what stood under a key before all of it comes last. */
export const rollBack = (pending: Pending, undo: Buffer): void => {
  const putBack = ({ database, key, before }: UndoEntry): void => {
    const name = names[database];
    if (name === undefined) throw new Error(`the undo record names a database ${database} that is not known`);
    pending.putBytes(name, key, before);
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
