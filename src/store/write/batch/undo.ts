import type { Sliced } from "../../../async/time-slicing.js";
import { type DatabaseName, numberKey, undoKey } from "../../layout/keys.js";
import { type WriteLog, entriesOf } from "../../layout/write-log.js";
import type { ReadSession, WriterReads } from "../../lmdb/read-session.js";
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

/** Restores what a block overwrote, in reverse order, so that the oldest value of each key is written last. `except`: ranked sets. */
export const rollBack = (pending: WriteBatch, undo: Buffer, except: ReadonlySet<number> = new Set()): void => {
  for (const { database, key, value } of entriesOf(undo).reverse()) {
    if (database !== "sets" || !except.has(key[0] ?? 0)) pending.putBytes(database, key, value);
  }
};

/**
 * The undo records in the store, in pieces that fit into LMDB's pages. A whole record would take some hundred pages in a row: LMDB
 * searches all its free pages for such a run, and extends the file when it finds none.
 */

/** Bytes: two pieces with their keys fill a page. */
const pieceLength = 2_000;

export const putUndo = function* (pending: WriteBatch, height: number, undo: Buffer): Sliced<void> {
  for (let piece = 0; piece * pieceLength < undo.length; piece++) {
    pending.putBytes("undo", undoKey(height, piece), undo.subarray(piece * pieceLength, (piece + 1) * pieceLength), null);
    yield;
  }
};

export const hasUndo = (reading: Pick<ReadSession, "bytes">, height: number): boolean =>
  reading.bytes("undo", undoKey(height, 0)) !== undefined;

/** Undefined where none is kept. */
export const readUndo = function* (reading: WriterReads, height: number): Sliced<Buffer | undefined> {
  const pieces: Buffer[] = [];
  for (const { value } of reading.range("undo", { start: numberKey(height), end: numberKey(height + 1) })) {
    pieces.push(value as Buffer);
    yield;
  }
  return pieces.length === 0 ? undefined : Buffer.concat(pieces);
};

export const removeUndo = (pending: WriteBatch, height: number): void => {
  for (let piece = 0; ; piece++) {
    const key = undoKey(height, piece);
    const before = pending.bytes("undo", key);
    if (before === null) return;
    pending.putBytes("undo", key, null, before);
  }
};

/** Pieces and digests that are removed in one transaction. */
const removedTogether = 1_000;

type Ranging = WriteBatch & Pick<WriterReads, "range">;

const removeBelow = (pending: Ranging, database: Extract<DatabaseName, "undo" | "digests">, height: number): boolean => {
  const old: { key: Buffer; value: Buffer }[] = [];
  for (const { key, value } of pending.range(database, { end: numberKey(Math.max(0, height)) })) {
    if (old.push({ key: Buffer.from(key), value: Buffer.from(value as Buffer) }) === removedTogether) break;
  }
  for (const { key, value } of old) pending.putBytes(database, key, null, value);
  return old.length === removedTogether;
};

/**
 * Removes undo records and digests of blocks that can no longer be reverted, because fewer can be than before. Returns whether some are
 * left.
 */
export const removeOldUndo = (pending: Ranging, tip: number, undoBlocks: number): boolean =>
  // The digest before the oldest block that can be reverted is kept, too.
  [removeBelow(pending, "undo", tip - undoBlocks + 1), removeBelow(pending, "digests", tip - undoBlocks)].includes(true);
