import type { ChainAdapter } from "../../types/chain-adapter.js";
import { type ChainName, loadChain } from "../data/read.js";
import { createMemoryAdapter } from "../memory-adapter/adapter.js";

const adapters = new Map<ChainName, ChainAdapter>();

/** The chain as the tests' own adapter computes it naively; read once. */
export const adapterOf = (name: ChainName): ChainAdapter => {
  const known = adapters.get(name);
  if (known !== undefined) return known;
  const { network, blocks } = loadChain(name);
  const adapter = createMemoryAdapter(network);
  for (const block of blocks) adapter.apply(block);
  adapters.set(name, adapter);
  return adapter;
};
