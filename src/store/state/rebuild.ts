import { performance } from "node:perf_hooks";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type DatabaseName, databases, textKey } from "../layout/keys.js";
import { historyFromKey, historyTipKey } from "../write/history-rows.js";
import { checksumsKey, checksumsOfOldChain, parseChecksumKey } from "../layout/checksums.js";
import { listKey, pieceLength, pieceParts } from "../layout/posting-pieces.js";
import { createWriteLog } from "../layout/write-log.js";
import type { Environment } from "../lmdb/environment.js";
import { createReadSession } from "../lmdb/read-session.js";
import { transact } from "../lmdb/safe/transact.js";
import { rankingKey, readFullBlock, stateKey } from "../records/records.js";
import type { WriteBatch } from "../write/write-batch.js";
import { directly, putOrphan, putRebuilt, withApplied } from "../follow/orphans.js";

/** A store that is being built anew, in place, because the host's chain left it further back than it can be reverted. */
export interface Rebuild {
  /** Height of the last block that both chains have. */
  readonly fork: number;
  /** Height of the highest block of the old chain that is still to be kept for readers that follow the chain. 0: none is. */
  readonly top: number;
  /** Whether nothing of the old chain is left. */
  readonly emptied: boolean;
}

export const completeKey = textKey("complete");
const rebuildKey = textKey("rebuild");

export const readRebuild = ({ db }: Pick<Environment, "db">): Rebuild | undefined => db.meta.get(rebuildKey) as Rebuild | undefined;

/** To be called within a transaction. */
export const writeRebuild = ({ db }: Pick<Environment, "db">, rebuild: Rebuild | undefined): void => {
  if (rebuild === undefined) db.meta.removeSync(rebuildKey);
  else db.meta.putSync(rebuildKey, rebuild);
};

/** Makes the store one that answers nothing, in one transaction, before anything of it is removed. Nothing else must be pending. */
export const beginRebuild = async (pending: WriteBatch, rebuild: Rebuild): Promise<void> => {
  for (const key of [completeKey, stateKey, rankingKey, historyFromKey, historyTipKey]) pending.putBytes("meta", key, null);
  pending.put("meta", rebuildKey, rebuild);
  pending.put("meta", checksumsKey, checksumsOfOldChain);
  await pending.commit();
};

/** Milliseconds of work before yielding to the event loop. */
const turn = 10;

/**
 * Keys that are removed in one transaction. LMDB could drop a database at once, but then lists all its pages in one piece, and searches
 * that
 * whenever it needs one: in a store of 1 GB, commits took seconds for a while.
 */
const keysPerWrite = 2_000;

interface RemovalNeeds {
  /** When a block is reverted, in milliseconds since 1970. */
  revertedAt(id: string): number;
  isStopped(): boolean;
}

/** Blocks below the fork that are kept until the store is rebuilt: the host may leave them meanwhile. */
const keptBelow = 1_000;

/** Keeps the last blocks of the old chain for readers that follow the chain, from the tip downwards. */
const keepOldChain = async (environment: Environment, { revertedAt, isStopped }: RemovalNeeds): Promise<void> => {
  const reading = createReadSession(environment);
  const direct = directly(environment);
  const keepOne = ({ fork, top }: Rebuild): void => {
    const full = withApplied(reading, readFullBlock(reading, top));
    if (top <= fork) putRebuilt(direct, full);
    else putOrphan(direct, full, revertedAt(full.block.id));
  };
  const keepSome = (): boolean => {
    const begun = performance.now();
    let rebuild = readRebuild(environment);
    const lowest = Math.max(1, (rebuild?.fork ?? 0) - keptBelow);
    while (rebuild !== undefined && rebuild.top > lowest && performance.now() - begun < turn) {
      keepOne(rebuild);
      rebuild = { ...rebuild, top: rebuild.top - 1 };
    }
    writeRebuild(environment, rebuild);
    return rebuild !== undefined && rebuild.top > lowest;
  };
  for (let more = true; more && !isStopped(); await nextTurn()) more = transact(environment, keepSome);
};

/** A number of a list is named by its place; naming the first of a piece removes the whole piece. */
const removalKey = (database: DatabaseName, key: Buffer): Buffer => {
  if (database !== "lists") return key;
  const { owner, list, piece } = pieceParts(key);
  return listKey(list, owner, piece * pieceLength);
};

const empty = async (environment: Environment, isStopped: () => boolean): Promise<void> => {
  const names = (Object.keys(databases) as DatabaseName[]).filter((name) => name !== "meta" && name !== "orphans");
  const log = createWriteLog();
  for (const name of names) {
    const database = environment.db[name];
    for (;;) {
      if (isStopped()) return;
      environment.root.resetReadTxn();
      log.clear();
      let count = 0;
      for (const key of database.getKeys({ limit: keysPerWrite })) {
        log.add(name, removalKey(name, Buffer.from(key)), null);
        count++;
      }
      if (count === 0) break;
      await environment.commit(log.bytes());
    }
  }
  transact(environment, () => {
    const { meta } = environment.db;
    const rebuild = readRebuild(environment);
    if (rebuild !== undefined) writeRebuild(environment, { ...rebuild, emptied: true });
    // Of nothing: those that are left are wrong, or were never kept from the first block on.
    for (const key of [...meta.getKeys({})].map((key) => Buffer.from(key))) if (parseChecksumKey(key) !== undefined) meta.removeSync(key);
    meta.putSync(checksumsKey, true);
  });
};

/** Removes the old chain, after its last blocks are kept. Goes on where it was interrupted, also by the end of the process. */
export const removeOldChain = async (environment: Environment, needs: RemovalNeeds): Promise<void> => {
  if (readRebuild(environment)?.emptied !== false) return;
  await keepOldChain(environment, needs);
  await empty(environment, needs.isStopped);
};

/** For `health`. `target`: height at which the chain ends, if that is known. */
export const rebuildText = ({ fork, height }: Rebuild & { height: number }, target?: number): string => {
  const reached = target === undefined ? `height ${height}` : `height ${height} of ${target}`;
  return `the store is being rebuilt from the block source, because the host's chain left it after block ${fork}, further back than it can be reverted: ${height === 0 ? "the old chain is being removed" : reached}`;
};
