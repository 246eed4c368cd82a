import type { KeptBlock, OrphanBlock } from "../../../types/chain-adapter.js";
import type { Block } from "../../../types/chain.js";
import type { FullBlock } from "../../chain/blocks/block.js";
import { locksEndedBy } from "../../chain/locks.js";
import { blockCodec, endedLockCodec, transactionCodec } from "../layout/codec.js";
import { numberKey, textDigest, textKey } from "../layout/keys.js";
import { rowChecksum } from "../layout/checksums.js";
import type { Environment } from "../lmdb/environment.js";
import type { Lookup } from "../lmdb/read-session.js";
import { transact } from "../lmdb/safe/transact.js";
import { readTransactionById } from "../records/records.js";
import type { WriteBatch } from "../write/write-batch.js";

// What the store keeps of blocks beyond the chain, for readers that follow it. Four kinds of keys in the database `orphans`:
//
// - `o`, digest of a block's id -> the block, when it was applied and reverted, how often it had been applied before, the locks that it
//   ended, and a checksum
// - `t`, when it was reverted (milliseconds), that digest -> true: what retention looks at
// - `a`, height of a block of the chain -> digest of its id, when it was applied, how often before, and a checksum; not for blocks read
//   while catching up
// - `r`, height -> while the store is rebuilt, a block that its old chain had below the fork, as under `o`: the host may leave it meanwhile
//
// None is undone with a block, nor lost in a rebuild: each names its block.

const timeLength = 6;

const timeKey = (time: number): Buffer => {
  const key = Buffer.alloc(timeLength);
  key.writeUIntBE(Math.max(0, Math.floor(time)), 0, timeLength);
  return key;
};

const orphanKey = (digest: Buffer): Buffer => Buffer.concat([textKey("o"), digest]);
const revertedKey = (time: number, digest: Buffer): Buffer => Buffer.concat([textKey("t"), timeKey(time), digest]);
const appliedKey = (height: number): Buffer => Buffer.concat([textKey("a"), numberKey(height)]);

const rebuiltKey = (height: number): Buffer => Buffer.concat([textKey("r"), numberKey(height)]);

type OrphanRow = [
  block: unknown[],
  transactions: unknown[][],
  appliedAt: number | null,
  revertedAt: number,
  times: number,
  locks: unknown[][],
];
type AppliedRow = [digest: Buffer, at: number | null, times: number];

/** What `verifyStore` has to know of them. */
export const orphanRows = {
  /** Values of a row of a kind, before its checksum. */
  lengthOf: (kind: string): number | undefined => (kind === "o" || kind === "r" ? 6 : kind === "a" ? 3 : undefined),
  /** The key in the list of times that belongs to a block. */
  revertedKeyOf: (key: Buffer, row: readonly unknown[]): Buffer => revertedKey(Number(row[3]), key.subarray(1)),
};

const withChecksum = (key: Buffer, row: OrphanRow | AppliedRow): unknown[] => [...row, rowChecksum(key, row)];

type Puts = Pick<WriteBatch, "put" | "putBytes">;

const timesReverted = (reading: Lookup, digest: Buffer): number => {
  const row = reading.get("orphans", orphanKey(digest)) as OrphanRow | undefined;
  return row === undefined ? 0 : row[4] + 1;
};

/** Notes that a block was applied at the tip. Without a time, it was read while catching up. */
export const noteApplied = (pending: Puts & Lookup, { block: { height, id } }: FullBlock, at: number | undefined, times = timesReverted(pending, textDigest(id))): void => {
  const digest = textDigest(id);
  const key = appliedKey(height);
  const before = pending.get("orphans", key) as AppliedRow | undefined;
  // In a rebuild, the same block is written again.
  if (before !== undefined && digest.equals(before[0])) return;
  if (at !== undefined || times > 0) pending.put("orphans", key, withChecksum(key, [digest, at ?? null, times]));
  else if (before !== undefined) pending.putBytes("orphans", key, null);
};

/** A block of the chain, with what is known of its application, and the locks that it ends. */
export const withApplied = (reading: Lookup, full: FullBlock): KeptBlock => {
  const locks = locksEndedBy(full.transactions, (id) => readTransactionById(reading, id));
  const withLocks = locks.length === 0 ? full : { ...full, locks };
  const row = reading.get("orphans", appliedKey(full.block.height)) as AppliedRow | undefined;
  if (row === undefined || !textDigest(full.block.id).equals(row[0])) return withLocks;
  const [, at, times] = row;
  return { ...withLocks, times, ...(at === null ? {} : { appliedAt: at }) };
};

const orphanRow = ({ block, transactions, locks = [], appliedAt, times = 0 }: KeptBlock, revertedAt: number): OrphanRow => [
  blockCodec.pack(block),
  transactions.map(transactionCodec.pack),
  appliedAt ?? null,
  revertedAt,
  times,
  locks.map(endedLockCodec.pack),
];

/** Keeps a block that is taken off the chain. */
export const putOrphan = (pending: Puts & Lookup, full: KeptBlock, revertedAt: number): void => {
  const { height, id } = full.block;
  const digest = textDigest(id);
  const before = pending.get("orphans", orphanKey(digest)) as OrphanRow | undefined;
  if (before !== undefined) pending.putBytes("orphans", revertedKey(before[3], digest), null);
  pending.put("orphans", orphanKey(digest), withChecksum(orphanKey(digest), orphanRow(full, revertedAt)));
  pending.put("orphans", revertedKey(revertedAt, digest), true);
  // The same block may be applied again at the same height, and then counts anew.
  const applied = pending.get("orphans", appliedKey(height)) as AppliedRow | undefined;
  if (applied !== undefined && digest.equals(applied[0])) pending.putBytes("orphans", appliedKey(height), null);
};

/**
 * Keeps a block that a rebuild is about to write again, unless there is one: nobody was told of what an earlier rebuild had written there.
 */
export const putRebuilt = (pending: Puts & Lookup, full: KeptBlock): void => {
  const key = rebuiltKey(full.block.height);
  if (pending.get("orphans", key) === undefined) pending.put("orphans", key, withChecksum(key, orphanRow(full, 0)));
};

const kept = ([block, transactions, appliedAt, revertedAt, times, locks]: OrphanRow): OrphanBlock => ({
  block: blockCodec.unpack(block),
  transactions: transactions.map((one) => transactionCodec.unpack(one)),
  ...(locks.length === 0 ? {} : { locks: locks.map(endedLockCodec.unpack) }),
  revertedAt,
  times,
  ...(appliedAt === null ? {} : { appliedAt }),
});

/** Once a rebuild is over, what it has not written again is off the chain; within a transaction. */
export const leaveRebuilt = (environment: Pick<Environment, "db">, isOnChain: (block: Block) => boolean, revertedAt: (id: string) => number): void => {
  const direct = directly(environment);
  const { orphans } = environment.db;
  for (const key of [...orphans.getKeys({ start: textKey("r"), end: textKey("s") })].map((key) => Buffer.from(key))) {
    const full = kept(orphans.get(key) as OrphanRow);
    const { times = 0 } = full;
    // The rebuild may have written it, and reverted it.
    const isKept = (readOrphan(direct, full.block.id)?.times ?? -1) >= times;
    if (!isOnChain(full.block) && !isKept) putOrphan(direct, full, revertedAt(full.block.id));
    orphans.removeSync(key);
  }
};

export const readOrphan = (reading: Lookup, id: string): OrphanBlock | undefined => {
  const row = reading.get("orphans", orphanKey(textDigest(id))) as OrphanRow | undefined;
  return row && kept(row);
};

/** How often a block of the chain, or one that was reverted, had been applied before. */
export const readTimes = (reading: Lookup, kind: "applied" | "reverted", { height, id }: { height: number; id: string }): number => {
  const digest = textDigest(id);
  if (kind === "reverted") return (reading.get("orphans", orphanKey(digest)) as OrphanRow | undefined)?.[4] ?? 0;
  const row = reading.get("orphans", appliedKey(height)) as AppliedRow | undefined;
  return row !== undefined && digest.equals(row[0]) ? row[2] : 0;
};

/** Blocks removed in one transaction. */
const removedTogether = 200;

/** Forgets blocks that were reverted before a time. Returns whether some are left. */
export const trimOrphans = (environment: Environment, before: number): boolean => {
  const { orphans } = environment.db;
  const range = { start: textKey("t"), end: Buffer.concat([textKey("t"), timeKey(before)]), limit: removedTogether };
  const old = [...orphans.getKeys(range)].map((key) => Buffer.from(key));
  if (old.length === 0) return false;
  transact(environment, () => {
    for (const key of old) {
      const digest = key.subarray(1 + timeLength);
      const row = orphans.get(orphanKey(digest)) as OrphanRow | undefined;
      // It may have been reverted again meanwhile.
      if (row !== undefined && row[3] === key.readUIntBE(1, timeLength)) orphans.removeSync(orphanKey(digest));
      orphans.removeSync(key);
    }
  });
  return old.length === removedTogether;
};

/** Puts at once, within an open transaction, what is otherwise put with a block. */
export const directly = ({ db }: Pick<Environment, "db">): Puts & Lookup => ({
  get: (database, key) => db[database].get(key),
  put: (database, key, value) => db[database].putSync(key, value),
  putBytes: (database, key, bytes) => {
    if (bytes !== null) throw new Error("bytes are put with a block");
    db[database].removeSync(key);
  },
});

