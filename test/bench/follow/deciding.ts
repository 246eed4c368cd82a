import { performance } from "node:perf_hooks";
import { setImmediate as nextTurn } from "node:timers/promises";
import { transactionPayload } from "../../../src/follow/payload.js";
import { createMatcher, type Matchable } from "../../../src/webhooks/conditions/matcher.js";
import { createPatternWorker } from "../../../src/webhooks/conditions/pattern.js";
import { median } from "../load/statistics.js";
import type { Row } from "../table/row.js";
import { createEndlessChain, rules } from "./endless-chain.js";
import { watchHolds } from "./holds.js";

const addresses = 100_000;
const transactions = 150;
const blocks = 40;

/** Milliseconds in which a block of 150 is matched, in the middle of many. */
const matching = async (webhooks: readonly Matchable[]): Promise<number> => {
  const matcher = createMatcher(webhooks);
  const view = await createEndlessChain(transactions, { begin: blocks }).changes.view();
  const times: number[] = [];
  for (let height = 1; height <= blocks; height++) {
    const [kept] = (await view?.blocks(height, 1)) ?? [];
    const payloads = (kept?.transactions ?? []).map((transaction) => transactionPayload(transaction, rules));
    const begun = performance.now();
    for (const payload of payloads) matcher.match("transaction.applied", payload);
    times.push(performance.now() - begun);
  }
  return median(times);
};

const webhook = (id: number, value: readonly string[]): Matchable => ({ id, events: ["transaction.applied"], enabled: true, match: "any", conditions: [{ key: "recipientId", condition: "in", value: [...value] }] });

/** Long lists of addresses, and many webhooks of one. */
export const measureLists = async (): Promise<Row[]> => {
  const all = Array.from({ length: addresses }, (_, index) => `A${index}`);
  const row = (what: string, figure: number): Row => ({ group: "following", what: `a block of ${transactions} transactions matched against ${what}`, figure, unit: "ms", against: "limit", peer: 5, ratio: figure / 5, goal: { atMost: 1 } });
  return [
    row("one webhook with 100,000 addresses in `in`", await matching([webhook(1, all)])),
    row("10,000 webhooks with one address each", await matching(all.slice(0, 10_000).map((address, index) => webhook(index + 1, [address])))),
  ];
};

/** The worst pattern that is allowed, on a long text, for twenty webhooks: the event loop goes on, and a thread decides. */
export const measurePatterns = async (): Promise<Row> => {
  const webhooks = Array.from({ length: 20 }, (_, id): Matchable => ({ id, events: ["one"], enabled: true, match: "any", conditions: [{ key: "text", condition: "regexp", value: "[ab]*a[ab]{990}[cd]" }] }));
  const matcher = createMatcher(webhooks);
  const worker = createPatternWorker();
  matcher.match("one", { text: "warm" });
  const longest = watchHolds();
  await nextTurn();
  const [first] = matcher.match("one", { text: Array.from({ length: 60_000 }, (_, index) => "ab"[(index * 7_919) % 13 % 2]).join("") }).undecided;
  await first?.decide(worker);
  const figure = longest().clock;
  await worker.close();
  return { group: "following", what: "20 webhooks with the worst pattern on a text of 60 KB: longest hold of the event loop", figure, unit: "ms", against: "limit", peer: 20, ratio: figure / 20, goal: { atMost: 1 } };
};
