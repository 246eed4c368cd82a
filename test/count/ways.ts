import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { Session } from "node:inspector/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EventEmitter } from "eventemitter3";
import type { WebhookOptions } from "../../types/webhook-options.js";
import { createApiPlugin } from "../../src/index.js";
import { loadChain } from "../data/read.js";
import { silentLogger } from "../silent.js";

/** What one request, block or delivery runs of `src`. */
export interface Way {
  files: number;
  functions: number;
  calls: number;
}

const src = new URL("../../src/", import.meta.url).href;

/** The functions of `src` that `work` calls, with the number of calls, by V8's precise coverage. */
const createCoverage = async () => {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  const take = async (): Promise<Map<string, number>> => {
    const { result } = await session.post("Profiler.takePreciseCoverage");
    const calls = new Map<string, number>();
    for (const { url, functions } of result.filter((script) => script.url.startsWith(src))) {
      for (const { functionName, ranges } of functions) {
        const [range] = ranges;
        // The first function of a file is the module itself.
        if (range === undefined || range.count === 0 || range.startOffset === 0) continue;
        calls.set(`${url.slice(src.length)} ${functionName} ${range.startOffset}`, range.count);
      }
    }
    return calls;
  };
  return async (work: () => Promise<void>): Promise<Map<string, number>> => {
    await take();
    await work();
    return take();
  };
};

const summarize = (calls: ReadonlyMap<string, number>, without: ReadonlyMap<string, number> = new Map()): Way => {
  const own = [...calls].filter(([name]) => !without.has(name));
  const files = new Set(own.map(([name]) => name.slice(0, name.indexOf(" "))));
  return { files: files.size, functions: own.length, calls: own.reduce((sum, [, count]) => sum + count, 0) };
};

/** A node with the first 300 blocks of a chain, which applies the next ones when asked to. */
const startNode = async (dataDir: string, webhooks: false | WebhookOptions) => {
  const { network, blocks } = loadChain("core3-custom-c");
  let height = 300;
  const events = new EventEmitter();
  const plugin = createApiPlugin({
    network,
    events,
    dataDir,
    logger: silentLogger,
    blocks: { read: (from, limit) => blocks.slice(from - 1, Math.min(height, from - 1 + limit)) },
    options: { webhooks },
  });
  const { port } = (await plugin.listen(0)).address() as AddressInfo;
  return {
    plugin,
    get: async (path: string): Promise<void> => {
      const response = await fetch(`http://127.0.0.1:${port}/api${path}`);
      if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      await response.arrayBuffer();
    },
    applyNext: async (): Promise<void> => {
      events.emit("block.applied", blocks[height++]);
      await plugin.settled();
    },
  };
};

const repeat = async (times: number, work: () => Promise<void>): Promise<void> => {
  for (let i = 0; i < times; i++) await work();
};

type Measure = Awaited<ReturnType<typeof createCoverage>>;

/** A node without webhooks: their timers would be counted where they fire meanwhile. */
const measureReading = async (folder: string, measure: Measure) => {
  const node = await startNode(join(folder, "reading"), false);
  for (const page of [1, 2, 3]) await node.get(`/wallets?limit=2&page=${page}`);
  const cold = summarize(await measure(() => node.get("/wallets?limit=2&page=4")));
  await repeat(5, () => node.get("/wallets?limit=2&page=1"));
  const hot = summarize(await measure(() => node.get("/wallets?limit=2&page=1")));
  await repeat(3, node.applyNext);
  const block = summarize(await measure(node.applyNext));
  await node.plugin.stop();
  return { "a cold GET": cold, "a hot GET": hot, "a block": block };
};

const measureDelivery = async (folder: string, measure: Measure): Promise<Way> => {
  let arrived = (): void => undefined;
  const target = createServer((request, response) => {
    request.resume().on("end", () => {
      response.end();
      arrived();
    });
  }).listen(0, "127.0.0.1");
  await once(target, "listening");
  const node = await startNode(join(folder, "delivering"), { allowTargets: ["127.0.0.1/32"] });
  await repeat(3, node.applyNext);
  const block = await measure(node.applyNext);
  node.plugin.webhooks?.create({ event: "block.applied", target: `http://127.0.0.1:${(target.address() as AddressInfo).port}/` });
  const pending = (): number => node.plugin.webhooks?.deliveries(1, "pending", { offset: 0, limit: 1 }).total ?? 0;
  // Looking whether it has ended is no part of a delivery.
  const looks = await measure(() => Promise.resolve(void pending()));
  const deliverNext = async (): Promise<void> => {
    const delivery = new Promise<void>((resolve) => (arrived = resolve));
    await node.applyNext();
    await delivery;
    while (pending() > 0) await new Promise((resolve) => setImmediate(resolve));
  };
  await repeat(3, deliverNext);
  const delivery = summarize(await measure(deliverNext), new Map([...block, ...looks]));
  await node.plugin.stop();
  target.close();
  target.closeAllConnections();
  return delivery;
};

/**
 * Measures what a cold GET, a hot GET, a block and a delivery (besides its block) run of `src`. The first of each kind is not counted:
 * what a process does once is not on the way.
 */
export const measureWays = async (): Promise<Record<string, Way>> => {
  const folder = mkdtempSync(join(tmpdir(), "portico-count-"));
  const measure = await createCoverage();
  const reading = await measureReading(folder, measure);
  const delivery = await measureDelivery(folder, measure);
  rmSync(folder, { recursive: true, force: true });
  return { ...reading, "a delivery": delivery };
};
