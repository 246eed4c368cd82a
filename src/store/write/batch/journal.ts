import { type WriteLog, entriesOf } from "../../layout/write-log.js";
import type { DatabaseName } from "../../layout/keys.js";
import type { Bytes } from "./memtable.js";
import type { WriteBatch } from "./write-batch.js";

/** The only way in which a block writes. A caller that knows the value of a key passes it (`before`), which saves reading it. */
export interface Journal {
  put(database: DatabaseName, key: Buffer, value: unknown, before?: Bytes): void;
  /** A put under a key that is known to be new. */
  insert(database: DatabaseName, key: Buffer, value: unknown): void;
  remove(database: DatabaseName, key: Buffer, before?: Bytes): void;
}

/**
 * Records in a log the value that every key had before the block wrote it. Reverting restores these values, so it restores the state
 * exactly, whatever wrote it.
 */
export const createUndoJournal = (pending: WriteBatch, log: Pick<WriteLog, "add">): Journal => {
  const looked = new Set<string>();

  /** Only the first look at a key finds its value from before the block. Returns the value that it has now. */
  const look = (database: DatabaseName, key: Buffer): Bytes => {
    const now = pending.bytes(database, key);
    const mark = `${database} ${key.toString("latin1")}`;
    if (!looked.has(mark)) log.add(database, key, now);
    looked.add(mark);
    return now;
  };

  const note = (database: DatabaseName, key: Buffer, before: Bytes | undefined): Bytes => {
    if (before === undefined) return look(database, key);
    log.add(database, key, before);
    return before;
  };

  return {
    put: (database, key, value, before) => pending.put(database, key, value, note(database, key, before)),
    insert: (database, key, value) => pending.put(database, key, value, note(database, key, null)),
    remove: (database, key, before) => pending.putBytes(database, key, null, note(database, key, before)),
  };
};

/** For blocks that will not be reverted: nothing is recorded. */
export const createPlainJournal = (pending: WriteBatch): Journal => ({
  put: pending.put,
  insert: (database, key, value) => pending.put(database, key, value, null),
  remove: (database, key, before) => pending.putBytes(database, key, null, before),
});

/** Restores what a block overwrote, in reverse order, so that the oldest value of each key is written last. */
export const rollBack = (pending: WriteBatch, undo: Buffer): void => {
  for (const { database, key, value } of entriesOf(undo).reverse()) pending.putBytes(database, key, value);
};
