import { existsSync, mkdirSync, renameSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { FullBlock } from "../../../src/chain/blocks/block.js";
import { createChainRules } from "../../../src/chain/rules.js";
import { defaultOptions } from "../../../src/options/options.js";
import { layoutVersion } from "../../../src/store/layout/keys.js";
import { openEnvironment } from "../../../src/store/lmdb/environment.js";
import { createStore, type Store } from "../../../src/store/state/store.js";
import { type BenchChain, benchNetwork, chainVersion, createBenchChain } from "../chain/chain.js";
import type { ChainSize } from "../chain/sizes.js";

/** The folder of one store. A store of another layout, or of another chain, has another folder. */
export const storeFolder = ({ name }: ChainSize): string => {
  const folder = process.env.PORTICO_BENCH_DIR ?? join(homedir(), ".cache", "portico", "bench");
  return join(folder, `${name}-layout-${layoutVersion}-chain-${chainVersion}`);
};

/** A store gets this name only when it is complete. */
export const isBuilt = (size: ChainSize): boolean => existsSync(storeFolder(size));

/** The most in one write: enough that not every block waits for the disk. */
const batch = { blocks: 8_000, transactions: 12_000 };
/** Milliseconds from one line about the progress to the next. */
const interval = 5_000;

const nextBatch = (chain: BenchChain, end: number): FullBlock[] => {
  const blocks: FullBlock[] = [];
  let transactions = 0;
  while (chain.height <= end && blocks.length < batch.blocks && transactions < batch.transactions) {
    const full = chain.next();
    blocks.push(full);
    transactions += full.transactions.length;
  }
  return blocks;
};

/** What the store holds must be what the generator says, or the figures would be those of another chain. */
const requireEqual = async (store: Store, { ledger }: BenchChain, size: ChainSize): Promise<void> => {
  const snapshot = store.snapshot();
  if (snapshot === undefined) throw new Error("the store is empty");
  const page = { filter: {}, offset: 0, limit: 1 } as const;
  const wallets = await snapshot.wallets({ ...page, order: { field: "balance", direction: "desc" } });
  const transactions = await snapshot.transactions({ ...page, order: { field: "timestamp", direction: "desc" } });
  snapshot.release?.();
  const found = { height: snapshot.tip.height, wallets: wallets.total, transactions: transactions.total };
  const wanted = { height: size.blocks, wallets: ledger.wallets, transactions: ledger.transactions };
  if (JSON.stringify(found) !== JSON.stringify(wanted)) throw new Error(`the store holds ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`);
};

const fill = async (store: Store, chain: BenchChain, size: ChainSize, say: (line: string) => void): Promise<void> => {
  const reached = store.tip()?.height ?? 0;
  if (reached > 0) say(`${size.name}: goes on at block ${reached}`);
  chain.skipTo(reached + 1);
  let said = performance.now();
  while (chain.height <= size.blocks) {
    await store.applyAhead(nextBatch(chain, size.blocks), size.blocks);
    if (performance.now() - said < interval) continue;
    said = performance.now();
    say(`${size.name}: ${chain.height - 1} of ${size.blocks} blocks`);
  }
  await store.written();
  await requireEqual(store, chain, size);
  store.markComplete();
};

/** The folder of the store of a size. Builds the store if it is missing, which may take hours; after an interruption, goes on from there. */
export const buildStore = async (size: ChainSize, say: (line: string) => void): Promise<string> => {
  const folder = storeFolder(size);
  if (isBuilt(size)) return folder;
  const unfinished = `${folder}.unfinished`;
  mkdirSync(unfinished, { recursive: true });
  const chain = createBenchChain(size);
  const store = createStore({ dataDir: unfinished, undoBlocks: defaultOptions.undoBlocks, disposable: true }, { rules: chain.rules });
  try {
    await fill(store, chain, size, say);
  } finally {
    await store.stop();
  }
  renameSync(unfinished, folder);
  return folder;
};

/** Reverts the blocks that a measurement has added to a store: after it, or before the next run if it was interrupted. */
export const putBack = async (size: ChainSize): Promise<void> => {
  const rules = createChainRules(benchNetwork(size));
  const store = createStore({ dataDir: storeFolder(size), undoBlocks: defaultOptions.undoBlocks }, { rules });
  try {
    for (let tip = store.tip(); tip !== undefined && tip.height > size.blocks; tip = store.tip()) await store.revert();
  } finally {
    await store.stop();
  }
};

/**
 * Goes over every key of a store, so that its pages are in the page cache and mapped in this process. A process that has just opened a
 * store takes a page fault, of some microseconds, at nearly every read: that dominates a measurement of a few thousand reads, but happens
 * to a server once in its life.
 */
export const touchStore = async (size: ChainSize): Promise<void> => {
  // Nothing is written here; if anybody writes the store, it is this process.
  const environment = openEnvironment(storeFolder(size), benchNetwork(size).network.nethash, { access: "read" });
  try {
    for (const database of Object.values(environment.db)) database.getKeysCount();
  } finally {
    await environment.close();
  }
};
