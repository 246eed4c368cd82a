import { setImmediate as nextTurn } from "node:timers/promises";
import type { Tip } from "../../../types/chain.js";
import type { BlockData, BlockSource, IndexingProgress } from "../../../types/events.js";
import type { FullClock } from "../../async/clock.js";
import type { Logger } from "../../../types/node-context.js";
import { firstWhere } from "../../text/first-where.js";
import type { Store } from "../state/store.js";
import type { Disowned, GoingBack } from "./going-back.js";
import type { FullBlock } from "../../chain/blocks/block.js";
import type { Pace } from "../../async/time-slicing.js";
import type { SourceNode, SourceReads } from "./source.js";

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
    for (const block of batch)
      if (block.height >= nextHeight() && !isStopped()) await store.apply([await parse(block, "background")], target, appliedAt);
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

/** What is known of the source, by comparison with the store. */
export interface SourceExtent {
  /** Highest block of the store's that the source has had: at first the tip, which came from the host. */
  highest: number;
  /** Where the source ends, if it no longer has that. */
  shrunkTo: number | undefined;
  /** The height from which on the host has just applied blocks, which may have to be read from the source. */
  liveFrom: number;
}

/** What works together to bring the store to where the source is. */
export interface SyncParts {
  store: Store;
  source: SourceReads;
  goingBack: GoingBack;
  disowned: Disowned;
  extent: SourceExtent;
  applyAll(blocks: readonly BlockData[], progress: Progress): Promise<void>;
}

interface ReadOnNeeds extends SyncParts {
  blocks: BlockSource | undefined;
  node: SourceNode | undefined;
  logger: Logger;
  clock: FullClock;
  /** Begins to count the progress of a reading. */
  startProgress(blocks: BlockSource): Progress;
  /** Called when the store has been compared with the source. */
  noteCompared(): void;
}

/** Blocks asked of the source at a time. */
const readSize = 500;

/**
 * The store has all that the source has: it is complete. A source may have become shorter since a rebuild began: it is the host's chain all
 * the same. Whoever follows from one of the blocks that are gone with it is told that the block is not known.
 */
const finish = ({ store, source, logger }: ReadOnNeeds): void => {
  if (source.isStopped() || store.isComplete()) return;
  const rebuild = store.rebuilding();
  store.markComplete();
  if (rebuild === undefined) return;
  if (rebuild.height < rebuild.fork) logger.warn(`the block source ends at height ${rebuild.height}, but had ${rebuild.fork} of the store's blocks when the rebuild began; was the host's database rolled back?`);
  logger.info(`the store is rebuilt, up to block ${rebuild.height}`);
};

/** Leaves the blocks that the source does not have, if it has others instead. Returns whether it did: if not, the source is behind. */
const leave = async (tip: Tip, isOther: boolean, { source, node, goingBack, extent }: ReadOnNeeds): Promise<boolean> => {
  const fork = await goingBack.findFork();
  if (source.isStopped()) return false;
  if (fork.goesOn) {
    await goingBack.toFork(fork.height);
    extent.highest = Math.min(extent.highest, fork.height);
    node?.endsBelow(undefined);
    return true;
  }
  if (node !== undefined) node.endsBelow(fork.height);
  else extent.shrunkTo = fork.height < extent.highest ? fork.height : undefined;
  // The source begins above the fork. It shows another block at our tip, so the tip at least is wrong: revert that one.
  if (isOther) await goingBack.toHeight(tip.height - 1);
  return isOther;
};

const applyBeyond = async (beyond: readonly BlockData[], progress: Progress, { extent, applyAll, clock }: ReadOnNeeds): Promise<void> => {
  const firstLive = firstWhere(0, beyond.length, (place) => (beyond[place]?.height ?? 0) >= extent.liveFrom);
  if (firstLive > 0) await applyAll(beyond.slice(0, firstLive), progress);
  if (firstLive < beyond.length) await applyAll(beyond.slice(firstLive), { ...progress, appliedAt: clock.now });
};

/** Reads on from the source: what lies beyond the tip, or instead of it. */
export const createReadOn = (needs: ReadOnNeeds) => {
  const { store, source, blocks, node, disowned, extent, noteCompared } = needs;
  /** The source's block beyond the tip when it was last looked at. */
  let beyondTip: string | undefined;

  const catchUp = async (): Promise<void> => {
    await disowned.leaveKept();
    if (blocks === undefined) return finish(needs);
    const progress = needs.startProgress(blocks);
    while (!source.isStopped()) {
      const tip = store.tip();
      const found = await source.read(tip?.height ?? 1, readSize);
      if (source.isStopped()) return;
      const known = found[0];
      const isOther = tip !== undefined && known?.height === tip.height && known.id !== tip.id;
      if (tip !== undefined && (known === undefined || isOther)) {
        const left = await leave(tip, isOther, needs);
        noteCompared();
        if (left) continue;
        return finish(needs);
      }
      noteCompared();
      extent.shrunkTo = undefined;
      node?.endsBelow(undefined);
      const beyond = tip === undefined ? found : found.filter(({ height }) => height > tip.height);
      if (beyond.length === 0) {
        if (tip !== undefined && tip.height >= extent.liveFrom) extent.liveFrom = Infinity;
        extent.highest = Math.max(extent.highest, tip?.height ?? 0);
        return finish(needs);
      }
      await applyBeyond(beyond, progress, needs);
    }
  };

  const look = async (): Promise<boolean> => {
    const tip = store.tip();
    if (blocks === undefined || tip === undefined) return false;
    const ask = (): Promise<readonly BlockData[]> => source.read(tip.height, 2);
    const found = await (node === undefined ? ask() : node.unlessAway(ask));
    if (found === undefined || source.isStopped()) return false;
    const [known, next] = found;
    // A block that the host's database has just got is left to the host to emit, until the next look.
    const isNew = next !== undefined && next.id !== beyondTip;
    beyondTip = next?.id;
    if (known?.id !== tip.id || (next !== undefined && !isNew)) {
      await catchUp();
    } else {
      extent.highest = Math.max(extent.highest, tip.height);
      node?.endsBelow(undefined);
    }
    return !isNew;
  };

  return { catchUp, look };
};
