import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { EventEmitter } from "eventemitter3";
import { request } from "undici";
import type { BlockData, TransactionData } from "../../types/events.js";
import { token, webhookOptions } from "../e2e/reader-options.js";
import { count, seedOr } from "../fixtures/long.js";
import { startNode } from "../fixtures/node.js";
import { blockData, genesis, network, randomFrom, transferData } from "../follow/schedule.js";
import { createReceiver } from "../webhooks/receiver.js";
import { wanted } from "./followers.js";
import { Listener } from "./listener.js";

/** Schedules on one node: each goes on where the one before ended. Most of the time is spent in waiting, so several nodes go at once. */
const [together, atOnce] = [5, 8];
const turns = 24;

/**
 * A chain that forks one to four blocks deep, half of the time back to the blocks that it left. Half of the time, a new block has the transactions of
 * the last ones that it left.
 */
class Forks {
  readonly blocks: BlockData[] = [genesis];
  private left: TransactionData[] = [];
  private made = 0;
  private readonly name: string;
  private readonly random: () => number;
  private readonly tell: (event: string, block: BlockData) => void;

  constructor(name: string, random: () => number, tell: (event: string, block: BlockData) => void) {
    [this.name, this.random, this.tell] = [name, random, tell];
  }

  private upTo(most: number): number {
    return 1 + Math.floor(this.random() * most);
  }

  private apply(block: BlockData): void {
    this.blocks.push(block);
    this.tell("block.applied", block);
  }

  grow(): void {
    const tip = this.blocks.at(-1) ?? genesis;
    const label = `${this.name} ${this.made++}`;
    const transactions = this.random() < 0.3 ? [transferData(label, 1, this.upTo(3), this.upTo(3))] : [];
    const there = new Set(this.transactionIds());
    if (this.random() < 0.5) transactions.push(...this.left.filter(({ id }) => !there.has(id)));
    this.apply(blockData(label, tip.height + 1, tip.id, transactions));
  }

  transactionIds(): string[] {
    return this.blocks.flatMap(({ transactions = [] }) => transactions.map(({ id }) => id));
  }

  turn(): void {
    const depth = this.random() < 0.7 ? Math.min(this.upTo(4), this.blocks.length - 1) : 0;
    const left = this.blocks.splice(this.blocks.length - depth, depth);
    for (const block of left.toReversed()) this.tell("block.reverted", block);
    if (left.length > 0) this.left = left.flatMap(({ transactions = [] }) => transactions);
    if (this.random() < 0.5) for (const block of left.slice(0, this.upTo(4))) this.apply(block);
    for (let more = this.upTo(3) - 1; more > 0; more--) this.grow();
  }
}

/** What a receiver in strict order makes of what it has answered with 200: a block stands on the last one, or is that once more. */
class Stack {
  readonly blocks: string[] = [];
  readonly faults: string[] = [];
  private readonly heights = new Map<string, number>();

  private nameOf(id: string | undefined): string {
    return id === undefined ? "nothing" : `${this.heights.get(id)}-${id.slice(0, 6)}`;
  }

  take(body: string): void {
    const { event, data } = JSON.parse(body) as { event: string; data: BlockData };
    if (!event.startsWith("block.")) return;
    this.heights.set(data.id, data.height);
    const top = this.blocks.at(-1);
    const isRepeat = event === "block.applied" ? top === data.id : top === (data.previousBlock ?? undefined);
    const fits = event === "block.applied" ? (data.previousBlock ?? undefined) === top : top === data.id;
    if (!isRepeat && !fits) this.faults.push(`${event} ${this.nameOf(data.id)} at ${this.nameOf(top)}`);
    if (isRepeat) return;
    if (event === "block.applied") this.blocks.push(data.id);
    else this.blocks.pop();
  }
}

const told = ({ onChain }: Listener, kind: string): string[] =>
  [...onChain].filter(([subject, isOn]) => isOn && subject.startsWith(`${kind} `)).map(([subject]) => subject.slice(kind.length + 1)).sort();

const ask = async <T>(api: string, path: string, body?: object): Promise<T> => {
  const headers = { Authorization: token, "Content-Type": "application/json" };
  const reply = await request(`${api}${path}`, body === undefined ? { headers } : { headers, method: "POST", body: JSON.stringify(body) });
  return (await reply.body.json()) as T;
};

const run = async (seed: number, schedules: number): Promise<void> => {
  const [random, luck] = [randomFrom(seed), randomFrom(~seed)];
  const receiver = await createReceiver();
  const [stack, strictly, last] = [new Stack(), new Listener(), new Listener()];
  let heard = 0;
  const events = new EventEmitter();
  const chain = new Forks(String(seed), random, (event, block) => void events.emit(event, block));
  const { plugin: node, url: api } = await startNode({
    network,
    events,
    blocks: { read: (from, limit) => chain.blocks.slice(from - 1, from - 1 + limit) },
    options: { rateLimit: false, webhooks: { ...webhookOptions, schedule: Array.from({ length: 1_000 }, () => 80) } },
  });
  const create = async (order: string): Promise<{ id: number; token: string }> =>
    (await ask<{ data: { id: number; token: string } }>(api, "/webhooks", { events: wanted, from: "genesis", order, target: receiver.url })).data;
  try {
    const strict = await create("strict");
    receiver.answer = ({ headers, body }, response) => {
      receiver.received.length = 0;
      const isStrict = headers.authorization === strict.token.slice(0, 32);
      const fails = luck() < 0.25;
      if (!fails && isStrict) {
        stack.take(body);
        strictly.take(body, false);
      }
      if (!fails && !isStrict) last.take(body, false);
      response.writeHead(fails ? 500 : 200).end();
      heard++;
    };
    const first = await create("first");
    const isOpen = async ({ id }: { id: number }): Promise<boolean> => {
      if ((await ask<{ data: { behind: number } }>(api, `/webhooks/${id}`)).data.behind > 0) return true;
      for (const state of ["pending", "retrying"]) if ((await ask<{ meta: { totalCount: number } }>(api, `/webhooks/${id}/deliveries?state=${state}&limit=1`)).meta.totalCount > 0) return true;
      return false;
    };
    const isAnyOpen = async (): Promise<boolean> => (await isOpen(strict)) || isOpen(first);
    for (let schedule = 0; schedule < schedules; schedule++) {
      for (let turn = 0; turn < turns; turn++) {
        chain.turn();
        if (random() < 0.7) await node.settled();
        const enough = heard + Math.floor(random() * 4);
        while (heard < enough && (await isAnyOpen())) await pause(5);
      }
      chain.grow();
      await node.settled();
      while (await isAnyOpen()) await pause(5);
      const ids = chain.blocks.map(({ id }) => id);
      expect(stack.faults, `seed ${seed}, schedule ${schedule}: faults in strict order`).to.deep.equal([]);
      expect(stack.blocks, `seed ${seed}: blocks in strict order`).to.deep.equal(ids);
      for (const listener of [strictly, last]) {
        expect(told(listener, "block"), `seed ${seed}: the last words on blocks`).to.deep.equal(ids.toSorted());
        expect(told(listener, "transaction"), `seed ${seed}: the last words on transactions`).to.deep.equal(chain.transactionIds().sort());
      }
    }
  } finally {
    await node.stop();
    await receiver.close();
  }
};

describe("Two webhooks of a target that fails now and then, one of them in strict order, while the chain forks", () => {
  const schedules = count(2, 5_000);

  it(`each block that is told in strict order stands on the one before, and the last words are the chain's (${schedules} schedules)`, async () => {
    let begun = 0;
    const runAll = async (): Promise<void> => {
      while (begun < schedules) {
        const first = begun;
        begun += together;
        await run(seedOr(51) + first, Math.min(together, schedules - first));
      }
    };
    await Promise.all(Array.from({ length: atOnce }, runAll));
  });
});
