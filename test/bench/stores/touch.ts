import { openEnvironment } from "../../../src/store/lmdb/environment.js";
import { benchNetwork } from "../chain/chain.js";
import type { ChainSize } from "../chain/sizes.js";
import { storeFolder } from "./folders.js";

/**
 * Goes over every key of a store, so that its pages are in the page cache and mapped in this process. A process that has just opened a
 * store takes a page fault, of some microseconds, at nearly every read: that dominates a measurement of a few thousand reads, but happens
 * to a server once in its life.
 */
export const touchStore = async (size: ChainSize): Promise<void> => {
  // Nothing is written here; if anybody writes the store, it is this process.
  const environment = openEnvironment(storeFolder(size), benchNetwork(size).network.nethash, { access: "write" });
  try {
    for (const database of Object.values(environment.db)) database.getKeysCount();
  } finally {
    await environment.close();
  }
};
