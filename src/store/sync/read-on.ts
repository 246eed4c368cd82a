import type { Tip } from "../../../types/chain.js";
import type { BlockData, BlockSource } from "../../../types/events.js";
import type { FullClock } from "../../async/clock.js";
import type { Logger } from "../../../types/node-context.js";
import { firstWhere } from "../records/sorting.js";
import type { Store } from "../state/store.js";
import type { Progress } from "./batch-apply.js";
import type { Disowned, GoingBack } from "./going-back.js";
import type { SourceNode, SourceReads } from "./source.js";

/** What is known of the source, by comparison with the store. */
export interface SourceExtent {
  /** Highest block of the store's that the source has had: at first the tip, which came from the host. */
  highest: number;
  /** Where the source ends, if it no longer has that. */
  shrunkTo: number | undefined;
  /** The height from which on the host has just applied blocks, which may have to be read from the source. */
  liveFrom: number;
}

interface ReadOnNeeds {
  store: Store;
  source: SourceReads;
  blocks: BlockSource | undefined;
  node: SourceNode | undefined;
  logger: Logger;
  clock: FullClock;
  goingBack: Pick<GoingBack, "findFork" | "toFork" | "toHeight">;
  disowned: Disowned;
  extent: SourceExtent;
  applyAll(blocks: readonly BlockData[], progress: Progress): Promise<void>;
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
  if (rebuild.height < rebuild.fork) logger.warn(`the block source ends at height ${rebuild.height}, but had ${rebuild.fork} blocks of the store's when that began to be rebuilt from it: was the host's database rolled back?`);
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
  // A source that lacks blocks below: of this one it is known that the chain does not have it.
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
