/** What single requests leave in memory until the next full collection, counted in bytes; in a process of its own. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { constants, PerformanceObserver } from "node:perf_hooks";
import { setImmediate as nextTurn } from "node:timers/promises";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Worker } from "node:worker_threads";
import { expect } from "chai";
import { EventEmitter } from "eventemitter3";
import { createApiPlugin } from "../../src/index.js";
import type { ApiPlugin } from "../../types/plugin.js";
import { loadChain } from "../data/read.js";
import { count } from "../fixtures/long.js";
import { runFolder } from "../fixtures/run.js";

const { network, blocks } = loadChain("core3-testnet-a");
const requests = count(3_000, 3_000);

setFlagsFromString("--expose-gc");
// V8 allocates as old what it has seen live long: in this process that writes a chain first, the iterations of lmdb-js, too. It is not what is counted here.
setFlagsFromString("--no-allocation-site-pretenuring");
const collect = runInNewContext("gc") as (options?: { type: "minor" | "major" }) => void;

const delegates = (network.genesisBlock.transactions ?? []).filter(({ type }) => type === 2).map(({ asset }) => (asset as { delegate: { username: string } }).delegate.username);
const wallets = [...new Set((network.genesisBlock.transactions ?? []).map(({ recipientId }) => recipientId).filter((address) => address !== undefined))];
/** Each height once, so that no reply is kept. */
const heights = Array.from({ length: blocks.length - 1 }, (_, index) => index + 1);

const kinds = {
  "a wallet at the tip": wallets.map((address) => `/api/v2/wallets/${address}`),
  "a wallet at a height": heights.map((height) => `/api/v2/wallets/${String(wallets[height % wallets.length])}?at=${height}`),
  "a delegate at the tip": delegates.map((name) => `/api/v2/delegates/${name}`),
  "a delegate at a height": heights.map((height) => `/api/v2/delegates/${delegates[height % delegates.length]}?at=${height}`),
  "a block": heights.map((height) => `/api/v2/blocks/${height}`),
  "a page of transactions": heights.slice(0, 400).map((page) => `/api/v2/transactions?page=${1 + (page % 20)}&limit=5`),
};

describe("Garbage", function () {
  this.timeout(0);
  let plugin: ApiPlugin;
  let port: number;

  before(async () => {
    const read = (fromHeight: number, limit: number) => blocks.slice(fromHeight - 1, fromHeight - 1 + limit);
    const options = { webhooks: false, cacheSize: 0 } as const;
    plugin = createApiPlugin({ network, events: new EventEmitter(), dataDir: runFolder(), blocks: { read, height: () => blocks.length }, options });
    await plugin.start();
    ({ port } = (await plugin.listen(0, "127.0.0.1")).address() as AddressInfo);
  });
  after(() => plugin.stop());

  const ask = async (paths: readonly string[]): Promise<void> => {
    const worker = new Worker(new URL("garbage-client.mjs", import.meta.url), { workerData: { port, paths, count: requests } });
    await once(worker, "message");
    await worker.terminate();
  };

  /** Bytes left by a request; undefined if all of the heap was collected meanwhile. */
  const left = async (paths: readonly string[]): Promise<number | undefined> => {
    collect({ type: "major" });
    const before = getHeapStatistics().used_heap_size;
    let whole = 0;
    const observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if ((entry as { detail?: { kind?: number } }).detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR) whole++;
    });
    observer.observe({ entryTypes: ["gc"] });
    await ask(paths);
    // Twice: what is young at the first is old at the second.
    collect({ type: "minor" });
    collect({ type: "minor" });
    const after = getHeapStatistics().used_heap_size;
    await nextTurn();
    observer.disconnect();
    return whole > 0 ? undefined : (after - before) / requests;
  };

  for (const [kind, paths] of Object.entries(kinds)) {
    it(`leaves at most 500 bytes of ${kind}`, async () => {
      for (let warm = 0; warm < 5; warm++) await ask(paths);
      const found: number[] = [];
      while (found.length < 5) {
        const bytes = await left(paths);
        if (bytes !== undefined) found.push(bytes);
      }
      process.stdout.write(`      ${found.map(Math.round).join(", ")} bytes\n`);
      expect(found.sort((a, b) => a - b)[2]).to.be.below(500);
    });
  }
});
