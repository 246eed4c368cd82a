import { EventEmitter } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApiPlugin } from "../../src/index.js";
import type { ChainAdapter } from "../../types/chain-adapter.js";
import type { ApiPlugin } from "../../types/node-context.js";
import { atEnd } from "../at-end.js";
import { type ChainName, loadChain } from "../data/read.js";

export const chainNames: ChainName[] = ["core3-testnet-a", "core3-custom-c"];

const indexed = new Map<ChainName, Promise<ApiPlugin>>();

const index = async (name: ChainName): Promise<ApiPlugin> => {
  const { network, blocks } = loadChain(name);
  const dataDir = mkdtempSync(join(tmpdir(), "portico-e2e-"));
  const read = (fromHeight: number, limit: number) => blocks.slice(fromHeight - 1, fromHeight - 1 + limit);
  const source = { read, height: () => blocks.length };
  const plugin = createApiPlugin({ network, events: new EventEmitter(), dataDir, blocks: source, options: { webhooks: false } });
  atEnd(async () => {
    indexed.delete(name);
    await plugin.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  await plugin.start();
  return plugin;
};

/** The chain in a real LMDB store, read once for all tests, which may start and stop it freely. */
export const storedChain = async (name: ChainName): Promise<ChainAdapter> => {
  const reading = indexed.get(name) ?? index(name);
  indexed.set(name, reading);
  const { chain } = await reading;
  return { supports: chain.supports ?? {}, snapshot: () => chain.snapshot() };
};
