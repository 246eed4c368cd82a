import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WebhookDraft, Webhooks } from "../../../types/webhooks.js";
import { network } from "../../follow/schedule.js";
import { median, quantile } from "../load/statistics.js";
import { logger, startNode } from "../processes/node.js";
import { heapUsed } from "../processes/usage.js";
import { limited, type Row } from "../table.js";
import { createEndlessChain, type EndlessChain } from "./endless-chain.js";
import { watchHolds } from "./holds.js";
import { openSink, type Sink } from "./sink.js";

const group = "following";
/** Of a full block. */
const transactions = 150;

interface WebhookNode {
  webhooks: Webhooks;
  /** Resolves when the deliveries of all blocks are stored. */
  settled(): Promise<void>;
  /** Bytes of the file that keeps webhooks. */
  size(): number;
  close(): Promise<void>;
}

/** A node in this process whose host keeps the chain: it does nothing but follow it for webhooks. */
const openNode = async ({ changes }: EndlessChain): Promise<WebhookNode> => {
  const dataDir = mkdtempSync(join(tmpdir(), "portico-bench-follow-"));
  const options = { webhooks: { allowTargets: ["127.0.0.0/8"], maxWebhooks: 2_000 } };
  const { plugin } = await startNode({ network, dataDir, chain: { snapshot: () => undefined, changes }, logger: { ...logger, warn: () => undefined }, options });
  if (plugin.webhooks === undefined) throw new Error("the node has no webhooks");
  return {
    webhooks: plugin.webhooks,
    settled: () => plugin.settled(),
    size: () => statSync(join(dataDir, "webhooks.mdb")).size,
    close: async () => {
      await plugin.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
};

/** Webhooks, each with a target of its own. */
const create = ({ webhooks }: WebhookNode, sink: Sink, count: number, draft: Partial<WebhookDraft> = {}): void => {
  for (let index = 0; index < count; index++) webhooks.create({ event: "transaction.applied", target: `http://127.0.0.1:${sink.port}/${index}`, ...draft });
};

/** A node whose webhooks have been sent a first full block. */
const openWarmNode = async (chain: EndlessChain, sink: Sink, webhooks: number): Promise<WebhookNode> => {
  const node = await openNode(chain);
  create(node, sink, webhooks);
  await node.settled();
  chain.grow(1);
  await sink.until(webhooks * transactions);
  return node;
};

/** One webhook that is told of each of many blocks in turn: from the block to the request. `hanging`: other paths of its target's origin that never answer. */
export const measureRequest = async (hanging = 0): Promise<Row> => {
  const [sink, chain] = [await openSink(), createEndlessChain(0)];
  const node = await openNode(chain);
  for (let path = 0; path < hanging; path++) create(node, sink, 1, { event: "block.applied", target: `http://127.0.0.1:${sink.port}/hangs/${path}` });
  create(node, sink, 1, { event: "block.applied" });
  await node.settled();
  const delays: number[] = [];
  for (let block = -20; block < 500; block++) {
    const begun = performance.now();
    chain.grow(1);
    await sink.until(1);
    if (block >= 0) delays.push(performance.now() - begun);
  }
  await node.close();
  await sink.close();
  const [middle, p99] = [median(delays), quantile(Float64Array.from(delays).sort(), 0.99)];
  const [what, unit] = ["one webhook, from a block to its request", "ms"];
  if (hanging > 0) return limited({ group, what: `${what}, while ${hanging} paths of its target's origin hang, p50`, figure: middle, unit, note: `p99 ${p99.toFixed(1)} ms` }, 20);
  return limited({ group, what: `${what}, p99`, figure: p99, unit, note: `median ${middle.toFixed(1)} ms` }, 50);
};

/** From a block to the first of many webhooks' requests, and to the last: what is written first need not wait for the rest. */
export const measureFirst = async (): Promise<Row> => {
  const [webhooks, blocks] = [300, 3];
  const [sink, chain] = [await openSink(), createEndlessChain(transactions, { prepared: 2 + blocks })];
  const node = await openWarmNode(chain, sink, webhooks);
  const [first, last]: [number[], number[]] = [[], []];
  for (let block = 0; block < blocks; block++) {
    const begun = performance.now();
    chain.grow(1);
    await sink.until(1);
    first.push(performance.now() - begun);
    await sink.until(webhooks * transactions - 1);
    last.push(performance.now() - begun);
  }
  await node.close();
  await sink.close();
  const what = `a block of ${transactions} transactions for ${webhooks} webhooks: until the first request arrives`;
  return limited({ group, what, figure: median(first), unit: "ms", note: `the last after ${(median(last) / 1_000).toFixed(1)} s` }, 1_000);
};

/** Deliveries, each on the disk before it is sent and after it is answered. */
export const measureDeliveries = async (targets: number, rounds: number): Promise<Row> => {
  // A run of about a second.
  const blocks = Math.max(2, Math.round(24 / targets));
  const total = targets * transactions * blocks;
  const sink = await openSink();
  const rates: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const chain = createEndlessChain(transactions, { prepared: 2 + blocks });
    const node = await openWarmNode(chain, sink, targets);
    const begun = performance.now();
    chain.grow(blocks);
    await sink.until(total);
    // The first round compiles the code.
    if (round > 0) rates.push(total / ((performance.now() - begun) / 1_000));
    await node.close();
  }
  await sink.close();
  const [figure, peer] = [median(rates), 3_000];
  const what = `deliveries with durability on, in order, to ${targets} target${targets === 1 ? "" : "s"}`;
  return { group, what, figure, unit: "deliveries/s", against: "limit", peer, ratio: figure / peer, goal: { atLeast: 1 } };
};

/** A full block for a thousand webhooks that want all of it: how long anybody else waits. */
export const measureBlock = async (): Promise<Row> => {
  const [sink, chain] = [await openSink(), createEndlessChain(transactions)];
  const node = await openNode(chain);
  create(node, sink, 1_000);
  await node.settled();
  // Twice: V8 compiles code again once it has seen what it is given.
  for (let block = 0; block < 2; block++) {
    chain.grow(1);
    await node.settled();
  }
  const longest = watchHolds();
  const begun = performance.now();
  chain.grow(1);
  await node.settled();
  const [{ clock: figure, work }, spent] = [longest(), performance.now() - begun];
  await node.close();
  await sink.close();
  const note = `${work.toFixed(1)} ms of processor time; written in ${(spent / 1_000).toFixed(1)} s, while others are sent`;
  return limited({ group, what: `a block of ${transactions} transactions for 1,000 webhooks: longest hold of the event loop`, figure, unit: "ms", note }, 25);
};

/** A thousand webhooks a million blocks behind, whose target hangs: memory beyond that of a node without any. */
export const measureBehind = async (): Promise<Row> => {
  const sink = await openSink(true);
  const measure = async (webhooks: number): Promise<number> => {
    const node = await openNode(createEndlessChain(3, { begin: 1_000_000 }));
    create(node, sink, webhooks, { from: "genesis" });
    await node.settled();
    const memory = heapUsed();
    await node.close();
    return memory;
  };
  await measure(10);
  const none = await measure(0);
  const figure = (await measure(1_000)) - none;
  await sink.close();
  return limited({ group, what: "memory of 1,000 webhooks a million blocks behind, beyond that of none", figure, unit: "MB" }, 20);
};

/** What is kept of a delivery, as its share of the file. */
export const measureStorage = async (): Promise<Row> => {
  const blocks = 60;
  const [sink, chain] = [await openSink(), createEndlessChain(transactions)];
  const node = await openWarmNode(chain, sink, 1);
  const before = node.size();
  chain.grow(blocks);
  await sink.until(transactions * blocks);
  const figure = (node.size() - before) / (transactions * blocks);
  await node.close();
  await sink.close();
  return limited({ group, what: "disk of a delivery", figure, unit: "bytes" }, 1_126);
};
