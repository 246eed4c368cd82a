import type { BlockData, BlockSource } from "../../../types/events.js";
import { shown } from "../../chain/blocks/block.js";
import { PorticoError } from "../../errors.js";

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
  // Those before it are good: they are written, and the next read meets it. One alone, which the store may have, would look like the source's end.
  if (wrong > 1) return answer.slice(0, wrong) as BlockData[];
  const height: unknown = (answer[wrong] as Partial<BlockData> | null | undefined)?.height;
  const fault = height === undefined ? "without a height" : `whose height is ${shown(height)}, which is not a number`;
  throw new PorticoError("BLOCK_INVALID", `\`blocks.read\` returned a block ${fault}: its blocks must have the members of those in events, and their transactions`);
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
