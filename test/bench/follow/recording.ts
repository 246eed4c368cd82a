import { performance } from "node:perf_hooks";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createStore } from "../../../src/store/state/store.js";
import type { FullBlock } from "../../../src/chain/blocks/block.js";
import { blockData, genesis, transferData } from "../../follow/schedule.js";
import { median } from "../load/statistics.js";
import type { Row } from "../table/row.js";
import { openSink } from "../webhooks/sink.js";
import { createEndlessChain, rules } from "./endless-chain.js";
import { openChainEngine, openSendingEngine } from "./engine.js";
import { watchHolds } from "./holds.js";

const group = "following";

/** A full block for a thousand webhooks that want all of it: how long anybody else waits. */
export const measureRecording = async (): Promise<Row> => {
  const sink = await openSink();
  const chain = createEndlessChain(150);
  const { engine, close } = openChainEngine(chain.changes);
  for (let index = 0; index < 1_000; index++) engine.create({ event: "transaction.applied", target: `http://127.0.0.1:${sink.port}/${index}` });
  await engine.settled();
  // Twice: V8 compiles code again once it has seen what it is given.
  for (let block = 0; block < 2; block++) {
    chain.grow(1);
    await engine.settled();
  }
  const longest = watchHolds();
  const begun = performance.now();
  chain.grow(1);
  await engine.settled();
  const [{ clock: figure, work }, spent] = [longest(), performance.now() - begun];
  await close();
  await sink.close();
  return { group, what: "a block of 150 transactions for 1,000 webhooks (150,000 deliveries): longest hold of the event loop", figure, unit: "ms", against: "limit", peer: 10, ratio: figure / 10, goal: { atMost: 1 }, note: `${work.toFixed(1)} ms of processor time; written in ${(spent / 1_000).toFixed(1)} s, while others are sent` };
};

/** From a block to the first of many webhooks' requests, and to the last: what is written first need not wait for the rest. */
export const measureFirst = async (): Promise<Row> => {
  const [webhooks, transactions, blocks] = [300, 150, 5];
  const sink = await openSink();
  const chain = createEndlessChain(transactions, { prepared: 2 + blocks });
  const { close } = await openSendingEngine(chain, sink, { webhooks, transactions });
  const [first, last]: [number[], number[]] = [[], []];
  for (let block = 0; block < blocks; block++) {
    const begun = performance.now();
    chain.grow(1);
    await sink.until(1);
    first.push(performance.now() - begun);
    await sink.until(webhooks * transactions - 1);
    last.push(performance.now() - begun);
  }
  await close();
  await sink.close();
  const [figure, peer] = [median(first), median(last)];
  return { group, what: `a block of ${transactions} transactions for ${webhooks} webhooks: until the first request arrives`, figure, unit: "ms", against: "until the last", peer, ratio: figure / peer };
};

const together = 100;

/** One webhook that begins at genesis of a long chain in a store, then live blocks: what it matches in a second, and what arrives. */
export const measureBackfill = async (blocks: number): Promise<Row> => {
  const dataDir = mkdtempSync(join(tmpdir(), "portico-bench-backfill-"));
  const store = createStore({ dataDir, undoBlocks: 10, disposable: true }, { rules });
  let tip = rules.parseBlock(genesis);
  const make = (marked: boolean): FullBlock => {
    const height = tip.block.height + 1;
    const transactions = [0, 1].map((i) => transferData(`${height} ${i}`, marked ? 99 : 1, i, i + 1));
    tip = rules.parseBlock(blockData(`backfill ${height}`, height, tip.block.id, transactions));
    return tip;
  };
  await store.apply([tip]);
  while (tip.block.height < blocks) await store.apply(Array.from({ length: Math.min(together, blocks - tip.block.height) }, () => make(tip.block.height % 10_000 === 0)), blocks);
  store.markComplete();

  const sink = await openSink();
  const watchers = new Set<() => void>();
  const changes = { view: () => store.changesView(), watch: (changed: () => void) => (watchers.add(changed), () => void watchers.delete(changed)) };
  const { engine, close } = openChainEngine(changes);
  // Processor time: the disk, and whoever else uses the machine, are not what is measured.
  const begun = process.cpuUsage();
  const wanted = { events: ["transaction.*"], conditions: [{ key: "amount", condition: "eq" as const, value: "99" }], from: "genesis" };
  const { id } = engine.create({ ...wanted, target: `http://127.0.0.1:${sink.port}/` });
  const live = async (): Promise<void> => {
    await store.apply([make(true)], 0, Date.now());
    watchers.forEach((changed) => changed());
  };
  // The chain goes on while the past is read, and after that.
  await live();
  await engine.settled();
  const { user, system } = process.cpuUsage(begun);
  const spent = (user + system) / 1_000_000;
  const looked = tip.block.height + 2 * (tip.block.height - 1);
  for (let more = 1; more < 20; more++) await live();
  await engine.settled();
  const marked = 2 * (Math.floor(blocks / 10_000) + 20 - (blocks % 10_000 === 0 ? 1 : 0));
  const last = engine.deliveries(id, undefined, { offset: 0, limit: 1 }).total;
  await sink.until(last);
  const figure = looked / spent;
  await close();
  await sink.close();
  await store.stop();
  rmSync(dataDir, { recursive: true, force: true });
  if (last !== marked) throw new Error(`the backfill gave ${last} deliveries, not ${marked}`);
  return { group, what: `events that one webhook looks at while it is told of ${blocks.toLocaleString("en")} blocks, then live ones, in a second of processor time`, figure, unit: "events/s", against: "the goal", peer: 30_000, ratio: figure / 30_000, goal: { atLeast: 1 }, note: `${last} of them matched and arrived, none missing, none twice` };
};
