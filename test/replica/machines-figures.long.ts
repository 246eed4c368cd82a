/** Figures of more machines: a replica from the lake against an import, block applied → readable over HTTP and NATS, deliveries with two workers. */
import { type ChildProcess, spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { openChainFile } from "../../examples/standalone/files/chain-file.js";
import { createApiPlugin } from "../../src/index.js";
import { natsDispatch, natsTip, startTipPublisher } from "../../src/nats/index.js";
import type { BlockData } from "../../types/events.js";
import { hasNats, NatsServer } from "../nats/nats-server.js";
import { count } from "../fixtures/long.js";
import { programOf } from "../fixtures/programs.js";
import { silentLogger } from "../silent.js";
import { atEnd, chainBlocks, closeAll, level, network, startReplica, temporaryFolder, TestNode, TestReplica, until } from "./machines.js";

const tell = (what: string, figure: string): void => console.log(`      ${what}: ${figure}`);

/** Blocks of the chain again and again, without transactions, from its end to a height. */
const longChain = (height: number): BlockData[] => {
  const blocks = [...chainBlocks];
  while (blocks.length < height) {
    const [last, like] = [blocks.at(-1) as BlockData, chainBlocks[60 + (blocks.length % 150)] as BlockData];
    const empty = { numberOfTransactions: 0, totalAmount: "0", totalFee: "0", transactions: [] };
    blocks.push({ ...like, ...empty, height: last.height + 1, id: `77${String(last.height + 1).padStart(17, "0")}`, previousBlock: last.id, timestamp: last.timestamp + 8 });
  }
  return blocks;
};

const quantile = (values: readonly number[], share: number): number => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? NaN;

describe("More machines", function () {
  this.timeout(0);
  afterEach(closeAll);

  it("a replica from blocks of the lake, and the import of the same chain from a file", async () => {
    const height = count(5_001, 5_001);
    const dir = temporaryFolder();
    const node = new TestNode(1, { dir, blocksPerFile: 1_000, snapshotEvery: 0 });
    node.chain = longChain(height);
    await node.start();
    await node.plugin.settled();
    await until("the lake", async () => ((await (await fetch(`${node.url}/lake/manifest.json`)).json()) as { blocks?: unknown[] }).blocks?.length === Math.floor((height - 10) / 1_000));
    const path = join(temporaryFolder(), "chain.ndjson");
    writeFileSync(path, node.chain.map((block) => `${JSON.stringify(block)}\n`).join(""));
    const times = { file: [] as number[], lake: [] as number[] };
    for (let round = 0; round < 3; round++) {
      const file = await openChainFile(path);
      const begun = performance.now();
      const plugin = createApiPlugin({ network, events: new EventEmitter(), dataDir: temporaryFolder(), blocks: file, logger: silentLogger, options: { webhooks: false } });
      await plugin.start();
      times.file.push(performance.now() - begun);
      await plugin.stop();
      await file.close();
      const again = performance.now();
      const replica = await startReplica(node);
      times.lake.push(performance.now() - again);
      await level(node, replica);
      await replica.plugin.stop();
    }
    const [file, lake] = [Math.min(...times.file), Math.min(...times.lake)];
    tell(`${height} blocks`, `from the file ${file.toFixed(0)} ms, from the lake ${lake.toFixed(0)} ms: ${(file / lake).toFixed(2)} of its speed`);
  });

  for (const way of ["HTTP", "NATS"] as const) {
    it(`from a block's application at the node to its being readable at a replica, over ${way}`, async function () {
      if (way === "NATS" && !hasNats()) return this.skip();
      const node = await new TestNode(60).start();
      const replica = new TestReplica(node.url);
      if (way === "NATS") {
        const server = await new NatsServer().start();
        const publisher = startTipPublisher({ servers: server.url }, { url: node.url, nethash: network.network.nethash, logger: silentLogger });
        atEnd(() => publisher.stop());
        replica.tip = natsTip({ servers: server.url });
      }
      await replica.start();
      await level(node, replica);
      for (let i = 0; i < 5; i++) await node.grow(1).then(() => level(node, replica));
      const times: number[] = [];
      for (let i = 0; i < 180; i++) {
        const height = node.chain.length + 1;
        const block = chainBlocks[height - 1] as BlockData;
        node.chain.push(block);
        node.events.emit("block.applied", block);
        const isAt = (plugin: typeof node.plugin): boolean => plugin.health().height >= height;
        while (!isAt(node.plugin)) await delay(1);
        const begun = performance.now();
        while (!isAt(replica.plugin)) await delay(1);
        times.push(performance.now() - begun);
      }
      tell(`over ${way}, both in one process`, `median ${quantile(times, 0.5).toFixed(0)} ms, p99 ${quantile(times, 0.99).toFixed(0)} ms`);
    });
  }

  it("deliveries by the node alone, and by two workers", async function () {
    if (!hasNats()) return this.skip();
    let received = 0;
    const target = createServer((request, response) => {
      request.resume().on("end", () => {
        received++;
        response.writeHead(204).end();
      });
    }).listen(0, "127.0.0.1");
    await once(target, "listening");
    atEnd(() => target.close().closeAllConnections());
    const server = await new NatsServer().start();
    const dispatch = natsDispatch({ servers: server.url }, { logger: silentLogger });
    atEnd(() => dispatch.close());
    const node = await new TestNode(200, undefined, dispatch).start();
    const hooks = 40;
    for (let i = 0; i < hooks; i++) node.plugin.webhooks?.create({ event: "block.applied", target: `http://127.0.0.1:${(target.address() as AddressInfo).port}/${i}`, order: "none" });
    const deliver = async (): Promise<number> => {
      const [before, blocks] = [received, 25];
      const begun = performance.now();
      await node.grow(blocks);
      await until("all deliveries", () => received >= before + hooks * blocks);
      return (hooks * blocks) / ((performance.now() - begun) / 1000);
    };
    const alone = await deliver();
    const workers: ChildProcess[] = [0, 1].map(() =>
      spawn(process.execPath, [programOf("examples/delivery-worker/main.ts"), "--nats", server.url, "--allow-target", "127.0.0.0/8"], { stdio: "ignore" }),
    );
    atEnd(() => workers.forEach((worker) => worker.kill("SIGKILL")));
    await until("two workers", () => dispatch.workers() === 2);
    const shared = await deliver();
    tell("deliveries a second", `${alone.toFixed(0)} by the node, ${shared.toFixed(0)} by two workers: ${(shared / alone).toFixed(2)}; sent by workers: ${dispatch.counts().answered}`);
  });
});
