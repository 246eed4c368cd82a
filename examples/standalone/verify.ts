import { PorticoError, verifyStore } from "../../src/index.js";
import { HostError } from "./program/host-error.js";
import { readNetwork } from "./chain/network.js";
import type { HostOptions } from "./options.js";

const remedy = "Restore the folder from a backup, or move chain.mdb away and start again: the chain is reindexed from its blocks; webhooks are kept.";

/** Says that a store is of another network than the one named: that is a fault of the option, at which nobody must move a store away. */
const foreign = (nethash: string | undefined, network: string): string | undefined => {
  const { name, nethash: named } = readNetwork(network).network;
  if (nethash === undefined || nethash === named) return undefined;
  return `It belongs to the network ${nethash}, not to ${name} (${named}), which --network names. Name the store's own network, or none, or choose another --data-dir.`;
};

/** Reads the whole store of a data folder, prints its height and what is damaged, and gives the exit status. Nothing is served or written. */
export const verify = async ({ dataDir, network, verify: asked }: Pick<HostOptions, "dataDir" | "network" | "verify">, print: (line: string) => void): Promise<0 | 1> => {
  try {
    const { sound, faults, height = 0, id, digest, nethash } = await verifyStore({ dataDir });
    print(`height  ${height}`);
    if (id !== undefined) print(`id      ${id}`);
    if (digest !== undefined) print(`digest  ${digest}`);
    for (const fault of faults) print(fault);
    print(sound ? `The store in ${dataDir} is sound.` : `The store in ${dataDir} is damaged. ${remedy}`);
    const refusal = asked === "network" ? foreign(nethash, network) : undefined;
    if (refusal !== undefined) print(refusal);
    return sound && refusal === undefined ? 0 : 1;
  } catch (error) {
    if (error instanceof PorticoError && (error.code === "NOT_READY" || error.code === "STORE_FOREIGN")) throw new HostError(`${error.message}.`, { cause: error });
    throw error;
  }
};
