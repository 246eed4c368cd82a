/** The process that measures how fast blocks are written: no server, and one store, reset to where it was after each turn. */
import { rmSync } from "node:fs";
import { defaultOptions } from "../../../src/options/options.js";
import type { FullBlock } from "../../../src/chain/blocks/block.js";
import { checksumsKey } from "../../../src/store/layout/checksums.js";
import { openEnvironment } from "../../../src/store/lmdb/environment.js";
import { createStore, type Store } from "../../../src/store/state/store.js";
import { type BenchChain, createBenchChain } from "../chain/chain.js";
import { type ChainSize, fullBlock, sizes, type SizeName } from "../chain/sizes.js";
import { storeFolder } from "../stores/folders.js";
import { putBack } from "../stores/put-back.js";
import { answerWith } from "./asking.js";
import { usage } from "./usage.js";
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
  const [begun, before] = [performance.now(), usage().cpu];
  for (const one of all.slice(warmUp)) await write(one);
  await written?.();
  return { whole: (performance.now() - begun) / 1_000, working: (usage().cpu - before) / 1e6 };
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

export interface ChecksumsInput {
  size: SizeName;
  /** Blocks from genesis on, several a write, before full blocks one a write. */
  blocks: number;
  together: number;
  full: number;
}

/** By write, milliseconds of processor time of a store that keeps checksums and of one that does not. */
export interface ChecksumsFigures {
  catchingUp: [kept: number, not: number][];
  full: [kept: number, not: number][];
}

/** The same blocks into two new stores, in turns: what else uses the machine slows both. */
const checksums = async ({ size, blocks, together, full }: ChecksumsInput): Promise<ChecksumsFigures> => {
  const chain = createBenchChain(sizes[size]);
  const folders = ["kept", "not"].map((name) => `${storeFolder(sizes[size])}.checksums-${name}`);
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  const stores = folders.map((dataDir) => createStore({ dataDir, undoBlocks: defaultOptions.undoBlocks }, { rules: chain.rules }));
  const [kept, not] = stores as [Store, Store];
  not.environment.db.meta.removeSync(checksumsKey);
  const spent = async (store: Store, some: FullBlock[], target?: number): Promise<number> => {
    const before = usage().cpu;
    await store.apply(some, target);
    return (usage().cpu - before) / 1_000;
  };
  const pairs = async (writes: number, next: () => FullBlock[], target?: number): Promise<[number, number][]> => {
    const all: [number, number][] = [];
    for (let write = 0; write < writes; write++) {
      const some = next();
      const first = write % 2 === 0 ? await spent(kept, some, target) : undefined;
      const other = await spent(not, some, target);
      all.push([first ?? (await spent(kept, some, target)), other]);
    }
    return all;
  };
  try {
    const take = (count: number, transactions?: number): FullBlock[] => Array.from({ length: count }, () => chain.next(transactions));
    await pairs(1, () => take(1));
    const catchingUp = await pairs(Math.ceil(blocks / together), () => take(together), Infinity);
    return { catchingUp, full: await pairs(full, () => take(1, fullBlock)) };
  } finally {
    for (const store of stores) await store.stop();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
};

const handlers = { measure, checksums };

export type IndexingHandlers = typeof handlers;

answerWith(handlers);
