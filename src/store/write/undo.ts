import { type Sliced, atOnce, runSliced } from "../../async/time-slicing.js";
import { type DatabaseName, numberKey, undoKey, textKey } from "../layout/keys.js";
import { type WriteLog, entriesOf } from "../layout/write-log.js";
import { type ReadSession, type WriterReads, type Lookup, createReadSession, openTransaction } from "../lmdb/read-session.js";
import type { Bytes, WriteBatch } from "./write-batch.js";
import type { Lock, Tip } from "../../../types/chain.js";
import { digestOf, type StateParts } from "../../chain/digest.js";
import { type Codec, type DelegateRecord, delegateCodec, lockCodec, type WalletRecord, walletCodec } from "../layout/codec.js";
import type { Environment } from "../lmdb/environment.js";
import { existing, readRanking, readState } from "../records/records.js";

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

  /**
   * A key may be logged several times: the first entry is the one that counts, because `rollBack` goes backwards. Only values that must be
   * read are read once. Returns the value that the key has now.
   */
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

// The undo records in the store, in pieces that fit into LMDB's pages. A whole record would take some hundred pages in a row: LMDB
// searches all its free pages for such a run, and extends the file when it finds none.

/** Bytes: two pieces with their keys fill a page. */
const pieceLength = 2_000;

export const putUndo = function* (pending: WriteBatch, height: number, undo: Buffer): Sliced<void> {
  for (let piece = 0; piece * pieceLength < undo.length; piece++) {
    pending.putBytes("undo", undoKey(height, piece), undo.subarray(piece * pieceLength, (piece + 1) * pieceLength), null);
    yield;
  }
};

const hasUndo = (reading: Pick<ReadSession, "bytes">, height: number): boolean =>
  reading.bytes("undo", undoKey(height, 0)) !== undefined;

/** Height to which a chain can be reverted from a height down, but no further than to `wanted`. */
export const lowestRevertible = (reading: Pick<ReadSession, "bytes">, from: number, wanted: number): number => {
  let height = from;
  while (height > wanted && hasUndo(reading, height)) height--;
  return height;
};

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

const removeBelow = (pending: WriteBatch, database: Extract<DatabaseName, "undo" | "digests">, height: number): boolean => {
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
export const removeOldUndo = (pending: WriteBatch, tip: number, undoBlocks: number): boolean =>
  // The digest before the oldest block that can be reverted is kept, too.
  [removeBelow(pending, "undo", tip - undoBlocks + 1), removeBelow(pending, "digests", tip - undoBlocks)].includes(true);

// The digests of the store's states: of the tip, and of each block that it can go back to. Each names its block.

type BlockName = Pick<Tip, "height" | "id">;

const digestLength = 32;

/** Undefined where none is kept. */
export const readDigest = (reading: Lookup, { height, id }: BlockName): Buffer | undefined => {
  const kept = reading.get("digests", numberKey(height)) as Buffer | undefined;
  return kept?.subarray(digestLength).equals(textKey(id)) === true ? Buffer.from(kept.subarray(0, digestLength)) : undefined;
};

export const putDigest = (pending: WriteBatch, { height, id }: BlockName, digest: Buffer): void =>
  pending.putBytes("digests", numberKey(height), Buffer.concat([digest, textKey(id)]));

export const removeDigest = (pending: WriteBatch, height: number): void => {
  const key = numberKey(height);
  const before = pending.bytes("digests", key);
  if (before !== null) pending.putBytes("digests", key, null, before);
};

type Ranging = Pick<WriterReads, "range">;

function* recordsOf<T>(reading: Ranging, database: DatabaseName, codec: Codec<T>): Generator<T> {
  for (const { value } of reading.range(database, {})) yield codec.unpack(value as unknown[]);
}

/** All that the digest of the stored state is made of. */
const partsOf = (reading: Lookup & Ranging): StateParts => ({
  wallets: recordsOf<WalletRecord>(reading, "wallets", walletCodec),
  delegates: recordsOf<DelegateRecord>(reading, "delegates", delegateCodec),
  locks: recordsOf<Lock>(reading, "locks", lockCodec),
  ranks: readRanking(reading).map(({ publicKey }) => publicKey),
  supply: readState(reading)?.supply ?? 0n,
});

/** Computes the digest from the whole state, whatever is kept; also to check it. */
export const scanDigest = (reading: Lookup & Ranging): Sliced<Buffer> => digestOf(partsOf(reading));

/** That of the state before the next block. */
export const digestBefore = (reading: Lookup & Ranging): Buffer => {
  const tip = readState(reading)?.tip;
  return tip === undefined ? atOnce(scanDigest(reading)) : existing(readDigest(reading, tip), `digest of block ${tip.height}`);
};

/** The digest of a whole state, and the one that is kept for it. */
export interface StateScan {
  tip: Tip;
  kept: string;
  found: string;
}

/** Nothing is read any more once it has ended. */
const unlessEnded = function* <T>(work: Sliced<T>, hasEnded: () => boolean): Sliced<T | undefined> {
  while (!hasEnded()) {
    const step = work.next();
    if (step.done === true) return step.value;
    yield;
  }
  return undefined;
};

/** Computes the digest of the state that is current now, in the background; undefined where there is none, or none was kept for it. */
export const scanState = async (environment: Environment, hasEnded: () => boolean): Promise<StateScan | undefined> => {
  const transaction = openTransaction(environment);
  try {
    const reading = createReadSession(environment, transaction);
    const tip = readState(reading)?.tip;
    const kept = tip && readDigest(reading, tip)?.toString("hex");
    if (tip === undefined || kept === undefined) return undefined;
    const found = await runSliced(unlessEnded(scanDigest(reading), hasEnded));
    return found && { tip, kept, found: found.toString("hex") };
  } finally {
    transaction.done();
  }
};
