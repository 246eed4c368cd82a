import { Agent } from "undici";
import { median, quantile } from "../load/statistics.js";
import type { Row } from "../table/row.js";
import { openSink, type Sink } from "../webhooks/sink.js";
import { createEndlessChain } from "./endless-chain.js";
import { openChainEngine } from "./engine.js";

const group = "following";
const transactions = 150;

/** Milliseconds that the same client takes to post as many, without Portico. */
const postBare = async (sink: Sink, atOnce: number, total: number): Promise<number> => {
  const agent = new Agent({ connections: atOnce });
  const body = `{"timestamp":1700000000000,"data":${JSON.stringify({ text: "x".repeat(600) })},"event":"transaction.applied"}`;
  let left = total;
  const post = async (path: string): Promise<void> => {
    while (left-- > 0) {
      const answer = await agent.request({ origin: `http://127.0.0.1:${sink.port}`, path, method: "POST", headers: { "content-type": "application/json" }, body });
      await answer.body.dump();
    }
  };
  const begun = performance.now();
  await Promise.all([...Array.from({ length: atOnce }, (_, index) => post(`/${index}`)), sink.until(total)]);
  const spent = performance.now() - begun;
  await agent.close();
  return spent;
};

/** Milliseconds from a number of blocks to the arrival of the last of their transactions at every target. */
const deliver = async (sink: Sink, targets: number, blocks: number): Promise<number> => {
  const chain = createEndlessChain(transactions);
  const { engine, close } = openChainEngine(chain.changes, { concurrencyPerTarget: targets });
  for (let index = 0; index < targets; index++) engine.create({ event: "transaction.applied", target: `http://127.0.0.1:${sink.port}/${index}` });
  await engine.settled();
  chain.grow(1);
  await sink.until(targets * transactions);
  const begun = performance.now();
  chain.grow(blocks);
  await sink.until(targets * transactions * blocks);
  const spent = performance.now() - begun;
  await close();
  return spent;
};

/** Deliveries, each on the disk before it is sent and after it is answered, against the same HTTP client posting as much. */
export const measureSending = async (rounds: number): Promise<Row[]> => {
  const sink = await openSink();
  const rows: Row[] = [];
  for (const targets of [1, 8, 32]) {
    const blocks = targets === 1 ? 20 : targets === 8 ? 6 : 2;
    const total = targets * transactions * blocks;
    const [bare, own]: [number[], number[]] = [[], []];
    await postBare(sink, targets, total);
    for (let round = 0; round < rounds; round++) {
      bare.push(await postBare(sink, targets, total));
      own.push(await deliver(sink, targets, blocks));
    }
    const [figure, peer] = [(total / median(own)) * 1_000, (total / median(bare)) * 1_000];
    rows.push({ group, what: `deliveries with durability on, in order, to ${targets} target${targets === 1 ? "" : "s"}`, figure, unit: "deliveries/s", against: "bare undici", peer, ratio: figure / peer, goal: { atLeast: 0.5 } });
  }
  await sink.close();
  return rows;
};

const samples = 200;

/** Milliseconds from a block to its arrival at a healthy target. */
const delays = async (sink: Sink, chain: ReturnType<typeof createEndlessChain>, count: number): Promise<Float64Array> => {
  const found: number[] = [];
  for (let sample = 0; sample < count; sample++) {
    const begun = performance.now();
    chain.grow(1);
    await sink.until(1);
    found.push(performance.now() - begun);
  }
  return Float64Array.from(found).sort();
};

const limited = (what: string, figure: number, limit: number): Row => ({ group, what, figure, unit: "ms", against: "limit", peer: limit, ratio: figure / limit, goal: { atMost: 1 } });

/** A path of an origin hangs, another is healthy; then 400 origins hang. */
export const measureHanging = async (): Promise<Row[]> => {
  const rows: Row[] = [];
  const sink = await openSink("/hangs");
  {
    const chain = createEndlessChain(0);
    const { engine, close } = openChainEngine(chain.changes);
    engine.create({ event: "block.applied", target: `http://127.0.0.1:${sink.port}/hangs` });
    engine.create({ event: "block.applied", target: `http://127.0.0.1:${sink.port}/healthy` });
    await engine.settled();
    const found = await delays(sink, chain, samples);
    rows.push(limited("one path of an origin hangs, another is healthy: delay of the healthy one, median", quantile(found, 0.5), 20));
    rows.push(limited("one path of an origin hangs, another is healthy: delay of the healthy one, 99th percentile", quantile(found, 0.99), 100));
    await close();
  }
  {
    const chain = createEndlessChain(0);
    const { engine, close } = openChainEngine(chain.changes);
    for (let index = 0; index < 400; index++) engine.create({ event: "block.applied", target: `http://h${index}.localhost:${sink.port}/hangs` });
    engine.create({ event: "block.applied", target: `http://127.0.0.1:${sink.port}/healthy` });
    await engine.settled();
    const found = await delays(sink, chain, samples);
    rows.push(limited("400 origins hang, one is healthy, from the start on: its delay, 99th percentile", quantile(found, 0.99), 250));
    await close();
  }
  {
    // The healthy one answers once after two seconds.
    const slow = await openSink("/hangs", 2_000);
    const chain = createEndlessChain(0);
    const { engine, close } = openChainEngine(chain.changes);
    for (let index = 0; index < 400; index++) engine.create({ event: "block.applied", target: `http://h${index}.localhost:${slow.port}/hangs` });
    engine.create({ event: "block.applied", target: `http://127.0.0.1:${slow.port}/healthy` });
    await engine.settled();
    chain.grow(1);
    await slow.until(1);
    const found = await delays(slow, chain, samples);
    rows.push(limited("the same, after one slow answer of the healthy one: its delay, 99th percentile", quantile(found, 0.99), 250));
    await close();
    await slow.close();
  }
  await sink.close();
  return rows;
};
