import type { Range } from "../../../types/chain-queries.js";
import type { ChainSnapshot } from "../../../types/chain-adapter.js";
import { PorticoError } from "../../errors.js";

/** The first height from 1 on whose block is not before a time; that above the tip if there is none. Blocks never go back in time. */
export const firstHeightAt = async (timestamp: number, chain: ChainSnapshot): Promise<number> => {
  let [low, high] = [1, chain.tip.height + 1];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const block = await chain.block({ height: middle });
    if (block === undefined) throw new PorticoError("NOT_READY");
    if (block.timestamp >= timestamp) high = middle;
    else low = middle + 1;
  }
  return low;
};

/** The heights of the blocks in a range of epoch times, both included. */
export const heightsWithin = async ({ from, to }: Range<number>, chain: ChainSnapshot): Promise<Range<number>> => ({
  ...(from === undefined ? {} : { from: await firstHeightAt(from, chain) }),
  ...(to === undefined ? {} : { to: (await firstHeightAt(Math.floor(to) + 1, chain)) - 1 }),
});
