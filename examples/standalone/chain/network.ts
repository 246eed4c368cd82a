import { statSync } from "node:fs";
import { join } from "node:path";
import type { Network } from "../../../types/node-context.js";
import { presetNames, presetNetwork } from "./crypto.js";
import { localNetwork } from "./genesis.js";
import { HostError } from "../program/host-error.js";
import { readJson } from "../files/json-file.js";
import { networkNames } from "../options.js";

const isPreset = (name: string): name is (typeof presetNames)[number] => presetNames.some((preset) => preset === name);

/** The four files in which a fork's operator keeps its network. */
const files = { network: "network.json", milestones: "milestones.json", exceptions: "exceptions.json", genesisBlock: "genesisBlock.json" };

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

const demand = (holds: boolean, path: string, what: string): void => {
  if (!holds) throw new HostError(`${path} ${what}.`);
};

const readFolder = (folder: string): Network => {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new HostError(`--network "${folder}" is neither one of ${networkNames.join(", ")} nor a folder.`, { exitCode: 2 });
  }
  const at = (file: string): string => join(folder, file);
  const network = readJson(at(files.network));
  const milestones = readJson(at(files.milestones));
  const exceptions = readJson(at(files.exceptions));
  const genesisBlock = readJson(at(files.genesisBlock));
  demand(isObject(network) && Number.isInteger(network.pubKeyHash), at(files.network), "has no pubKeyHash that is a whole number");
  demand(Array.isArray(milestones) && milestones.length > 0, at(files.milestones), "is not a list of milestones");
  demand(isObject(exceptions), at(files.exceptions), "is not an object");
  demand(isObject(genesisBlock) && Array.isArray(genesisBlock.transactions), at(files.genesisBlock), "is not a block with its transactions");
  // Everything deeper is checked by Portico when it makes the chain's rules and applies genesis.
  const { rewards, ...parameters } = network as Record<string, unknown>;
  return { network: parameters, milestones, exceptions, genesisBlock, ...(rewards === undefined ? {} : { rewards }) } as unknown as Network;
};

/** The network `local`, a preset by its name, or the network in a folder of four files. @throws HostError */
export const readNetwork = (name: string): Network => {
  if (name === "local") return localNetwork();
  if (isPreset(name)) return presetNetwork(name);
  return readFolder(name);
};
