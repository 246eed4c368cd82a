import type { NodeContext, ReaderContext } from "../types/node-context.js";
import { PorticoError } from "./errors.js";

/** What a host without types may hand in. */
export type Unchecked = Partial<Record<keyof NodeContext | keyof ReaderContext, unknown>>;

const refuse = (message: string): never => {
  throw new PorticoError("OPTION_INVALID", message);
};

/** A reader is told of nothing, and has the store of another process. */
const readerLacks = ["chain", "blocks", "events", "onProgress"] as const;

/** What each part of the host is asked by. A part that is not given is not asked. */
const methods = {
  events: ["on", "off"],
  chain: ["snapshot"],
  blocks: ["read"],
  peers: ["list"],
  sync: ["networkHeight"],
  pool: ["list"],
  logger: ["debug", "info", "warn", "error"],
  clock: ["now"],
} as const satisfies Partial<Record<keyof NodeContext, readonly string[]>>;

const needed = {
  network: "the network's parameters, milestones, exceptions and genesis block",
  events: "the host's emitter, with `on` and `off`",
};

/** Named here by hand, since types are gone at run time: a name that is missing does not compile. */
const known: Record<keyof NodeContext | keyof ReaderContext, true> = {
  reader: true,
  network: true,
  events: true,
  chain: true,
  dataDir: true,
  blocks: true,
  peers: true,
  sync: true,
  pool: true,
  node: true,
  transactionTypes: true,
  onProgress: true,
  problem: true,
  logger: true,
  clock: true,
  options: true,
};

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

/** An emitter, an adapter or a logger may be a function with members as well. */
const memberOf = (value: unknown, name: string): unknown =>
  isObject(value) || typeof value === "function" ? (value as Record<string, unknown>)[name] : undefined;

const requireNetwork = (network: unknown): void => {
  if (!isObject(network)) return refuse(`createApiPlugin needs \`network\`: ${needed.network}`);
  for (const part of ["network", "exceptions", "genesisBlock"]) {
    if (!isObject(network[part])) refuse(`\`network.${part}\` must be an object, as in the network's ${part}.json`);
  }
  if (!Array.isArray(network["milestones"])) refuse("`network.milestones` must be a list, as in the network's milestones.json");
};

const requireMethods = (context: Unchecked): void => {
  for (const [name, wanted] of Object.entries(methods) as [keyof typeof methods, readonly string[]][]) {
    const part = context[name];
    if (part === undefined) continue;
    const missing = wanted.find((method) => typeof memberOf(part, method) !== "function");
    if (missing !== undefined) refuse(`\`${name}\` must have the method \`${missing}\``);
  }
};

const requireTypes = ({ dataDir, transactionTypes, onProgress, options }: Unchecked): void => {
  if (dataDir !== undefined && (typeof dataDir !== "string" || dataDir === "")) refuse("`dataDir` must be the path of a folder");
  if (transactionTypes !== undefined && !Array.isArray(transactionTypes)) refuse("`transactionTypes` must be a list");
  if (onProgress !== undefined && typeof onProgress !== "function") refuse("`onProgress` must be a function");
  if (options !== undefined && !isObject(options)) refuse("`options` must be an object");
};

/**
 * Holds what a host hands in against what it says it is: hosts in JavaScript have no types to tell them.
 * @throws PorticoError OPTION_INVALID, naming the member
 */
export const requireContext = (context: Unchecked): void => {
  const unknown = Object.keys(context).find((name) => !Object.hasOwn(known, name));
  if (unknown !== undefined) refuse(`createApiPlugin takes no \`${unknown}\`; there are ${Object.keys(known).join(", ")}`);
  requireNetwork(context.network);
  if (context.reader === true) {
    const needless = readerLacks.find((name) => context[name] !== undefined);
    if (needless !== undefined) refuse(`a reader takes no \`${needless}\`: its chain is what another process writes into \`dataDir\``);
  } else if (methods.events.some((method) => typeof memberOf(context.events, method) !== "function")) {
    refuse(`createApiPlugin needs \`events\`: ${needed.events}`);
  }
  requireMethods(context);
  requireTypes(context);
};
