import { setImmediate as nextTurn } from "node:timers/promises";
import type { Database, Transaction as ReadTransaction } from "lmdb";
import type { ChainRules } from "../../chain/rules.js";
import { databases } from "../layout/keys.js";
import { type Environment, openEnvironment } from "../lmdb/environment.js";
import { createReadSession, openTransaction } from "../lmdb/read-session.js";
import { transact } from "../lmdb/safe/transact.js";
import { readState } from "../records/records.js";
import { readDigest, lowestRevertible } from "../write/undo.js";
import { createWriteBatch } from "../write/write-batch.js";
import { createWriter } from "../write/writer.js";

export interface CopyPlan {
  /** Folder of the store, which another process may be writing. */
  dataDir: string;
  /** Folder of the copy. */
  folder: string;
  height: number;
  undoBlocks: number;
}

export interface CopiedState {
  height: number;
  id: string;
  /** 64 hex digits. */
  digest: string;
}

type RawDatabase = Database<Buffer, Buffer>;

const raw = { keyEncoding: "binary", encoding: "binary" } as const;
/**
 * Bytes of entries written in one transaction: whoever flushes beside it, as the node does its blocks, waits for the flush of these, too.
 */
const together = 4 * 2 ** 20;

const openRaw = ({ root }: Environment, name: string): RawDatabase => root.openDB<Buffer, Buffer>({ name, ...raw });

const canBeTakenBack = (from: Environment, transaction: ReadTransaction, height: number): boolean => {
  const reading = createReadSession(from, transaction);
  return lowestRevertible(reading, readState(reading)?.tip.height ?? -1, height) === height;
};

/** Copies the next entries. Returns whether there may be more. */
const copyNext = (entries: Iterator<{ key: Buffer; value: Buffer }>, target: RawDatabase): boolean => {
  for (let bytes = 0; bytes < together; ) {
    const step = entries.next();
    if (step.done === true) return false;
    const { key, value } = step.value;
    target.putSync(key, value);
    bytes += key.length + value.length;
  }
  return true;
};

const copyDatabase = async (source: RawDatabase, target: RawDatabase, to: Environment, transaction: ReadTransaction): Promise<void> => {
  const entries = source.getRange({ transaction })[Symbol.iterator]();
  try {
    for (let more = true; more; await nextTurn()) more = transact(to, () => copyNext(entries, target));
  } finally {
    entries.return?.();
  }
};

/**
 * Copies what is the chain's, entry by entry, in one read transaction: neither webhooks nor what else shares the file, nor what is left of
 * them on pages that are not used any more. LMDB's own compact copy does not bear being written: its list of free pages is damaged. Returns
 * false, and copies nothing, if the state cannot be taken back to the height.
 */
const copyChain = async ({ dataDir, height }: CopyPlan, to: Environment, nethash: string): Promise<boolean> => {
  const from = openEnvironment(dataDir, nethash, { access: "read" });
  // Before the transaction: lmdb-js ends one where a database is opened.
  const pairs = Object.keys(databases).map((name) => ({ source: openRaw(from, name), target: openRaw(to, name) }));
  const transaction = openTransaction(from);
  try {
    if (!canBeTakenBack(from, transaction, height)) return false;
    for (const { source, target } of pairs) await copyDatabase(source, target, to, transaction);
    return true;
  } finally {
    transaction.done();
    await from.close();
  }
};

/** Reverts the blocks above a height. */
const takeBack = async (environment: Environment, { height, undoBlocks }: CopyPlan, rules: ChainRules): Promise<CopiedState | undefined> => {
  const batch = createWriteBatch(environment);
  const writer = createWriter(batch, rules, { undoBlocks, history: true });
  while ((readState(batch)?.tip.height ?? 0) > height) {
    writer.revert();
    await nextTurn();
  }
  await batch.commit();
  environment.root.resetReadTxn();
  const reading = createReadSession(environment);
  const tip = readState(reading)?.tip;
  const digest = tip && readDigest(reading, tip);
  return tip && digest && { height: tip.height, id: tip.id, digest: digest.toString("hex") };
};

/**
 * Copies what is the chain's of a store into a new one, and takes that back to a height. The store is read as it is when this begins, and
 * written on meanwhile. Undefined if it cannot be taken back that far.
 */
export const copyChainAt = async (plan: CopyPlan, rules: ChainRules): Promise<CopiedState | undefined> => {
  const { nethash } = rules.network.network;
  const copy = openEnvironment(plan.folder, nethash);
  try {
    return (await copyChain(plan, copy, nethash)) ? await takeBack(copy, plan, rules) : undefined;
  } finally {
    await copy.close();
  }
};
