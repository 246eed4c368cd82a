import type { BlockData, BlockSource } from "../../../types/events.js";
import type { FullClock } from "../../async/clock.js";
import { shown } from "../../chain/blocks/block.js";
import { PorticoError } from "../../errors.js";
import type { BlockName } from "../state/store-contract.js";

/** Reads from the block source, one at a time. */
export interface SourceReads {
  /** @throws PorticoError BLOCK_INVALID, or what the source rejects with */
  read(fromHeight: number, limit: number): Promise<BlockData[]>;
  /** The block at a height; undefined where the source has none. */
  at(height: number): Promise<BlockData | undefined>;
  isStopped(): boolean;
  /** A source that does not answer must not keep anybody waiting: the read under way, and each one after, resolves with nothing. */
  stop(): void;
}

/**
 * The answer of a source, which may be anything. Blocks are checked one by one when they are parsed, but by then one without a height would
 * have been taken for one that the store has. @throws PorticoError BLOCK_INVALID
 */
const requireBlocks = (answer: unknown): BlockData[] => {
  if (!Array.isArray(answer)) throw new PorticoError("BLOCK_INVALID", "`blocks.read` must return a list of blocks, or a promise of one");
  const wrong = answer.findIndex((block: BlockData | undefined) => typeof block?.height !== "number");
  if (wrong === -1) return answer as BlockData[];
  // Those before it are good: they are written, and the next read meets it. One alone, which the store may have, would look like the
  // source's end.
  if (wrong > 1) return answer.slice(0, wrong) as BlockData[];
  const height: unknown = (answer[wrong] as Partial<BlockData> | null | undefined)?.height;
  const fault = height === undefined ? "without a height" : `whose height is ${shown(height)}, which is not a number`;
  throw new PorticoError("BLOCK_INVALID", `\`blocks.read\` returned a block ${fault}: blocks must have the same members as in events, and their transactions`);
};

export const createSourceReads = (source: BlockSource | undefined): SourceReads => {
  let stopped = false;
  let giveUp: (() => void) | undefined;

  const read = (fromHeight: number, limit: number): Promise<BlockData[]> =>
    new Promise((resolve, reject) => {
      giveUp = () => resolve([]);
      Promise.resolve(source === undefined || stopped ? [] : source.read(fromHeight, limit)).then(requireBlocks).then(resolve, reject);
    });

  return {
    read,
    at: async (height) => (await read(height, 1)).find((block) => block.height === height),
    isStopped: () => stopped,
    stop: () => {
      stopped = true;
      giveUp?.();
    },
  };
};

/** A block source, watched for reads that it does not answer. */
interface WatchedSource {
  readonly source: BlockSource | undefined;
  /** That the last read has had no answer for too long; undefined if nothing is wrong. */
  problem(): string | undefined;
}

/** Milliseconds that a source may take to answer before that is a problem: a busy database is none yet. */
const patience = 30_000;

/** A source that fails is tried again by its caller; one that never answers would be waited for in silence. */
export const watchSource = (source: BlockSource | undefined, clock: FullClock): WatchedSource => {
  let pending: { askedAt: number } | undefined;

  const watched = (of: BlockSource): BlockSource => ({
    read: async (fromHeight, limit) => {
      const own = { askedAt: clock.monotonic() };
      pending = own;
      try {
        return await of.read(fromHeight, limit);
      } finally {
        if (pending === own) pending = undefined;
      }
    },
    ...(of.height === undefined ? {} : { height: of.height.bind(of) }),
  });

  return {
    source: source === undefined ? undefined : watched(source),
    problem: () => {
      const waited = pending === undefined ? 0 : clock.monotonic() - pending.askedAt;
      return waited < patience ? undefined : `the block source has not answered for ${Math.floor(waited / 1000)} s`;
    },
  };
};

/**
 * A node as a source. It is a chain of its own: it may come back with less of it, as from a backup, and the store keeps what it has until
 * the node has others.
 */
export interface SourceNode {
  /** Awaited before blocks are left, from the tip down, because the node has others: it knows when it left them. */
  fetchReversalTimes(tip: BlockName): Promise<void>;
  /**
   * Does it, unless the node cannot be reached, or no longer: undefined then. Blocks may come by another way, and do not wait for a node
   * that is away.
   */
  unlessAway<T>(work: () => Promise<T>): Promise<T | undefined>;
  /** Told whenever the tip has been compared: where the node's chain ends below it, on the same chain; undefined where it does not. */
  endsBelow(height: number | undefined): void;
}
