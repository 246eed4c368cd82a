import type { BlockData } from "../../types/events.js";
import type { Network } from "../../types/node-context.js";
import { createMemoryAdapter, type MemoryAdapter } from "./adapter.js";

const applied = new Map<string, MemoryAdapter>();

/** A chain in memory, as the tests' own adapter computes it naively. Applied once by each process, for tests that only read it. */
export const appliedOnce = ({ network, blocks }: { network: Network; blocks: readonly BlockData[] }): MemoryAdapter => {
  const chain = `${network.network.nethash} ${blocks.at(-1)?.id ?? ""}`;
  const known = applied.get(chain);
  if (known !== undefined) return known;
  const adapter = createMemoryAdapter(network);
  for (const block of blocks) adapter.apply(block);
  applied.set(chain, adapter);
  return adapter;
};
