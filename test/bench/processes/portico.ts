/** The process that serves: Portico on the store of a size, or as a replica. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import Koa from "koa";
import { createApiPlugin, followNode } from "../../../src/index.js";
import type { BlockData } from "../../../types/events.js";
import type { PorticoOptions } from "../../../types/options.js";
import type { ApiPlugin } from "../../../types/plugin.js";
import { benchNetwork } from "../chain/chain.js";
import { sizes, type SizeName } from "../chain/sizes.js";
import { storeFolder, touchStore } from "../stores/build.js";
import { answerWith } from "./asking.js";
import { type BenchNode, logger, startNode } from "./node.js";
import { cpuTime, heapUsed } from "./usage.js";

export interface ServeInput {
  size: SizeName;
  options?: PorticoOptions;
}

/** A block that was emitted. */
export interface Forged {
  /** Milliseconds since 1970, with fractions, when it was emitted. */
  at: number;
  /** Milliseconds until it was applied. */
  spent: number;
}

let node: BenchNode | undefined;
let replica: ApiPlugin | undefined;

const served = (): BenchNode => {
  if (node === undefined) throw new Error("nothing is served yet");
  return node;
};

const waiting: BlockData[] = [];
const applied: BlockData[] = [];

const applyNext = async (): Promise<Forged> => {
  const { events, plugin } = served();
  const block = waiting.shift();
  if (block === undefined) throw new Error("no block is left to apply");
  // Only the header is kept, to revert the block later: that takes next to no memory.
  applied.push({ ...block, transactions: undefined });
  const begun = performance.now();
  events.emit("block.applied", block);
  await plugin.settled();
  return { at: performance.timeOrigin + begun, spent: performance.now() - begun };
};

const handlers = {
  /** Returns the port, and the milliseconds from `createApiPlugin` until it listens. */
  serve: async ({ size, options }: ServeInput): Promise<{ port: number; opening: number }> => {
    const network = benchNetwork(sizes[size]);
    const begun = performance.now();
    node = await startNode({ network, dataDir: storeFolder(sizes[size]), options: { webhooks: false, ...options } });
    return { port: node.port, opening: performance.now() - begun };
  },
  /** Serves the same in a host's Koa app, too. Returns its port. */
  mount: async (): Promise<number> => {
    const app = new Koa();
    served().plugin.mount(app);
    const server = app.listen(0, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  },
  /** Serves a replica of a node. Returns its port. */
  follow: async ({ url, dataDir }: { url: string; dataDir: string }): Promise<number> => {
    replica = createApiPlugin(await followNode({ url, dataDir, logger, options: { staleAfter: false } }));
    return ((await replica.listen(0, "127.0.0.1")).address() as AddressInfo).port;
  },
  cpuTime,
  heapUsed,
  /** Brings the store's pages into memory, and into this process's map of it, as they are in a server that has run for days. */
  touch: (size: SizeName) => touchStore(sizes[size]),
  /** How many transactions each of these addresses has. */
  owned: async (addresses: string[]): Promise<number[]> => {
    const snapshot = await served().plugin.chain.snapshot();
    const totals: number[] = [];
    for (const ownerId of addresses) {
      const page = await snapshot?.transactions({ filter: { ownerId }, order: { field: "timestamp", direction: "desc" }, offset: 0, limit: 1 });
      totals.push(page?.total ?? 0);
    }
    snapshot?.release?.();
    return totals;
  },
  hold: (blocks: BlockData[]): void => void waiting.push(...blocks),
  /** Applies so many of the blocks that were handed over, `interval` milliseconds apart. */
  forge: async ({ blocks, interval }: { blocks: number; interval: number }): Promise<Forged[]> => {
    const all: Forged[] = [];
    for (let count = 0; count < blocks; count++) {
      const forged = await applyNext();
      all.push(forged);
      await delay(Math.max(0, interval - forged.spent));
    }
    return all;
  },
  /** Reverts all that were applied. */
  takeOut: async (): Promise<void> => {
    waiting.length = 0;
    for (let block = applied.pop(); block !== undefined; block = applied.pop()) {
      served().events.emit("block.reverted", block);
      await served().plugin.settled();
    }
  },
  stop: () => (replica ?? node?.plugin)?.stop(),
};

export type PorticoHandlers = typeof handlers;

answerWith(handlers);
