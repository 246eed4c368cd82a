import { expect } from "chai";
import type { Condition } from "../../types/webhooks.js";
import { createMatcher, type Matchable } from "../../src/webhooks/conditions/matcher.js";
import { createPatternWorker, type PatternWorker } from "../../src/webhooks/conditions/pattern.js";
import { leastTime } from "../fixtures/least-time.js";

const regexp = (value: string, key = "a"): Condition => ({ key, condition: "regexp", value });
const equal = (key: string, value: unknown): Condition => ({ key, condition: "eq", value });

/** Letters in no order, in which a pattern that counts finds the most states. */
const mixed = (length: number): string => {
  let state = 1;
  return Array.from({ length }, () => ((state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) < 1_073_741_824 ? "a" : "b")).join("");
};

describe("patterns on long texts", () => {
  let worker: PatternWorker;
  before(() => (worker = createPatternWorker()));
  after(() => worker.close());

  it("are tried in a thread, with the result that they have at once", async () => {
    const [found, missing] = [regexp("[ab]*a[ab]{21}d$"), regexp("[ab]*a[ab]{21}e$")];
    const drafts: [Matchable["match"], Condition[]][] = [
      ["any", [missing, found]],
      ["any", [missing, equal("a", "x")]],
      ["all", [found, missing]],
      ["all", [found, equal("b", 1)]],
      ["all", [found, equal("b", 2)]],
      ["any", [equal("b", 1), found]],
      ["any", []],
    ];
    const webhooks = drafts.map(([match, conditions], id): Matchable => ({ id, events: ["one"], enabled: true, match, conditions }));
    const payload = { a: `${"ab".repeat(500)}d`, b: 1 };
    const atOnce = createMatcher(webhooks, Infinity).match("one", payload);
    expect(atOnce).to.deep.equal({ ids: [0, 3, 5, 6], undecided: [] });

    const { ids, undecided } = createMatcher(webhooks, 1).match("one", payload);
    expect(ids).to.deep.equal([5, 6]);
    expect(undecided.map(({ id }) => id), "those that no other condition decides").to.have.members([0, 1, 2, 3]);
    const decided = await Promise.all(undecided.map(async ({ id, decide }) => ((await decide(worker)) ? [id] : [])));
    expect(decided.flat().sort()).to.deep.equal([0, 3]);
  });

  it("hold the event loop for less than 20 ms where 20 webhooks have the worst pattern and the text has 60 KB", () => {
    const webhooks = Array.from({ length: 20 }, (_unused, id): Matchable => ({ id, events: ["one"], enabled: true, match: "any", conditions: [regexp("[ab]*a[ab]{990}[cd]")] }));
    const matcher = createMatcher(webhooks);
    const payload = { a: mixed(60_000) };
    matcher.match("one", { a: "warm" });
    expect(leastTime(20, () => matcher.match("one", payload))).to.be.below(20);
    const { ids, undecided } = matcher.match("one", payload);
    expect([ids, undecided.length]).to.deep.equal([[], 20]);
  });

  it("are rejected when the worker is closed meanwhile, and tried again by another", async () => {
    const closing = createPatternWorker();
    const answer = closing.test("[ab]*a[ab]{990}[cd]", mixed(60_000)).then(String, (error: unknown) => (error as Error).message);
    await closing.close();
    expect(await answer).to.equal("The engine has stopped.");
    expect(await worker.test("^order \\d+$", "order 42")).to.equal(true);
  });
});

describe("the index of conditions", () => {
  const block = Array.from({ length: 150 }, (_unused, index) => ({ id: `t${index}`, addresses: [`A${index * 7}`, `A${index * 11 + 3}`], senderId: `A${index * 7}`, amount: String(index) }));

  const longest = (webhooks: Matchable[]): { milliseconds: number; matched: number } => {
    const matcher = createMatcher(webhooks);
    let matched = 0;
    const milliseconds = leastTime(5, () => {
      matched = 0;
      for (const transaction of block) matched += matcher.match("transaction.applied", transaction).ids.length;
    });
    return { milliseconds, matched };
  };

  const common = { events: ["transaction.applied"], enabled: true, match: "any" } as const;
  const addresses = (count: number): string[] => Array.from({ length: count }, (_unused, index) => `A${index}`);

  for (const condition of ["addresses.* eq", "addresses contains", "addresses.* in"]) {
    it(`matches a block of 150 transactions for 10,000 webhooks of one address each (${condition}) within 5 ms`, () => {
      const [key = "", operator = ""] = condition.split(" ");
      const webhooks = addresses(10_000).map((value, id): Matchable => ({ ...common, id, conditions: [{ key, condition: operator as "eq", value: operator === "in" ? [value] : value }] }));
      const { milliseconds, matched } = longest(webhooks);
      expect(matched).to.be.within(290, 300);
      expect(milliseconds).to.be.below(5);
    });
  }

  it("matches a block of 150 transactions for one webhook of 100,000 addresses within 5 ms", () => {
    const { milliseconds, matched } = longest([{ ...common, id: 1, conditions: [{ key: "addresses.*", condition: "in", value: addresses(100_000) }] }]);
    expect(matched).to.equal(150);
    expect(milliseconds).to.be.below(5);
  });

  it("finds a webhook once where a payload has several of its values, and all of its conditions where all must hold", () => {
    const conditions: Condition[] = [
      { key: "addresses.*", condition: "in", value: ["a", "b"] },
      { key: "n", condition: "eq", value: 1 },
    ];
    const matcher = createMatcher([{ ...common, id: 1, match: "all", conditions }]);
    expect(matcher.match("transaction.applied", { addresses: ["a", "b"], n: 2 }).ids).to.deep.equal([]);
    expect(matcher.match("transaction.applied", { addresses: ["a", "b"], n: 1 }).ids).to.deep.equal([1]);
    matcher.put(1, undefined);
    expect(matcher.match("transaction.applied", { addresses: ["a", "b"], n: 1 }).ids).to.deep.equal([]);
  });
});
