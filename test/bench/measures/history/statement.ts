import { get } from "node:http";
import { performance } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { putLoad } from "../../load/load.js";
import { median, quantile } from "../../load/statistics.js";
import { busiestAddress } from "../../questions/parties.js";
import type { Row } from "../../table/row.js";
import { hotPaths } from "../hot.js";
import type { Run } from "../measure.js";
import type { PorticoServer } from "../servers.js";

const group = "history";

interface Streamed {
  rows: number;
  /** Milliseconds. */
  spent: number;
}

/** Reads a statement as fast as it comes, and counts its lines. */
const stream = (port: number): Promise<Streamed> =>
  new Promise((resolve, reject) => {
    const begun = performance.now();
    let rows = 0;
    const request = get({ port, host: "127.0.0.1", path: `/api/wallets/${busiestAddress}/statement`, agent: false }, (reply) => {
      reply.on("data", (bytes: Buffer) => {
        for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) rows++;
      });
      reply.on("end", () => (reply.complete ? resolve({ rows, spent: performance.now() - begun }) : reject(new Error("the statement was cut off"))));
      reply.on("error", reject);
    });
    request.on("error", reject);
  });

/** One statement after another, until it is told to end. */
const streaming = (port: number) => {
  let ended = false;
  const done = (async (): Promise<Streamed[]> => {
    const all: Streamed[] = [];
    while (!(ended as boolean)) all.push(await stream(port));
    return all;
  })();
  return {
    end: (): Promise<Streamed[]> => {
      ended = true;
      return done;
    },
  };
};

/** The most memory of its own that a server has while something is done, looked at often. */
const mostMemory = async <T>({ usage }: PorticoServer, during: Promise<T>): Promise<{ most: number; result: T }> => {
  let most = 0;
  let ended = false;
  const result = during.finally(() => (ended = true));
  while (!(ended as boolean)) {
    most = Math.max(most, (await usage()).own);
    await Promise.race([result, delay(50)]);
  }
  return { most, result: await result };
};

/** The statement of the busiest wallet: how fast it comes alone, what it takes, and what others notice of it. */
export const measureStatement = async (portico: PorticoServer, run: Run): Promise<Row[]> => {
  run.say("history: statements of the busiest wallet");
  const { port } = portico;
  const others = async (): Promise<number> => {
    const load = { port, connections: 32, requests: Object.values(hotPaths), rate: 500, duration: run.slice * 2 };
    return quantile((await putLoad(load)).latencies, 0.99);
  };
  await stream(port);
  const alone: Streamed[] = [];
  for (let round = 0; round < run.rounds; round++) alone.push(await stream(port));
  const before = (await portico.usage()).own;
  const { most, result: once } = await mostMemory(portico, stream(port));
  const [idle, busy]: [number[], number[]] = [[], []];
  for (let round = 0; round < run.rounds; round++) {
    idle.push(await others());
    const under = streaming(port);
    busy.push(await others());
    await under.end();
  }
  const rate = median(alone.map(({ rows, spent }) => rows / (spent / 1_000)));
  const megabytes = (bytes: number): number => bytes / 2 ** 20;
  const rows = once.rows.toLocaleString("en");
  return [
    { group, what: `the statement of a wallet with ${rows} rows`, figure: rate, unit: "rows/s", against: "goal", peer: 50_000, ratio: rate / 50_000, goal: { atLeast: 1 }, note: "streamed over HTTP" },
    { group, what: `memory during a statement of ${rows} rows, the most`, figure: megabytes(most), unit: "MB", against: "before", peer: megabytes(before), ratio: most / before, goal: { atMost: 1.15 } },
    { group, what: "p99 of hot reads, 500 a second, nothing cached, during statements", figure: median(busy), unit: "ms", against: "idle", peer: median(idle), ratio: median(busy) / median(idle), goal: { atMost: 3 } },
  ];
};
