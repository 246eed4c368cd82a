import { openEnvironment } from "../../../src/store/environment.js";
import { benchNetwork } from "../chain/chain.js";
import type { ChainSize } from "../chain/sizes.js";
import { storeFolder } from "./folders.js";

/**
 * Goes over every key of a store, so that its pages are in the page cache and mapped in this process. A process that has just opened
 * a store takes a page fault, of some microseconds, at nearly every read: over and over in a measure of a few thousand reads, once
 * in the life of a server.
 */
export const touchStore = async (size: ChainSize): Promise<void> => {
  // It is the writer's own process, or there is none; and nothing is written here.
  const environment = openEnvironment(storeFolder(size), benchNetwork(size).network.nethash, { access: "webhooks" });
  try {
    for (const database of Object.values(environment.db)) database.getKeysCount();
  } finally {
    await environment.close();
  }
};
