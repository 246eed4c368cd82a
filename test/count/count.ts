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

/**
 * Counts the files and functions of `src` on the way of a cold GET, a hot GET, a block and a delivery, by V8's precise coverage. The first
 * of each kind is not counted: what is done once in a process is not on the way.
 */

interface Counted {
  files: number;
  functions: number;
  calls: number;
}

const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

const src = new URL("../../src/", import.meta.url).href;

/** What has been called since the last time this was called. */
const taken = async (): Promise<Map<string, number>> => {
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

const counted = (calls: ReadonlyMap<string, number>, without: ReadonlyMap<string, number> = new Map()): Counted => {
  const own = [...calls].filter(([name]) => !without.has(name));
  const files = new Set(own.map(([name]) => name.slice(0, name.indexOf(" "))));
  return { files: files.size, functions: own.length, calls: own.reduce((sum, [, count]) => sum + count, 0) };
};

const { network, blocks } = loadChain("core3-custom-c");
const folder = mkdtempSync(join(tmpdir(), "portico-count-"));

/** A node with the first 300 blocks, which is told of the next ones. */
const startNode = async (name: string, webhooks: false | WebhookOptions) => {
  let known = 300;
  const events = new EventEmitter();
  const plugin = createApiPlugin({
    network,
    events,
    dataDir: join(folder, name),
    logger: silentLogger,
    blocks: { read: (from, limit) => blocks.slice(from - 1, Math.min(known, from - 1 + limit)) },
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
      events.emit("block.applied", blocks[known++]);
      await plugin.settled();
    },
  };
};

const measure = async (work: () => Promise<void>): Promise<Map<string, number>> => {
  await taken();
  await work();
  return taken();
};

const rows: [string, Counted][] = [];

// Without webhooks, whose timers would be counted where they fire meanwhile.
const reading = await startNode("reading", false);
for (const page of [1, 2, 3]) await reading.get(`/wallets?limit=2&page=${page}`);
rows.push(["a cold GET", counted(await measure(() => reading.get("/wallets?limit=2&page=4")))]);
for (let i = 0; i < 5; i++) await reading.get("/wallets?limit=2&page=1");
rows.push(["a hot GET", counted(await measure(() => reading.get("/wallets?limit=2&page=1")))]);
for (let i = 0; i < 3; i++) await reading.applyNext();
rows.push(["a block", counted(await measure(reading.applyNext))]);
await reading.plugin.stop();

let arrived = (): void => undefined;
const target = createServer((request, response) => {
  request.resume().on("end", () => {
    response.end();
    arrived();
  });
}).listen(0, "127.0.0.1");
await once(target, "listening");
const delivering = await startNode("delivering", { allowTargets: ["127.0.0.1/32"] });
for (let i = 0; i < 3; i++) await delivering.applyNext();
const block = await measure(delivering.applyNext);
delivering.plugin.webhooks?.create({ event: "block.applied", target: `http://127.0.0.1:${(target.address() as AddressInfo).port}/` });
const deliverNext = async (): Promise<void> => {
  const delivery = new Promise<void>((resolve) => (arrived = resolve));
  await delivering.applyNext();
  await delivery;
  // Until its outcome is recorded.
  while ((delivering.plugin.webhooks?.deliveries(1, "pending", { offset: 0, limit: 1 }).total ?? 0) > 0) await new Promise((resolve) => setImmediate(resolve));
};
for (let i = 0; i < 3; i++) await deliverNext();
rows.push(["a delivery, besides its block", counted(await measure(deliverNext), block)]);
await delivering.plugin.stop();

for (const [name, { files, functions, calls }] of rows) console.log(`${name}: ${files} files, ${functions} functions, ${calls} calls`);
target.close();
target.closeAllConnections();
rmSync(folder, { recursive: true, force: true });
