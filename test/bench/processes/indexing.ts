/** The process that measures how fast blocks are written: no server, and one store, reset to where it was after each turn. */
import { defaultOptions } from "../../../src/options/options.js";
import type { FullBlock } from "../../../src/chain/blocks/block.js";
import { openEnvironment } from "../../../src/store/lmdb/environment.js";
import { createStore, type Store } from "../../../src/store/state/store.js";
import { type BenchChain, createBenchChain } from "../chain/chain.js";
import { type ChainSize, sizes, type SizeName } from "../chain/sizes.js";
import { putBack, storeFolder } from "../stores/build.js";
import { answerWith } from "./asking.js";
import { cpuTime } from "./usage.js";
import { type RecordedWrite, recordWrite, replayWrite } from "./recording.js";

export interface IndexingInput {
  size: SizeName;
  /** Transactions of each block. */
  transactions: number;
  /** Blocks in one write. */
  together: number;
  /** Writes that are measured. */
  writes: number;
  rounds: number;
}

/** Seconds for all writes that are measured. */
export interface Spent {
  whole: number;
  /** Of these, seconds of processor time: at work, not waiting for the disk. */
  working: number;
}

export interface IndexingFigures {
  /** By round. */
  store: Spent[];
  limit: Spent[];
  blocks: number;
  /** Puts and removals. */
  operations: number;
  bytes: number;
}

/** Writes before those that are measured. */
const warmUp = 3;

const open = ({ rules }: BenchChain, size: ChainSize): Store =>
  createStore({ dataDir: storeFolder(size), undoBlocks: defaultOptions.undoBlocks }, { rules });

const within = async <T>(store: Store, work: (store: Store) => Promise<T>): Promise<T> => {
  try {
    return await work(store);
  } finally {
    await store.stop();
  }
};

const timed = async <T>(all: readonly T[], write: (one: T) => Promise<void> | void, written?: () => Promise<void>): Promise<Spent> => {
  for (const one of all.slice(0, warmUp)) await write(one);
  await written?.();
  const [begun, before] = [performance.now(), cpuTime()];
  for (const one of all.slice(warmUp)) await write(one);
  await written?.();
  return { whole: (performance.now() - begun) / 1_000, working: (cpuTime() - before) / 1e6 };
};

const measure = async ({ size: name, transactions, together, writes, rounds }: IndexingInput): Promise<IndexingFigures> => {
  if ((warmUp + writes) * together > defaultOptions.undoBlocks) throw new Error("these are more blocks than can be taken out again");
  const size = sizes[name];
  const chain = createBenchChain(size);
  chain.skipTo(size.blocks + 1);
  const batches: FullBlock[][] = Array.from({ length: warmUp + writes }, () => Array.from({ length: together }, () => chain.next(transactions)));
  await putBack(size);
  const recorded: RecordedWrite[] = [];
  await within(open(chain, size), async (store) => {
    for (const blocks of batches) recorded.push(await recordWrite(store.environment, () => store.apply(blocks)));
  });
  await putBack(size);
  const figures: IndexingFigures = {
    store: [],
    limit: [],
    blocks: writes * together,
    operations: recorded.slice(warmUp).reduce((sum, { length }) => sum + length, 0),
    bytes: recorded.slice(warmUp).flat().reduce((sum, { key, value }) => sum + key.length + (value?.length ?? 0), 0),
  };
  for (let round = 0; round < rounds; round++) {
    figures.store.push(await within(open(chain, size), (store) => timed(batches, (blocks) => store.applyAhead(blocks), store.written)));
    await putBack(size);
    const environment = openEnvironment(storeFolder(size), chain.network.network.nethash);
    figures.limit.push(await timed(recorded, (operations) => replayWrite(environment, operations)));
    await environment.close();
    await putBack(size);
  }
  return figures;
};

const handlers = { measure };

export type IndexingHandlers = typeof handlers;

answerWith(handlers);
