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
const blocks = 50;

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

/** A node in one process, its streams' clients in others: from when the host emits a block until the last client has it. */
const measureSome = async (streams: number): Promise<Row[]> => {
  const dataDir = mkdtempSync(join(tmpdir(), "portico-bench-streams-"));
  const node = await start("streaming", [dataDir, String(streams)]);
  const openings = Array.from({ length: clients }, () => start("streams", [String(node.ready.port), String(streams / clients)]));
  const listeners = await Promise.all(openings);
  node.child.send("memory");
  const { memory = 0 } = await next(node.child);
  const delays: number[] = [];
  for (let block = 0; block < blocks; block++) {
    const all = listeners.map(({ child }) => next(child));
    node.child.send("block");
    const { at = 0 } = await next(node.child);
    const arrived = await Promise.all(all);
    delays.push(Math.max(...arrived.map((told) => told.at ?? 0)) - at);
  }
  for (const { child } of [node, ...listeners]) child.kill();
  rmSync(dataDir, { recursive: true, force: true });
  delays.sort((one, other) => one - other);
  const [group, count, limit] = ["following", streams.toLocaleString("en"), streams > 1_000 ? 250 : 100];
  const figure = delays[Math.ceil(0.99 * delays.length) - 1] ?? 0;
  const each = memory / streams;
  return [
    { group, what: `${count} streams: from a block to the last client, 99th percentile of ${blocks}`, figure, unit: "ms", against: "limit", peer: limit, ratio: figure / limit, goal: { atMost: 1 }, note: `median ${median(delays).toFixed(0)} ms` },
    { group, what: `${count} streams: memory of each`, figure: each, unit: "KB", against: "limit", peer: 20, ratio: each / 20, goal: { atMost: 1 } },
  ];
};

export const measureStreams = async (sizes: readonly number[]): Promise<Row[]> => {
  const rows: Row[] = [];
  for (const streams of sizes) rows.push(...(await measureSome(streams)));
  return rows;
};
