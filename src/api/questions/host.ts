import type { ApiState } from "../state.js";

/**
 * Whether this node is in step with its network. A host without `sync` knows only its own height, and so counts as synced.
 * `behind` is the network's height minus this node's, negative if this node is ahead.
 */
export const hostStatus = async ({ chain, host: { sync } }: ApiState): Promise<{ synced: boolean; behind: number }> => {
  const own = chain.tip.height;
  if (sync === undefined) return { synced: true, behind: 0 };
  const behind = (await sync.networkHeight()) - own;
  return { synced: (await sync.synced?.()) ?? behind <= 0, behind };
};
