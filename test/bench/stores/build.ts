import { mkdirSync, renameSync } from "node:fs";
import type { FullBlock } from "../../../src/chain/blocks/block.js";
import { createStore, type Store } from "../../../src/store/state/store.js";
import { type BenchChain, createBenchChain } from "../chain/chain.js";
import type { ChainSize } from "../chain/sizes.js";
import { defaultOptions } from "../../../src/options/options.js";
import { isBuilt, storeFolder } from "./folders.js";
import { createProgress, type Progress } from "./progress.js";

/** The most in one write: enough that not every block waits for the disk. */
const batch = { blocks: 8_000, transactions: 12_000 };

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

const fill = async (store: Store, chain: BenchChain, size: ChainSize, progress: Progress): Promise<void> => {
  const reached = store.tip()?.height ?? 0;
  chain.skipTo(reached + 1, (height) => progress.skipped(height, reached));
  progress.begin(reached, chain.ledger.transactions);
  while (chain.height <= size.blocks) {
    await store.applyAhead(nextBatch(chain, size.blocks), size.blocks);
    progress.tell(chain.height - 1, chain.ledger.transactions);
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
    await fill(store, chain, size, createProgress(size, say));
  } finally {
    await store.stop();
  }
  renameSync(unfinished, folder);
  return folder;
};
