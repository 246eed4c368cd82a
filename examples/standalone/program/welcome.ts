import { createCast } from "../chain/cast.js";
import { createCrypto } from "../chain/crypto.js";
import { localSeed } from "../chain/genesis.js";
import type { Served } from "../host.js";
import type { HostOptions } from "../options.js";

const forgingLine = ({ isForging }: Served, { network, forge, forgeInterval, secrets, follow }: HostOptions): string => {
  if (follow !== undefined) return `off: a replica of ${follow}`;
  if (!forge) return "off: the tip stays where it is";
  if (!isForging) return `off: --secrets names the delegates of ${network} to forge for`;
  if (forgeInterval !== undefined) return `a block every ${forgeInterval} ms; the chain's clock runs ahead`;
  return secrets === undefined ? "a block every block time" : "a block whenever it is the turn of a delegate of --secrets";
};

/** Of a network that other nodes forge. */
const syncNote = ({ network, follow }: HostOptions): string | undefined =>
  network === "local" || follow !== undefined ? undefined : "This host does not sync from peers. --import gives it the chain, which ends where the imported one does.";

/** The same for programs. */
export const factsOf = (host: Served, options: HostOptions): Record<string, unknown> => {
  const note = syncNote(options);
  return {
    url: host.url,
    network: host.network.network.name,
    height: host.height,
    dataDir: options.dataDir,
    forging: host.isForging,
    ...(options.follow === undefined ? {} : { follows: options.follow }),
    workers: options.workers,
    ...(note === undefined ? {} : { note }),
  };
};

/** The text shown when the node has started. */
export const welcome = (host: Served, options: HostOptions): string => {
  const { name, client } = host.network.network;
  const note = syncNote(options);
  const lines = [
    `Portico serves the network ${name} at ${host.url}`,
    "",
    `  height    ${host.height}`,
    `  data      ${options.dataDir}`,
    `  forging   ${forgingLine(host, options)}`,
    ...(options.workers === 1 ? [] : [`  workers   ${options.workers}, each a process of its own`]),
    ...(note === undefined ? [] : ["", note]),
    "",
    "Try:",
    `  ${new URL("/", host.url).href}`,
    `  ${host.url}/node/status`,
    `  ${host.url}/delegates?limit=5`,
    `  ${host.url}/wallets/top?limit=5`,
    `  ${host.url}/openapi.json`,
  ];
  if (options.network === "local" && options.follow === undefined) {
    const { treasury } = createCast(localSeed, createCrypto(host.network));
    lines.push("", `A wallet to play with: ${treasury.address}, passphrase "${treasury.passphrase}", which holds most of the ${client.token}.`);
  }
  return [...lines, "", "Ctrl-C stops the node.", ""].join("\n");
};
