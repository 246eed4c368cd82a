import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EventEmitter } from "eventemitter3";
import { addressOf } from "../../../src/chain/address.js";
import { createChainRules } from "../../../src/chain/rules.js";
import { type Actor, actors } from "../../../src/conformance/chain/actors.js";
import { createChainMaker, fakeHash, networkOf, registration, transfer, vote } from "../../../src/conformance/chain/chain-maker.js";
import { appliedChange } from "../../../src/follow/derive.js";
import { createApiPlugin } from "../../../src/index.js";
import { createMatcher } from "../../../src/webhooks/conditions/matcher.js";
import type { BlockData } from "../../../types/events.js";
import { firstMilestone } from "../../first-milestone.js";
import { silentLogger } from "../../silent.js";
import { cpuTime } from "../processes/usage.js";
import { watchHolds } from "../follow/holds.js";
import { median } from "../load/statistics.js";
import type { Measure, Run } from "../measure.js";
import { limited, type Row } from "../table.js";

const group = "money";
const voters = 1_000;
const delegates = 51;
const blocksOfDay = 86_400 / 8;

const actorOf = (name: string): Actor => {
  const publicKey = `02${fakeHash(`bench ${name}`, 64)}`;
  return { name, publicKey, address: addressOf(publicKey, 23) };
};

/** A delegate with 1,000 voters, whose balances move, and 50 others that forge in turn with it. */
const chainOf = (days: number): { blocks: readonly BlockData[]; forger: Actor } => {
  const people = Array.from({ length: voters }, (_, index) => actorOf(`voter ${index}`));
  const forgers = Array.from({ length: delegates }, (_, index) => actorOf(`delegate ${index}`));
  const [forger] = forgers as [Actor];
  const maker = createChainMaker([{ ...firstMilestone(delegates), reward: 200_000_000 }]);
  const paid = [...people, ...forgers].map((each, index) => transfer(actors.origin, each, 10n ** 13n + BigInt(index), { version: 1, fee: 0n }));
  maker.add({ generator: actors.origin, transactions: paid });
  maker.add({ generator: forger, transactions: forgers.map((each, index) => registration(each, `delegate_${index}`)) });
  for (let from = 0; from < voters; from += 100) maker.add({ generator: forger, transactions: people.slice(from, from + 100).map((each) => vote(each, [["+", forger]])) });
  while (maker.blocks.length < days * blocksOfDay) {
    const height = maker.blocks.length;
    const [one, other] = [people[(height * 7) % voters], people[(height * 13 + 1) % voters]] as [Actor, Actor];
    maker.add({ generator: forgers[height % delegates] as Actor, transactions: height % 4 === 0 ? [transfer(one, other, 1_000_000n)] : [] });
  }
  return { blocks: maker.blocks, forger };
};

/** Milliseconds of each of some requests, one after the other, until the signal aborts. */
const latencies = async (url: string, signal: AbortSignal): Promise<number[]> => {
  const found: number[] = [];
  while (!signal.aborted) {
    const begun = performance.now();
    await (await fetch(url)).arrayBuffer();
    found.push(performance.now() - begun);
  }
  return found.sort((one, other) => one - other);
};

const p99 = (sorted: readonly number[]): number => sorted[Math.floor(sorted.length * 0.99)] ?? 0;

/** What a day, or a month, of a delegate with 1,000 voters takes, and what others notice of it. */
const measureRewards = async (what: string, days: number, most: number, { say }: Run): Promise<Row[]> => {
  say(`money: rewards of ${what}`);
  const { blocks, forger } = chainOf(days);
  const dataDir = mkdtempSync(join(tmpdir(), "portico-bench-money-"));
  const plugin = createApiPlugin({
    network: networkOf(blocks[0] as BlockData),
    events: new EventEmitter(),
    dataDir,
    blocks: { read: (from, limit) => blocks.slice(from - 1, from - 1 + limit), height: () => blocks.length },
    logger: silentLogger,
    options: { webhooks: false, rateLimit: false, cacheSize: 0 },
  });
  try {
    const server = await plugin.listen(0);
    if (!server.listening) await once(server, "listening");
    await plugin.settled();
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
    const idle = p99(await latencies(`${url}/wallets/${forger.address}`, AbortSignal.timeout(1_000)));
    const ask = async () => (await (await fetch(`${url}/delegates/${forger.publicKey}/rewards`)).json()) as { data: { blocks: number; voters: unknown[] } };
    const begun = performance.now();
    const answer = await ask();
    const spent = performance.now() - begun;
    const during = new AbortController();
    const others = latencies(`${url}/wallets/${forger.address}`, during.signal);
    const holds = watchHolds();
    await ask();
    const { work } = holds();
    during.abort();
    const busy = p99(await others);
    const note = `${answer.data.blocks} of ${blocks.length.toLocaleString("en")} blocks, ${answer.data.voters.length} voters`;
    return [
      limited({ group, what: `rewards of ${what} for 1,000 voters`, figure: spent / 1_000, unit: "s", note }, most),
      limited({ group, what: `what rewards of ${what} hold the loop for`, figure: work, unit: "ms", note: "of processor time" }, 25),
      { group, what: `p99 of others during rewards of ${what}`, figure: busy, unit: "ms", against: "idle", peer: idle, ratio: busy / idle, goal: { atMost: 3 } },
    ];
  } finally {
    await plugin.stop();
    rmSync(dataDir, { recursive: true });
  }
};

/** Microseconds of processor time, the middle of some tries. */
const timed = (tries: number, work: () => void): number =>
  median(
    Array.from({ length: tries }, () => {
      const begun = cpuTime();
      work();
      return cpuTime() - begun;
    }),
  );

/** The events of a block of 150 transfers, with bookings and without, and what it takes to find 100,000 addresses among them. */
const measureBookings = ({ say }: Run): Row[] => {
  say("money: bookings of a block of 150");
  const people = Array.from({ length: 300 }, (_, index) => actorOf(`person ${index}`));
  const maker = createChainMaker([firstMilestone(1)]);
  const first = maker.add({ generator: actors.origin, transactions: people.map((each) => transfer(actors.origin, each, 10n ** 12n, { version: 1, fee: 0n })) });
  const block = maker.add({ generator: actors.origin, transactions: Array.from({ length: 150 }, (_, index) => transfer(people[index] as Actor, people[299 - index] as Actor, 5n)) });
  const rules = createChainRules(networkOf(first));
  const full = rules.parseBlock(block);
  const change = () => appliedChange(full, undefined, rules);
  const plain = timed(101, () => void change().events.length);
  const booked = timed(101, () => void change().eventsWithBookings.map(({ data }) => data));
  const value = Array.from({ length: 100_000 }, (_, index) => (index < 300 ? (people[index] as Actor).address : `A${index}`));
  const matcher = createMatcher([{ id: 1, events: ["booking.applied"], enabled: true, match: "all", conditions: [{ key: "address", condition: "in", value }, { key: "in", condition: "gt", value: "0" }] }]);
  const matched = timed(101, () => {
    for (const { event, data } of change().eventsWithBookings) if (matcher.listens(event)) matcher.match(event, data);
  });
  return [
    { group, what: "events of a block of 150, nobody asks for bookings", figure: plain, unit: "µs", against: "with bookings", peer: booked, ratio: plain / booked, note: "nothing of bookings is computed" },
    limited({ group, what: "bookings of a block of 150 for a webhook with 100,000 addresses", figure: matched / 1_000, unit: "ms", note: "made and matched" }, 5),
  ];
};

/** What money takes: bookings of blocks, and rewards of a day and a month. */
export const measureMoney: Measure = async (run) => [
  ...measureBookings(run),
  ...(await measureRewards("a day", 1, 1, run)),
  ...(run.quick ? [] : await measureRewards("a month", 30, 20, run)),
];
