import type { MovingNode } from "../e2e/moving-node.js";
import { activeDelegates } from "../follow/schedule.js";
import type { ForkingChain } from "../live/forking-host.js";

/** Moves a node along a random chain: never back by more than two rounds from the highest block there was, as those below are final. */
export const createMoves = (chain: ForkingChain, node: Pick<MovingNode, "apply" | "revert">) => {
  let highest = 1;
  return async (steps: number): Promise<void> => {
    for (let step = 0; step < steps; step++) {
      const next = chain.next();
      if ("reverted" in next && next.reverted.height <= highest - 2 * activeDelegates) continue;
      chain.take(next);
      highest = Math.max(highest, chain.blocks.length);
      if ("applied" in next) await node.apply(next.applied);
      else await node.revert();
    }
  };
};
