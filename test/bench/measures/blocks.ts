import type { BlockData } from "../../../types/events.js";
import { blockDataOf, createBenchChain } from "../chain/chain.js";
import { type ChainSize, fullBlock } from "../chain/sizes.js";

/** Full blocks beyond a chain's end, so many at a time. */
export const blocksBeyond = (size: ChainSize): ((count: number) => BlockData[]) => {
  const chain = createBenchChain(size);
  chain.skipTo(size.blocks + 1);
  return (count) => Array.from({ length: count }, () => blockDataOf(chain.next(fullBlock)));
};
