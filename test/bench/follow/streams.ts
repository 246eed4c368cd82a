import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median } from "../load/statistics.js";
import type { Row } from "../table/row.js";
import type { StreamsTold } from "../processes/streams.js";

const clients = 2;
const blocks = 100;
/** Before those that count, to have the code compiled: of Portico's and of the bare server's. */
const warmUp = 10;

/** What a process tells next. @throws Error if it ends instead */
const next = async (child: ChildProcess): Promise<StreamsTold> => {
  const ending = new AbortController();
  const ended = once(child, "exit", { signal: ending.signal }).then(() => Promise.reject(new Error("a process of the streams has ended")));
  try {
    const [told] = (await Promise.race([once(child, "message"), ended])) as [StreamsTold];
    return told;
  } finally {
    ended.catch(() => undefined);
    ending.abort();
  }
};

const start = async (script: string, args: readonly string[]): Promise<{ child: ChildProcess; ready: StreamsTold }> => {
  const child = fork(fileURLToPath(new URL(`../processes/${script}.js`, import.meta.url)), [...args], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  return { child, ready: await next(child) };
};

interface Side {
  server: ChildProcess;
  listeners: ChildProcess[];
  /** Milliseconds from a block to the last client. */
  delays: number[];
  /** Microseconds of processor time that the server took for a block. */
  used: number[];
}

const startSide = async (script: string, streams: number, dataDir: string): Promise<Side> => {
  const { child: server, ready } = await start(script, [dataDir, String(streams)]);
  const openings = Array.from({ length: clients }, () => start("streams", [String(ready.port), String(streams / clients)]));
  return { server, listeners: (await Promise.all(openings)).map(({ child }) => child), delays: [], used: [] };
};

const ask = async (server: ChildProcess, asked: "block" | "memory" | "used"): Promise<StreamsTold> => {
  server.send(asked);
  return next(server);
};

const sendBlock = async ({ server, listeners, delays, used }: Side): Promise<void> => {
  const all = listeners.map((listener) => next(listener));
  const { at = 0 } = await ask(server, "block");
  delays.push(Math.max(...(await Promise.all(all)).map((told) => told.at ?? 0)) - at);
  used.push((await ask(server, "used")).used ?? 0);
};

const highest = (values: readonly number[]): number => [...values].sort((one, other) => one - other)[Math.ceil(0.99 * values.length) - 1] ?? 0;

/**
 * A node in one process, its streams' clients in others: from when the host emits a block until the last client has it. In turns with a
 * server of `node:http` alone, which shows what of it is the machine's and the clients'.
 */
const measureSome = async (streams: number): Promise<Row[]> => {
  const dataDir = mkdtempSync(join(tmpdir(), "portico-bench-streams-"));
  const node = await startSide("streaming", streams, dataDir);
  const { memory = 0 } = await ask(node.server, "memory");
  const bare = await startSide("bare-streams", streams, dataDir);
  for (let block = -warmUp; block < blocks; block++) {
    for (const side of [node, bare]) {
      if (block === 0) Object.assign(side, { delays: [], used: [] });
      await sendBlock(side);
    }
  }
  for (const child of [node, bare].flatMap(({ server, listeners }) => [server, ...listeners])) child.kill();
  rmSync(dataDir, { recursive: true, force: true });
  const [group, count, limit] = ["following", streams.toLocaleString("en"), streams > 1_000 ? 250 : 100];
  const [figure, barely] = [highest(node.delays), highest(bare.delays)];
  const note = `median ${median(node.delays).toFixed(0)} ms; bare node:http: ${barely.toFixed(0)}, median ${median(bare.delays).toFixed(0)} ms`;
  const [used, usedBarely] = [node, bare].map((side) => median(side.used) / streams) as [number, number];
  const each = memory / streams;
  return [
    { group, what: `${count} streams: from a block to the last client, 99th percentile of ${blocks}`, figure, unit: "ms", against: "limit", peer: limit, ratio: figure / limit, goal: { atMost: 1 }, note },
    { group, what: `${count} streams: processor time for a block and stream`, figure: used, unit: "µs", against: "bare node:http", peer: usedBarely, ratio: used / usedBarely },
    { group, what: `${count} streams: memory of each`, figure: each, unit: "KB", against: "limit", peer: 20, ratio: each / 20, goal: { atMost: 1 } },
  ];
};

export const measureStreams = async (sizes: readonly number[]): Promise<Row[]> => {
  const rows: Row[] = [];
  for (const streams of sizes) rows.push(...(await measureSome(streams)));
  return rows;
};
