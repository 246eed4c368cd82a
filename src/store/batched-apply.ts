import { setImmediate as nextTurn } from "node:timers/promises";
import type { BlockData, BlockSource, IndexingProgress } from "../../types/events.js";
import type { Clock } from "../../types/node-context.js";
import type { FullBlock } from "../chain/block.js";
import type { Pace } from "../steps.js";
import type { Store } from "./store.js";

/** Milliseconds that one write should take, the disk included: it ends before the process can stop. */
const writeBudget = 100;
/** Milliseconds between two reports of progress. */
const progressInterval = 1_000;
/** Blocks in one write at the most. */
const largestBatch = 500;

/**
 * Reads and writes blocks in batches that keep to the budget, each worked out while the one before is committed, and lets the process
 * breathe between them. When a batch cannot be worked out, its blocks are written one by one, so that the store ends with the last good
 * one. A block alone is what a host at work has just applied: nothing is behind, and it is written with patience.
 */
export const createBatchedApply = (store: Store, parse: (data: BlockData, pace: Pace) => Promise<FullBlock>, isStopped: () => boolean) => {
  let size = 10;

  const nextHeight = (): number => (store.tip()?.height ?? 0) + 1;

  const applySingly = async (batch: readonly BlockData[], target: number | undefined): Promise<void> => {
    for (const block of batch) if (block.height >= nextHeight() && !isStopped()) await store.apply([await parse(block, "patient")], target);
  };

  const applyBatch = async (batch: readonly BlockData[], target: number | undefined): Promise<void> => {
    try {
      const parsed: FullBlock[] = [];
      for (const block of batch) parsed.push(await parse(block, "hurried"));
      await store.applyAhead(parsed, target);
    } catch (error) {
      // A block that cannot be parsed is found while the batch before is still being committed.
      await store.written();
      // Where it was that batch which was not written, these do not follow what is.
      if (batch[0]?.height !== nextHeight()) throw error;
      await applySingly(batch, target);
    }
  };

  return async (blocks: readonly BlockData[], progress: Progress): Promise<void> => {
    /** Blocks that are worked out, of which it is not known yet that they are written. */
    let ahead = 0;
    const tell = (): void => {
      if (ahead > 0) progress.tell(ahead, store);
    };
    if (blocks.length === 1) {
      await applySingly(blocks, progress.target());
      progress.tell(1, store);
      return;
    }
    for (let from = 0; from < blocks.length && !isStopped(); ) {
      const batch = blocks.slice(from, from + size);
      const before = performance.now();
      await applyBatch(batch, progress.target());
      const spent = performance.now() - before;
      if (spent < writeBudget / 2) size = Math.min(largestBatch, size * 2);
      else if (spent > writeBudget) size = Math.max(1, Math.floor(size / 2));
      from += batch.length;
      tell();
      ahead = batch.length;
      await nextTurn();
    }
    await store.written();
    tell();
  };
};

export interface Progress {
  /** Height of the end of the block source, once that is known. */
  target(): number | undefined;
  tell(blocks: number, store: Store): void;
}

/** Of blocks that nobody waits for the end of. */
export const silent: Progress = { target: () => undefined, tell: () => undefined };

export const createProgress = (source: BlockSource, clock: Clock, onProgress: ((progress: IndexingProgress) => void) | undefined): Progress => {
  const start = clock.now();
  let [told, total, target] = [start, 0, undefined as number | undefined];
  void (async () => source.height?.())().then(
    (height) => (target = height),
    () => undefined,
  );
  return {
    target: () => target,
    tell: (blocks, store) => {
      total += blocks;
      const now = clock.now();
      const tip = store.tip();
      if (onProgress === undefined || tip === undefined || (now - told < progressInterval && tip.height !== target)) return;
      told = now;
      const blocksPerSecond = total / Math.max(0.001, (now - start) / 1000);
      onProgress({
        tip,
        blocksPerSecond,
        ...(target === undefined ? {} : { target, secondsLeft: Math.max(0, target - tip.height) / blocksPerSecond }),
      });
    },
  };
};
