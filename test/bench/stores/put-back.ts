import { createChainRules } from "../../../src/chain/rules.js";
import { defaultOptions } from "../../../src/options/options.js";
import { createStore } from "../../../src/store/state/store.js";
import { benchNetwork } from "../chain/chain.js";
import type { ChainSize } from "../chain/sizes.js";
import { storeFolder } from "./folders.js";

/** Reverts the blocks that a measurement has added to a store: after it, or before the next run if it was interrupted. */
export const putBack = async (size: ChainSize): Promise<void> => {
  const rules = createChainRules(benchNetwork(size));
  const store = createStore({ dataDir: storeFolder(size), undoBlocks: defaultOptions.undoBlocks }, { rules });
  try {
    for (let tip = store.tip(); tip !== undefined && tip.height > size.blocks; tip = store.tip()) await store.revert();
  } finally {
    await store.stop();
  }
};
