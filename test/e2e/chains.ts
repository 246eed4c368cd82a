import { EventEmitter } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApiPlugin } from "../../src/index.js";
import type { ChainAdapter } from "../../types/chain-adapter.js";
import type { ApiPlugin } from "../../types/node-context.js";
import { type ChainName, loadChain } from "../data/read.js";

export const chainNames: ChainName[] = ["core3-testnet-a", "core3-custom-c"];

const indexed = new Map<ChainName, { plugin: ApiPlugin; dataDir: string }>();

const index = async (name: ChainName): Promise<void> => {
  const { network, blocks } = loadChain(name);
  const dataDir = mkdtempSync(join(tmpdir(), "portico-e2e-"));
  const read = (fromHeight: number, limit: number) => blocks.slice(fromHeight - 1, fromHeight - 1 + limit);
  const source = { read, height: () => blocks.length };
  const plugin = createApiPlugin({ network, events: new EventEmitter(), dataDir, blocks: source, options: { webhooks: false } });
  indexed.set(name, { plugin, dataDir });
  await plugin.start();
};

/** The chain in a real LMDB store, read once for all tests, which may start and stop it freely. */
export const storedChain = (name: ChainName): ChainAdapter => {
  const { plugin } = indexed.get(name) ?? {};
  if (plugin === undefined) throw new Error(`the chain ${name} is not read yet`);
  return { supports: plugin.chain.supports ?? {}, snapshot: () => plugin.chain.snapshot() };
};

before(async function () {
  this.timeout(120_000);
  for (const name of chainNames) await index(name);
});

after(async () => {
  for (const { plugin, dataDir } of indexed.values()) {
    await plugin.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
  indexed.clear();
});
