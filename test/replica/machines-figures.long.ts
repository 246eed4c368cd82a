/** Figures of more machines, each program a process: a replica from the lake against an import, the time of a block to a replica, reads by two replicas, an hour of following. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { linesIn } from "../../src/async/lines.js";
import type { BlockData } from "../../types/events.js";
import { putLoad } from "../bench/load/load.js";
import { median, quantile } from "../bench/load/statistics.js";
import { hasNats, NatsServer } from "../nats/nats-server.js";
import { count } from "../fixtures/long.js";
import { atEndOfTest } from "../at-end.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { chainBlocks, network } from "./machines.js";
import { HostProcess, networkFolder } from "./processes.js";

const tell = (what: string, figure: string): void => console.log(`      ${what}: ${figure}`);

/** As `until`, without a limit. */
const reached = async (found: () => boolean | Promise<boolean>, interval = 20): Promise<void> => {
  while (!(await found())) await delay(interval);
};

/** Milliseconds of processor time of a process, or of its main thread alone. */
const processorTime = (pid: number, thread?: "main"): number => {
  const stat = readFileSync(thread === undefined ? `/proc/${pid}/stat` : `/proc/${pid}/task/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // In hundredths of a second.
  return (Number(fields[11]) + Number(fields[12])) * 10;
};

/** Megabytes of a process that are not backed by files. */
const ownMemory = (pid: number): number => Number(/^RssAnon:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

const pidOf = ({ pid }: { pid?: number | undefined }): number => pid ?? 0;

/** Answers any request after about as much work as a search is, as one made of Node.js alone would. Tells its port. */
const bareServer = `
  const { createHash } = require("node:crypto");
  const text = "x".repeat(160000);
  const answer = () => JSON.stringify({ digest: createHash("sha256").update(text).digest("hex") });
  const reply = (response, text) => response.writeHead(200, { "content-type": "application/json", "content-length": text.length }).end(text);
  const take = (request, response) => request.resume().on("end", () => reply(response, answer()));
  const server = require("node:http").createServer(take).listen(0, "127.0.0.1", () => process.send(server.address().port));
`;

const startBare = async (): Promise<{ pid: number | undefined; port: number }> => {
  const child = spawn(process.execPath, ["-e", bareServer], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  atEndOfTest(() => void child.kill("SIGKILL"));
  const [port] = (await once(child, "message")) as [number];
  return { pid: child.pid, port };
};

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

/** The example host's options for a chain of a file. */
const importing = (blocks: readonly BlockData[]): string[] => {
  const path = join(temporaryFolder(), "chain.ndjson");
  writeFileSync(path, blocks.map((block) => `${JSON.stringify(block)}\n`).join(""));
  return ["--network", networkFolder(network), "--import", path, "--no-forge"];
};

const follow = (node: HostProcess): string[] => ["--follow", `http://127.0.0.1:${node.port}`];

/** When a process told of its blocks, by their height. */
const watchBlocks = ({ url }: HostProcess): ReadonlyMap<number, number> => {
  const told = new Map<number, number>();
  const ending = new AbortController();
  atEndOfTest(() => ending.abort());
  const read = async (): Promise<void> => {
    const { body } = await fetch(`${url}/changes?follow=true&after=tip`, { signal: ending.signal });
    if (body === null) throw new Error("there is no stream");
    for await (const line of linesIn(body)) if (line !== "") told.set((JSON.parse(line) as { block: { height: number } }).block.height, performance.now());
  };
  read().catch((error: unknown) => {
    if (!ending.signal.aborted) throw error;
  });
  return told;
};

describe("More machines", function () {
  this.timeout(0);

  it("a replica from blocks of the lake, and the import of the same chain from a file", async () => {
    const height = count(20_001, 20_001);
    const chain = importing(longChain(height));
    const node = await new HostProcess("node", [...chain, "--lake", temporaryFolder(), "--lake-blocks", "1000", "--lake-snapshots", "0"]).start();
    const files = async (): Promise<number> => ((await (await fetch(`${node.url}/lake/manifest.json`)).json()) as { blocks?: unknown[] }).blocks?.length ?? 0;
    await reached(async () => (await files()) === Math.floor((height - 102) / 1_000));
    const figures = { file: { time: [] as number[], processor: [] as number[] }, lake: { time: [] as number[], processor: [] as number[] } };
    for (let round = 0; round < 3; round++) {
      for (const [name, options] of [["file", chain], ["lake", follow(node)]] as const) {
        const begun = performance.now();
        const one = await new HostProcess(name, options).start();
        await reached(async () => (await one.height()) === height);
        figures[name].time.push(performance.now() - begun);
        figures[name].processor.push(processorTime(pidOf(one)));
        await one.end("SIGKILL");
      }
    }
    const ratio = (kind: "time" | "processor"): string => {
      const [file, lake] = [median(figures.file[kind]), median(figures.lake[kind])];
      return `from the file ${file.toFixed(0)} ms, from the lake ${lake.toFixed(0)} ms: ${(file / lake).toFixed(2)} of its speed`;
    };
    tell(`${height} blocks, start included`, ratio("time"));
    tell("by processor time", ratio("processor"));
  });

  for (const way of ["HTTP", "NATS"] as const) {
    it(`from a block's application at the node to its being readable at a replica, a block a second, over ${way}`, async function () {
      if (way === "NATS" && !hasNats()) return this.skip();
      const nats = way === "NATS" ? ["--nats", (await new NatsServer().start()).url] : [];
      const node = await new HostProcess("node", ["--forge-interval", "1000", ...nats]).start();
      const replica = await new HostProcess("replica", [...follow(node), ...nats]).start();
      const [atNode, atReplica] = [watchBlocks(node), watchBlocks(replica)];
      await reached(() => atReplica.size >= count(200, 200));
      const times = Float64Array.from([...atReplica].slice(10).flatMap(([height, at]) => (atNode.has(height) ? [at - (atNode.get(height) ?? 0)] : []))).sort();
      tell(`over ${way}, ${times.length} blocks`, `median ${quantile(times, 0.5).toFixed(0)} ms, p99 ${quantile(times, 0.99).toFixed(0)} ms`);
    });
  }

  it("searches by two replicas of one node, and by one, beside two bare servers and one", async () => {
    const node = await new HostProcess("node", ["--no-forge"]).start();
    const replicas = await Promise.all([1, 2].map((n) => new HostProcess(`replica ${n}`, follow(node)).start()));
    const bare = await Promise.all([1, 2].map(startBare));
    const requests = [{ path: "/api/transactions/search?limit=10", body: JSON.stringify({ type: 0, amount: { from: 1 } }) }];
    // A rate that leaves the cores time: as fast as it goes, load and replicas would want more cores than there may be.
    const costOf = async (asked: readonly { pid?: number | undefined; port: number }[]): Promise<number> => {
      const used = (): number => asked.reduce((sum, one) => sum + processorTime(pidOf(one)), 0);
      const before = used();
      const loads = await Promise.all(asked.map(({ port }) => putLoad({ port, connections: 4, requests, rate: 200, duration: 3_000 })));
      return (used() - before) / loads.reduce((sum, load) => sum + load.requests, 0);
    };
    // What two processes at once take from each other, the machine takes from any.
    const sides = { replicas, bare };
    const found = { replicas: { one: [] as number[], two: [] as number[] }, bare: { one: [] as number[], two: [] as number[] } };
    for (const side of Object.values(sides)) await costOf(side);
    for (let round = 0; round < 5; round++) {
      for (const name of ["replicas", "bare"] as const) {
        found[name].one.push(await costOf(sides[name].slice(0, 1)));
        found[name].two.push(await costOf(sides[name]));
      }
    }
    for (const [name, { one, two }] of Object.entries(found)) {
      tell(`processor time of a request, ${name}`, `${(median(one) * 1000).toFixed(0)} µs with one, ${(median(two) * 1000).toFixed(0)} µs with two at once: with a core each, two do ${((2 * median(one)) / median(two)).toFixed(2)} times as many`);
    }
  });

  it("following at 20 blocks a second, for as many blocks as an hour of a block a second has", async () => {
    const blocks = count(3_600, 3_600);
    const node = await new HostProcess("node", ["--forge-interval", "50"]).start();
    const replica = await new HostProcess("replica", follow(node)).start();
    const [atNode, atReplica] = [watchBlocks(node), watchBlocks(replica)];
    const samples: { memory: number; lag: number }[] = [];
    let seen = 0;
    for (const third = Math.floor(blocks / 30); atReplica.size < blocks; ) {
      await reached(() => atReplica.size >= Math.min(blocks, seen + third));
      const recent = [...atReplica].slice(seen).flatMap(([height, at]) => (atNode.has(height) ? [at - (atNode.get(height) ?? 0)] : []));
      seen = atReplica.size;
      samples.push({ memory: ownMemory(pidOf(replica)), lag: median(recent) });
    }
    const part = (from: number, to: number, of: "memory" | "lag"): string => median(samples.slice(from, to).map((sample) => sample[of])).toFixed(1);
    for (const [of, unit] of [["memory", "MB"], ["lag", "ms"]] as const) {
      tell(`${of} in the first, second and last third of ${blocks} blocks`, `${part(0, 10, of)}, ${part(10, 20, of)}, ${part(20, 30, of)} ${unit}`);
    }
  });
});
