import { Agent } from "undici";
import { median } from "../load/statistics.js";
import type { Row } from "../table/row.js";
import { openSink, type Sink } from "../webhooks/sink.js";
import { createEndlessChain } from "./endless-chain.js";
import { openSendingEngine } from "./engine.js";

const group = "following";
const transactions = 150;

/** Milliseconds by the clock and of processor time. */
interface Taken {
  spent: number;
  work: number;
}

const watchTime = (): (() => Taken) => {
  const [begun, cpu] = [performance.now(), process.cpuUsage()];
  return () => {
    const { user, system } = process.cpuUsage(cpu);
    return { spent: performance.now() - begun, work: (user + system) / 1_000 };
  };
};

/** What the same client takes to post as many, without Portico. */
const postBare = async (sink: Sink, atOnce: number, total: number): Promise<Taken> => {
  const agent = new Agent({ connections: atOnce });
  const body = `{"timestamp":1700000000000,"data":${JSON.stringify({ text: "x".repeat(600) })},"event":"transaction.applied"}`;
  let left = total;
  const post = async (path: string): Promise<void> => {
    while (left-- > 0) {
      const answer = await agent.request({ origin: `http://127.0.0.1:${sink.port}`, path, method: "POST", headers: { "content-type": "application/json" }, body });
      await answer.body.dump();
    }
  };
  const taken = watchTime();
  await Promise.all([...Array.from({ length: atOnce }, (_, index) => post(`/${index}`)), sink.until(total)]);
  const spent = taken();
  await agent.close();
  return spent;
};

/** From a number of blocks to the arrival of the last of their transactions at every target. */
const deliver = async (sink: Sink, targets: number, blocks: number): Promise<Taken> => {
  const chain = createEndlessChain(transactions, { prepared: 2 + blocks });
  const { close } = await openSendingEngine(chain, sink, { webhooks: targets, transactions }, { concurrencyPerTarget: targets });
  const taken = watchTime();
  chain.grow(blocks);
  await sink.until(targets * transactions * blocks);
  const spent = taken();
  await close();
  return spent;
};

/** Blocks that make a run of about a second. */
const blocksFor = (targets: number): number => Math.max(2, Math.round(24 / targets));

/** Deliveries, each on the disk before it is sent and after it is answered, against the same HTTP client posting as much. */
export const measureSending = async (targets: number, rounds: number): Promise<Row> => {
  const sink = await openSink();
  const blocks = blocksFor(targets);
  const total = targets * transactions * blocks;
  const [bare, own, bareWork, ownWork]: [number[], number[], number[], number[]] = [[], [], [], []];
  await postBare(sink, targets, total);
  await deliver(sink, targets, blocks);
  for (let round = 0; round < rounds; round++) {
    const [post, ours] = [await postBare(sink, targets, total), await deliver(sink, targets, blocks)];
    bare.push(post.spent);
    own.push(ours.spent);
    bareWork.push(post.work);
    ownWork.push(ours.work);
  }
  await sink.close();
  const [figure, peer] = [(total / median(own)) * 1_000, (total / median(bare)) * 1_000];
  const note = `processor time, the target's included: ${(median(bareWork) / median(ownWork)).toFixed(2)}`;
  return { group, what: `deliveries with durability on, in order, to ${targets} target${targets === 1 ? "" : "s"}`, figure, unit: "deliveries/s", against: "bare undici", peer, ratio: figure / peer, goal: { atLeast: 0.5 }, note };
};
