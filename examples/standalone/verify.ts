import { PorticoError, verifyStore } from "../../src/index.js";
import { HostError } from "./program/host-error.js";
import { readNetwork } from "./chain/network.js";
import type { HostOptions } from "./options.js";

const remedy = "Restore the folder from a backup, or move chain.mdb away and start again: the chain is reindexed from its blocks; webhooks must be created again.";

/** Reads the whole store of a data folder, prints its height and what is damaged, and gives the exit status. Nothing is served or written. */
export const verify = async ({ dataDir, network, verify: asked }: Pick<HostOptions, "dataDir" | "network" | "verify">, print: (line: string) => void): Promise<0 | 1> => {
  const nethash = asked === "network" ? { nethash: readNetwork(network).network.nethash } : {};
  try {
    const { sound, faults, height = 0, id, digest } = await verifyStore({ dataDir, ...nethash });
    print(`height  ${height}`);
    if (id !== undefined) print(`id      ${id}`);
    if (digest !== undefined) print(`digest  ${digest}`);
    for (const fault of faults) print(fault);
    print(sound ? `The store in ${dataDir} is sound.` : `The store in ${dataDir} is damaged. ${remedy}`);
    return sound ? 0 : 1;
  } catch (error) {
    if (error instanceof PorticoError && error.code === "NOT_READY") throw new HostError(`${error.message}.`, { cause: error });
    throw error;
  }
};
