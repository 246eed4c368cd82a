import { quantile } from "../load/statistics.js";
import type { Row } from "../table/row.js";
import { openSink, type Sink } from "../webhooks/sink.js";
import { createEndlessChain } from "./endless-chain.js";
import { openChainEngine } from "./engine.js";

const samples = 200;
const origins = 400;

/** Milliseconds from a block to its arrival at a healthy target, which is told of each of many blocks in turn. */
const delays = async (sink: Sink, hanging: readonly string[], warm: boolean): Promise<Float64Array> => {
  const chain = createEndlessChain(0);
  const { engine, close } = openChainEngine(chain.changes);
  for (const target of hanging) engine.create({ event: "block.applied", target });
  engine.create({ event: "block.applied", target: `http://127.0.0.1:${sink.port}/healthy` });
  await engine.settled();
  if (warm) {
    chain.grow(1);
    await sink.until(1);
  }
  const found: number[] = [];
  for (let sample = 0; sample < samples; sample++) {
    const begun = performance.now();
    chain.grow(1);
    await sink.until(1);
    found.push(performance.now() - begun);
  }
  await close();
  return Float64Array.from(found).sort();
};

const limited = (what: string, figure: number, limit: number): Row => ({ group: "following", what, figure, unit: "ms", against: "limit", peer: limit, ratio: figure / limit, goal: { atMost: 1 } });

const hangingOrigins = (sink: Sink): string[] => Array.from({ length: origins }, (_, index) => `http://h${index}.localhost:${sink.port}/hangs`);

/** One path of an origin hangs, another is healthy. */
export const measureHangingPath = async (): Promise<Row[]> => {
  const sink = await openSink("/hangs");
  const found = await delays(sink, [`http://127.0.0.1:${sink.port}/hangs`], false);
  await sink.close();
  const what = "one path of an origin hangs, another is healthy: delay of the healthy one";
  return [limited(`${what}, median`, quantile(found, 0.5), 20), limited(`${what}, 99th percentile`, quantile(found, 0.99), 100)];
};

/** 400 origins hang from the start on, one is healthy. */
export const measureHangingOrigins = async (): Promise<Row> => {
  const sink = await openSink("/hangs");
  const found = await delays(sink, hangingOrigins(sink), false);
  await sink.close();
  return limited(`${origins} origins hang, one is healthy, from the start on: its delay, 99th percentile`, quantile(found, 0.99), 250);
};

/** The same, where the healthy one has answered once after two seconds. */
export const measureHangingAfterSlow = async (): Promise<Row> => {
  const sink = await openSink("/hangs", 2_000);
  const found = await delays(sink, hangingOrigins(sink), true);
  await sink.close();
  return limited("the same, after one slow answer of the healthy one: its delay, 99th percentile", quantile(found, 0.99), 250);
};
