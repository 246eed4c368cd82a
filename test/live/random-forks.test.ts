import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { EventEmitter } from "eventemitter3";
import { request } from "undici";
import { actors } from "../../src/conformance/chain/actors.js";
import { createApiPlugin } from "../../src/plugin/plugin.js";
import type { ApiPlugin } from "../../types/plugin.js";
import { token, webhookOptions } from "../e2e/reader-options.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { count, seedOr } from "../fixtures/long.js";
import { activeDelegates, type Ledger, ledgerOf, network, randomFrom, rules } from "../follow/schedule.js";
import { silentLogger } from "../silent.js";
import { createReceiver, type Receiver } from "../webhooks/receiver.js";
import { Bell, ChangesFollower, FeedFollower, type Follower, type FollowerNeeds, type Known, StreamFollower, wanted } from "./followers.js";
import { ForkingChain } from "./forking-host.js";
import { Listener } from "./listener.js";
import { balancesOfNode } from "./node-wallets.js";

/** Schedules on one node: each goes on where the one before ended. */
const together = 20;
const moves = 6;

const sorted = (ledger: Ledger): [string, bigint][] => [...ledger].filter(([, balance]) => balance !== 0n).sort(([one], [other]) => (one < other ? -1 : 1));

/** A host whose chain forks at random, and a node in front of it that may be started again. */
class Host {
  readonly chain: ForkingChain;
  port = 0;
  plugin!: ApiPlugin;
  private events = new EventEmitter();
  private readonly dataDir = temporaryFolder();

  constructor(name: string, seed: number) {
    this.chain = new ForkingChain(name, seed);
  }

  get api(): string {
    return `http://127.0.0.1:${this.port}/api`;
  }

  async begin(): Promise<void> {
    this.events = new EventEmitter();
    const { blocks } = this.chain;
    this.plugin = createApiPlugin({
      ...{ network, events: this.events, dataDir: this.dataDir, logger: silentLogger },
      blocks: { read: (from, limit) => blocks.slice(from - 1, from - 1 + limit) },
      // A target that fails is tried again soon.
      options: { rateLimit: false, webhooks: { ...webhookOptions, schedule: Array.from({ length: 100 }, () => 10) } },
    });
    const server = await this.plugin.listen(this.port);
    this.port = (server.address() as AddressInfo).port;
  }

  /** The host's chain moves on. The node is told, and may be behind. Returns whether it has a block more. */
  move(): boolean {
    const step = this.chain.next();
    this.chain.take(step);
    if ("applied" in step) this.events.emit("block.applied", step.applied);
    else this.events.emit("block.reverted", step.reverted);
    return "applied" in step;
  }
}

/** A webhook, and what its target makes of it. */
interface Target {
  readonly path: string;
  readonly order: "first" | "strict";
  readonly confirmations: number;
  readonly listener: Listener;
  id: number;
  /** Whether it has said that it wants nothing more. */
  isTired: boolean;
}

const targetsOfAll = (): Target[] =>
  ([["first", 0], ["strict", 0], ["strict", activeDelegates]] as const).map(([order, confirmations]) => ({ path: `/${order}-${confirmations}`, order, confirmations, listener: new Listener(), id: 0, isTired: false }));

interface Setting {
  host: Host;
  bell: Bell;
  streams: (StreamFollower | ChangesFollower)[];
  steppers: (FeedFollower | ChangesFollower)[];
  targets: Target[];
  /** Whether targets may answer to a first attempt that they want nothing more: that disables the webhook. */
  tires: { may: boolean };
  random: () => number;
}

const ask = async <T>(api: string, path: string, body?: object, method: "POST" | "PATCH" = "POST"): Promise<T> => {
  const headers = { Authorization: token, "Content-Type": "application/json" };
  const reply = await request(`${api}${path}`, body === undefined ? { headers } : { headers, method, body: JSON.stringify(body) });
  return (await reply.body.json()) as T;
};

const begin = async (receiver: Receiver, seed: number): Promise<Setting> => {
  const [random, luck] = [randomFrom(seed), randomFrom(~seed)];
  const host = new Host(String(seed), seed);
  await host.begin();
  const bell = new Bell();
  const known: Known = new Map();
  const needs = (confirmations: number): FollowerNeeds => ({ api: host.api, confirmations, bell, known });
  const targets = targetsOfAll();
  const tires = { may: true };
  receiver.answer = ({ path, headers, body }, response) => {
    receiver.received.length = 0;
    const target = targets.find((one) => one.path === path);
    const isFirst = target?.listener.hear(String(headers["webhook-id"]), body);
    const chance = luck();
    const fails = chance < 0.2;
    if (!fails) target?.listener.take(body, target.order === "strict");
    const tired = target !== undefined && tires.may && isFirst === true && chance < 0.02;
    if (tired) target.isTired = true;
    response.writeHead(tired ? 410 : fails ? 500 : 204).end();
    bell.ring();
  };
  for (const target of targets) {
    const { order, confirmations, path } = target;
    target.id = (await ask<{ data: { id: number } }>(host.api, "/webhooks", { events: [...wanted, "booking.*"], from: "genesis", order, confirmations, target: `${receiver.url}${path}` })).data.id;
  }
  return {
    ...{ host, bell, targets, tires, random },
    streams: [new StreamFollower(needs(0)), new StreamFollower(needs(2)), new ChangesFollower(needs(0))],
    steppers: [new FeedFollower(needs(0)), new FeedFollower(needs(activeDelegates)), new ChangesFollower(needs(0))],
  };
};

/** Disables a webhook, or enables one that a client or its target had disabled. */
const turn = async (api: string, target: Target, enabled: boolean): Promise<void> => {
  const { id, listener } = target;
  // What arrives until it is disabled is forgotten, too.
  const isOff = async (): Promise<boolean> => !(await ask<{ data: { enabled: boolean } }>(api, `/webhooks/${id}`)).data.enabled;
  if (enabled && (target.isTired || (await isOff()))) listener.expectLapse();
  target.isTired = false;
  await ask(api, `/webhooks/${id}`, { enabled }, "PATCH");
  if (!enabled) listener.expectLapse();
};

/** A client asks for something of the past again: one of the last deliveries, or some blocks. */
const sendAgain = async ({ api, chain }: Host, { id }: Target, random: () => number): Promise<void> => {
  const one = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  if (random() < 0.5) {
    const from = 1 + Math.floor(random() * chain.blocks.length);
    // Refused where the webhook is disabled, or the node is not there yet.
    await ask(api, `/webhooks/${id}/replay`, { from, to: Math.min(chain.blocks.length, from + 3) });
    return;
  }
  const delivery = one((await ask<{ data: { id: number }[] }>(api, `/webhooks/${id}/deliveries?limit=20`)).data);
  // Refused where the chain has taken back what it tells of.
  if (delivery !== undefined) await ask(api, `/webhooks/${id}/deliveries/${delivery.id}/redeliver`, {});
};

const move = async ({ host, streams, steppers, targets, random }: Setting): Promise<void> => {
  const choice = random();
  if (choice < 0.5) {
    for (let steps = 1 + Math.floor(random() * 3); steps > 0; steps--) host.move();
    if (random() < 0.5) await host.plugin.settled();
  } else if (choice < 0.72) {
    const target = targets[Math.floor(random() * targets.length)];
    if (target === undefined) return;
    if (random() < 0.8) await turn(host.api, target, random() < 0.5);
    else await sendAgain(host, target, random);
  } else if (choice < 0.73) {
    await host.plugin.stop();
    await host.begin();
  } else if (choice < 0.84) {
    await steppers[Math.floor(random() * steppers.length)]?.step(1 + Math.floor(random() * 4));
  } else {
    const stream = streams[Math.floor(random() * streams.length)];
    if (random() < 0.5) stream?.connect();
    else await stream?.leave();
  }
};

/** What a client that was told of so many blocks of a chain should have. */
const expected = (host: Host, seen: number): { blocks: string[]; ledger: [string, bigint][] } => {
  const blocks = host.chain.blocks.slice(0, seen);
  return { blocks: blocks.map(({ id }) => id), ledger: sorted(ledgerOf(blocks.map(rules.parseBlock))) };
};

const compare = (host: Host, name: string, found: { blocks: readonly string[]; faults: readonly string[]; ledger: Ledger }, confirmations: number): void => {
  // Whoever waits for confirmations may have seen more than has them since a reorganisation.
  const seen = Math.max(found.blocks.length, host.chain.blocks.length - confirmations);
  expect(found.faults.join("\n"), `faults of ${name}`).to.equal("");
  const { blocks, ledger } = expected(host, seen);
  expect(found.blocks.join("\n"), `blocks of ${name}`).to.equal(blocks.join("\n"));
  expect(sorted(found.ledger).join("\n"), `ledger of ${name}`).to.equal(ledger.join("\n"));
};

const appliedBy = ({ onChain }: Listener): Set<string> => new Set([...onChain].filter(([subject, isOn]) => isOn && subject.startsWith("block ")).map(([subject]) => subject.slice("block ".length)));

/** All webhooks have seen the tip, and nothing is open. */
const isQuiet = async (api: string, targets: readonly Target[]): Promise<boolean> => {
  for (const { id, confirmations } of targets) {
    const { enabled, behind } = (await ask<{ data: { enabled: boolean; behind: number } }>(api, `/webhooks/${id}`)).data;
    if (!enabled || behind > confirmations) return false;
    for (const state of ["pending", "retrying"]) {
      if ((await ask<{ meta: { totalCount: number } }>(api, `/webhooks/${id}/deliveries?state=${state}&limit=1`)).meta.totalCount > 0) return false;
    }
  }
  return true;
};

const checkTargets = ({ host, targets }: Setting): void => {
  const { blocks } = host.chain;
  for (const { path, order, listener, confirmations } of targets) {
    const applied = appliedBy(listener);
    const ledger = new Map(listener.bookings.balances);
    const { publicKey, address } = actors.origin;
    ledger.set(address, (ledger.get(address) ?? 0n) + (listener.bookings.forged.get(publicKey) ?? 0n));
    // Without strict order, what counts is the last word on each block.
    const lastWords = [...blocks.map(({ id }) => id).filter((id) => applied.has(id)), ...[...applied].filter((id) => !blocks.some((block) => block.id === id))];
    compare(host, `the bookings of the webhook ${path}`, { blocks: order === "strict" ? listener.blocks : lastWords, faults: [], ledger: listener.booked }, confirmations);
    compare(host, `the webhook ${path}`, { blocks: order === "strict" ? listener.blocks : lastWords, faults: listener.faults, ledger }, confirmations);
  }
};

/** Until the webhooks have told of all that there is. */
const settleTargets = async (setting: Setting): Promise<void> => {
  const { host, targets, tires } = setting;
  tires.may = false;
  const isTold = ({ listener, confirmations }: Target): boolean => {
    const last = host.chain.blocks[host.chain.blocks.length - 1 - confirmations];
    return last === undefined || appliedBy(listener).has(last.id);
  };
  /** Whether a webhook has seen what does not have enough confirmations any more: of that it may have been told, or taken back, a part. The rest comes when it has. */
  const isPast = async ({ id, listener, confirmations }: Target): Promise<boolean> => {
    const { behind } = (await ask<{ data: { behind: number } }>(host.api, `/webhooks/${id}`)).data;
    const { blocks } = host.chain;
    const told = appliedBy(listener).size;
    // The next block on the chain, which was there before: a part of its reversal was told when it came back.
    const isHalfReverted = confirmations > 0 && blocks[told]?.transactions?.some(({ id: one }) => listener.onChain.get(`transaction ${one}`) === true) === true;
    return behind < confirmations || told > blocks.length - confirmations || isHalfReverted;
  };
  let rounds = 0;
  do {
    // One that never comes to what the chain is fails here.
    if (++rounds > 100) checkTargets(setting);
    // A node that was stopped before it had followed its host back learns of that with the next block.
    while (!host.move());
    do {
      // That a target wants nothing more may be recorded only now.
      for (const target of targets) await turn(host.api, target, true);
      await host.plugin.settled();
    } while (!targets.every(isTold) || !(await isQuiet(host.api, targets)));
  } while ((await Promise.all(targets.map(isPast))).includes(true));
  tires.may = true;
};

const check = async (setting: Setting): Promise<void> => {
  const { host, streams, steppers, bell } = setting;
  await settleTargets(setting);
  const { blocks } = host.chain;
  streams.forEach((stream) => stream.connect());
  for (const stepper of steppers) while (await stepper.step(100));
  for (const stream of streams) {
    const isThere = (): boolean => stream.blocks.length >= blocks.length - stream.needs.confirmations && stream.blocks.every((id, place) => id === blocks[place]?.id);
    // One whose connection was ending when it was told to connect.
    await bell.until(() => {
      stream.connect();
      return isThere();
    }, () => `${stream.name} is at ${stream.cursor}, not at ${blocks.length}-${String(blocks.at(-1)?.id)}`);
  }
  const followers: Follower[] = [...streams, ...steppers];
  for (const follower of followers) compare(host, follower.name, follower, follower.needs.confirmations);
  checkTargets(setting);
  expect(sorted(new Map(await balancesOfNode(host.api)))).to.deep.equal(expected(host, blocks.length).ledger);
};

describe("Clients of the stream, the feed, the changes and webhooks of a node whose host forks at random", () => {
  const schedules = count(3, 10_000);

  it(`end with its state, at any distance, through restarts, broken connections and targets that fail (${schedules} schedules)`, async () => {
    for (let first = 0; first < schedules; first += together) {
      const seed = seedOr(270) + first;
      const receiver = await createReceiver();
      const setting = await begin(receiver, seed);
      try {
        for (let schedule = 0; schedule < Math.min(together, schedules - first); schedule++) {
          for (let i = 0; i < moves; i++) await move(setting);
          await check(setting);
        }
      } catch (error) {
        if (error instanceof Error) error.message = `seed ${seed}: ${error.message}`;
        throw error;
      } finally {
        for (const stream of setting.streams) await stream.leave();
        await setting.host.plugin.stop();
        await receiver.close();
      }
    }
  });
});
