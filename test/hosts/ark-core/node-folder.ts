import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Network } from "../../../types/node-context.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));

export interface PluginEntry {
  package: string;
  options?: Record<string, unknown>;
}

const writeJson = (file: string, value: unknown): void => writeFileSync(file, JSON.stringify(value));

const npm = (cwd: string, ...args: string[]): string => execFileSync("npm", ["--silent", ...args], { cwd, encoding: "utf8" }).trim();

/** Copies a plugin to where the node's `plugin:install` puts plugins. */
const copyPlugin = (folder: string, source: string, name: string): string => {
  const target = join(folder, "data/plugins", name);
  cpSync(join(root, source), target, { recursive: true });
  const manifest = JSON.parse(readFileSync(join(target, "package.json"), "utf8")) as Record<string, unknown>;
  writeJson(join(target, "package.json"), { ...manifest, name });
  return target;
};

/**
 * The example under its own name, with Portico packed and installed as its page says, and again under another name, with the same
 * copy of Portico: two of them in one process must not interfere.
 */
export const installPlugins = (folder: string): void => {
  npm(root, "run", "build");
  const packed = join(folder, npm(root, "pack", "--pack-destination", folder));
  const plugin = copyPlugin(folder, "examples/ark-core", "portico-ark-core");
  npm(plugin, "install", "--prefer-offline", "--no-audit", packed);
  symlinkSync(join(plugin, "node_modules"), join(copyPlugin(folder, "examples/ark-core", "portico-ark-core-again"), "node_modules"));
  copyPlugin(folder, "test/hosts/ark-core/event-recorder", "event-recorder");
};

/** The plugins of a full node, as its `app.json` lists them, except those that are independent of its own interface. */
const nodePlugins: PluginEntry[] = [
  { package: "@arkecosystem/core-logger-pino" },
  { package: "@arkecosystem/core-state" },
  { package: "@arkecosystem/core-database" },
  { package: "@arkecosystem/core-transactions" },
  { package: "@arkecosystem/core-magistrate-transactions" },
  { package: "@arkecosystem/core-transaction-pool" },
  // Without the servers that it would contact to see whether it is online.
  { package: "@arkecosystem/core-p2p", options: { dns: [], ntp: [] } },
  { package: "@arkecosystem/core-blockchain" },
];
const ownInterface: PluginEntry = { package: "@arkecosystem/core-api" };
const forger: PluginEntry = { package: "@arkecosystem/core-forger" };

export interface NodeConfiguration {
  network: Network;
  p2pPort: number;
  /** Of the delegates that the node forges for. */
  secrets: string[];
  /** Whether the node has its own interface. */
  ownInterface: boolean;
  /** Besides the node's own. */
  plugins: PluginEntry[];
}

/** Writes what a node's operator configures. */
export const configureNode = (folder: string, { network, p2pPort, secrets, ownInterface: hasOwn, plugins }: NodeConfiguration): void => {
  const config = join(folder, "config");
  for (const name of ["config/crypto", "data", "cache", "log", "temp"]) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(config, ".env"), "");
  // A node requires at least one seed: this one is itself, as in the preset.
  writeJson(join(config, "peers.json"), { list: [{ ip: "127.0.0.1", port: p2pPort }] });
  writeJson(join(config, "delegates.json"), { secrets });
  const { network: parameters, milestones, exceptions, genesisBlock } = network;
  for (const [name, part] of Object.entries({ network: parameters, milestones, exceptions, genesisBlock })) {
    writeJson(join(config, "crypto", `${name}.json`), part);
  }
  const all = { plugins: [...nodePlugins, ...(hasOwn ? [ownInterface] : []), ...plugins, forger] };
  writeJson(join(config, "app.json"), { core: all, relay: all, forger: { plugins: [] } });
};
