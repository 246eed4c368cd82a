import { setImmediate as nextTurn } from "node:timers/promises";
import type { BlockData, BlockSource, IndexingProgress } from "../../../types/events.js";
import type { FullBlock } from "../../chain/blocks/block.js";
import type { FullClock } from "../../async/clock.js";
import type { Pace } from "../../async/time-slicing.js";
import type { Store } from "../state/store.js";

/** Milliseconds that one write should take, disk included: the process cannot stop before it ends. */
const writeBudget = 100;
/** Milliseconds between two reports of progress. */
const progressInterval = 1_000;
/** Most blocks in one write. */
const largestBatch = 500;

/**
 * Parses and writes blocks in batches that keep to the budget, each prepared while the previous one is being committed, and yields to
 * the event loop between them. If a batch cannot be prepared, its blocks are written one by one, so that the store ends with the last
 * good one. `written` is called when blocks are committed. A single block is one that a running host has just applied: there is no backlog,
 * so it is written at the patient pace.
 */
export const createBatchedApply = (store: Store, parse: (data: BlockData, pace: Pace) => Promise<FullBlock>, isStopped: () => boolean, written: () => void) => {
  let size = 10;

  const nextHeight = (): number => (store.tip()?.height ?? 0) + 1;

  const applySingly = async (batch: readonly BlockData[], { target, appliedAt }: Now): Promise<void> => {
    for (const block of batch) if (block.height >= nextHeight() && !isStopped()) await store.apply([await parse(block, "background")], target, appliedAt);
  };

  const applyBatch = async (batch: readonly BlockData[], now: Now): Promise<void> => {
    try {
      const parsed: FullBlock[] = [];
      for (const block of batch) parsed.push(await parse(block, "cooperative"));
      await store.applyAhead(parsed, now.target, now.appliedAt);
    } catch (error) {
      // A block that cannot be parsed is found while the previous batch is still being committed.
      await store.written();
      // If it was the previous batch that failed, these blocks do not follow the tip.
      if (batch[0]?.height !== nextHeight()) throw error;
      await applySingly(batch, now);
    }
  };

  return async (blocks: readonly BlockData[], progress: Progress): Promise<void> => {
    /** Blocks that are prepared, but not yet known to be written. */
    let ahead = 0;
    const tell = (): void => {
      if (ahead === 0) return;
      written();
      progress.tell(ahead, store);
    };
    if (blocks.length === 1) {
      await applySingly(blocks, { target: progress.target(), appliedAt: progress.appliedAt() });
      written();
      progress.tell(1, store);
      return;
    }
    for (let from = 0; from < blocks.length && !isStopped(); ) {
      const batch = blocks.slice(from, from + size);
      const before = performance.now();
      await applyBatch(batch, { target: progress.target(), appliedAt: progress.appliedAt() });
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

interface Now {
  target: number | undefined;
  appliedAt: number | undefined;
}

export interface Progress {
  /** What time it is, if the blocks are such as the host applies now; undefined while catching up. */
  appliedAt(): number | undefined;
  /** Height at which the block source ends, once that is known. */
  target(): number | undefined;
  tell(blocks: number, store: Store): void;
}

/** For blocks that the host applies now, whose progress nobody follows. */
export const silentProgress = (clock: FullClock): Progress => ({ appliedAt: clock.now, target: () => undefined, tell: () => undefined });

export const createProgress = (source: BlockSource, clock: FullClock, report: (progress: IndexingProgress) => void): Progress => {
  const start = clock.monotonic();
  let [told, total, target] = [start, 0, undefined as number | undefined];
  void (async () => source.height?.())().then(
    (height) => (target = height),
    () => undefined,
  );
  return {
    appliedAt: () => undefined,
    target: () => target,
    tell: (blocks, store) => {
      total += blocks;
      const now = clock.monotonic();
      const tip = store.tip();
      if (tip === undefined || (now - told < progressInterval && tip.height !== target)) return;
      told = now;
      const blocksPerSecond = total / Math.max(0.001, (now - start) / 1000);
      report({
        tip,
        blocksPerSecond,
        ...(target === undefined ? {} : { target, secondsLeft: Math.max(0, target - tip.height) / blocksPerSecond }),
      });
    },
  };
};
