import { setTimeout as pause } from "node:timers/promises";
import { runInNewContext } from "node:vm";
import { setFlagsFromString } from "node:v8";
import { createManualClock } from "../../webhooks/manual-clock.js";
import type { Row } from "../table/row.js";
import { openSink } from "../webhooks/sink.js";
import { createEndlessChain } from "./endless-chain.js";
import { openChainEngine, openSendingEngine } from "./engine.js";

const group = "following";
const blockTime = 8_000;

/** A webhook whose target fails for five days while 18 transactions a second come in, by a clock that the run moves: what its store takes. */
export const measureStorage = async (): Promise<Row> => {
  const clock = createManualClock();
  const chain = createEndlessChain(18 * (blockTime / 1_000));
  // Nobody listens there.
  const sink = await openSink();
  await sink.close();
  const { engine, size, close } = openChainEngine(chain.changes, {}, { clock, after: clock.after });
  const { id } = engine.create({ event: "transaction.applied", target: `http://127.0.0.1:${sink.port}/` });
  await engine.settled();
  const minutes = 5 * 24 * 60;
  for (let minute = 0; minute < minutes && engine.get(id).enabled; minute += 15) {
    chain.grow((15 * 60_000) / blockTime);
    clock.advance(15 * 60_000);
    await engine.settled();
    // Attempts that have become due end by themselves: the connection is refused.
    await pause(15);
  }
  const attempts = engine.deliveries(id, undefined, { offset: 0, limit: 100 }).rows.reduce((sum, { attemptCount }) => sum + attemptCount, 0);
  const { behind } = engine.get(id);
  const figure = size();
  await close();
  return { group, what: "the store of a webhook that fails for five days at 18 transactions a second", figure, unit: "MB", against: "limit", peer: 10, ratio: figure / 10, goal: { atMost: 1 }, note: `${(behind ?? 0).toLocaleString("en")} blocks behind; ${attempts} attempts of its last 100 deliveries` };
};

/** What is kept of an event that was delivered, by how many webhooks are told of it: its share of the store's file. */
export const measureRecord = async (webhooks: number, most: number): Promise<Row> => {
  const [transactions, blocks] = [150, 60];
  const chain = createEndlessChain(transactions);
  const sink = await openSink();
  const { size, close } = await openSendingEngine(chain, sink, { webhooks, transactions });
  const before = size();
  chain.grow(blocks);
  await sink.until(webhooks * transactions * blocks);
  const figure = ((size() - before) * 2 ** 20) / (webhooks * transactions * blocks);
  await close();
  await sink.close();
  return { group, what: `the record of a delivery, ${webhooks} webhook${webhooks === 1 ? "" : "s"} told of each event`, figure, unit: "bytes", against: "limit", peer: most, ratio: figure / most, goal: { atMost: 1 } };
};

const collect = (): void => {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
};

const used = (): number => {
  for (let i = 0; i < 3; i++) collect();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
};

/** A thousand webhooks a million blocks behind, whose target hangs: memory beyond that of an engine without any. */
export const measureBehind = async (): Promise<Row> => {
  const sink = await openSink(true);
  const measure = async (webhooks: number): Promise<number> => {
    const chain = createEndlessChain(3, { begin: 1_000_000 });
    const { engine, close } = openChainEngine(chain.changes);
    for (let index = 0; index < webhooks; index++) engine.create({ event: "transaction.applied", target: `http://127.0.0.1:${sink.port}/${index}`, from: "genesis" });
    await engine.settled();
    const memory = used();
    await close();
    return memory;
  };
  await measure(10);
  const [none, all] = [await measure(0), await measure(1_000)];
  await sink.close();
  const figure = all - none;
  return { group, what: "memory of 1,000 webhooks a million blocks behind, beyond that of none", figure, unit: "MB", against: "limit", peer: 20, ratio: figure / 20, goal: { atMost: 1 } };
};
