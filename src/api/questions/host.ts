import type { ApiState } from "../state.js";

/**
 * How this node stands to its network. A host that does not say knows no height but its own, and so is in step.
 * `behind` is the network's height less this node's: negative when this node is ahead.
 */
export const hostStatus = async ({ chain, host: { sync } }: ApiState): Promise<{ synced: boolean; behind: number }> => {
  const own = chain.tip.height;
  if (sync === undefined) return { synced: true, behind: 0 };
  const behind = (await sync.networkHeight()) - own;
  return { synced: (await sync.synced?.()) ?? behind <= 0, behind };
};
