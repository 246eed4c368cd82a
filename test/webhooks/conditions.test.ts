import fc from "fast-check";
import { expect } from "chai";
import { isNamePattern, namesEvent } from "../../src/follow/event-names.js";
import { combine, compileCondition, explain, operatorNames, operators, subjectsAt } from "../../src/webhooks/conditions/conditions.js";
import { jsonLength, valuesAt } from "../../src/webhooks/conditions/json-value.js";
import { createMatcher, type Matchable } from "../../src/webhooks/conditions/matcher.js";
import { compilePattern } from "../../src/webhooks/conditions/pattern.js";
import type { Condition, ConditionResult, Operator } from "../../types/webhooks.js";

/** Cases for each operator: the payload's value, the condition's value, and whether the condition holds. */
const cases: Record<Operator, [actual: unknown, value: unknown, holds: boolean][]> = {
  eq: [
    ["a", "a", true],
    ["a", "b", false],
    [7, 7, true],
    [7, "7", true],
    ["7", 7, true],
    ["12500000000000000001", 12500000000000000001n, true],
    ["12500000000000000001", 12500000000000000000n, false],
    ["07", 7, false],
    ["07", "7", false],
    [0.1, "0.1", true],
    [1e21, "1000000000000000000000", true],
    [true, true, true],
    [true, "true", false],
    [null, null, true],
    [null, "null", false],
    [{ a: 1, b: [2, "x"] }, { b: ["2", "x"], a: "1" }, true],
    [{ a: 1 }, { a: 1, b: 2 }, false],
    [[1, 2], [1, 2], true],
    [[1, 2], [2, 1], false],
    [[], {}, false],
    [{ 'a":1,"b': 1 }, { a: 1, b: 1 }, false],
  ],
  ne: [
    ["a", "a", false],
    ["a", "b", true],
    [7, "7", false],
    [{ a: 1 }, { a: 2 }, true],
  ],
  gt: [
    [2, 1, true],
    [1, 1, false],
    ["681877755", "2500000000", false],
    ["12500000000000000002", "12500000000000000001", true],
    ["12500000000000000001", 12500000000000000001n, false],
    ["10", 9, true],
    ["0.10", "0.1", false],
    ["-2", "-10", true],
    ["b", "a", true],
    ["Z", "a", false],
    ["abc", "5", false],
    ["abc", 5, false],
    [5, "abc", false],
    [true, 0, false],
    [null, -1, false],
    [[2], 1, false],
    [["b"], "a", false],
    ["abc", "12", false],
  ],
  gte: [
    [1, 1, true],
    ["1.0", 1, true],
    ["a", "a", true],
    ["a", true, false],
    [0, 1, false],
    [null, 0, false],
  ],
  in: [
    ["a", ["b", "a"], true],
    ["a", ["b"], false],
    ["a", [], false],
    [7, ["7"], true],
    ["12500000000000000001", [12500000000000000001n], true],
    [["a"], ["a"], false],
    [null, ["null"], false],
  ],
  lt: [
    [1, 2, true],
    [2, 2, false],
    ["9", "10", true],
    ["a", "b", true],
    [null, 1, false],
    ["12", "abc", false],
  ],
  lte: [
    ["a", "a", true],
    ["b", "a", false],
    [2, 2, true],
    [3, 2, false],
    ["99999999999999999999", "100000000000000000000", true],
    [false, 1, false],
  ],
  between: [
    [2, { min: 1, max: 3 }, true],
    [1, { min: 1, max: 3 }, false],
    [3, { min: 1, max: 3 }, false],
    ["200", { min: "100", max: "3000" }, true],
    ["b", { min: "a", max: "c" }, true],
    ["x", { min: 1, max: 3 }, false],
    [null, { min: -1, max: 1 }, false],
  ],
  "not-between": [
    [2, { min: 1, max: 3 }, false],
    [1, { min: 1, max: 3 }, true],
    [3, { min: 1, max: 3 }, true],
    ["x", { min: 1, max: 3 }, true],
    [null, { min: -1, max: 1 }, true],
  ],
  contains: [
    ["order 42", "42", true],
    ["order 42", 42, true],
    ["order 42", "43", false],
    [["a", "b"], "b", true],
    [["a", 7], "7", true],
    [[{ a: 1 }], { a: 1 }, true],
    [["ab"], "a", false],
    [{ a: 1 }, "a", false],
    [42, "4", false],
    [null, "null", false],
    ["undefined", { a: 1 }, false],
  ],
  regexp: [
    ["order 42", "^order \\d+$", true],
    ["order x", "^order \\d+$", false],
    ["ORDER", "(?i)order", true],
    [42, "^42$", true],
    [12_500_000_000_000_000_001n, "^125.*1$", true],
    [true, "^true$", true],
    [["42"], "42", false],
    [null, "null", false],
    ["a/b", "a\\/b", true],
  ],
  truthy: [
    [true, undefined, true],
    ["true", undefined, false],
    [1, undefined, false],
  ],
  falsy: [
    [false, undefined, true],
    [0, undefined, false],
    ["", undefined, false],
    [null, undefined, false],
  ],
};

const holds = (condition: Condition, payload: unknown): boolean => {
  const compiled = compileCondition(condition);
  return compiled.test(subjectsAt(payload, compiled));
};

const explained = (condition: Condition, payload: unknown): ConditionResult => {
  const compiled = compileCondition(condition);
  const subjects = subjectsAt(payload, compiled);
  return explain(compiled, subjects, compiled.test(subjects));
};

const text = (value: unknown): string =>
  value === undefined ? "nothing" : JSON.stringify(value, (_key, member: unknown) => (typeof member === "bigint" ? `${member}n` : member));

describe("conditions", () => {
  for (const name of operatorNames) {
    describe(name, () => {
      for (const [actual, value, expected] of cases[name]) {
        it(`${expected ? "holds" : "fails"} for ${text(actual)} with ${text(value)}`, () => {
          expect(holds({ key: "it", condition: name, value }, { it: actual })).to.equal(expected);
        });
      }
      it(`${["ne", "not-between"].includes(name) ? "holds" : "fails"} when the key is missing`, () => {
        const value = cases[name][0]?.[1];
        expect(holds({ key: "it", condition: name, value }, { other: 1 })).to.equal(name === "ne" || name === "not-between");
      });
    });
  }

  it("make not-between the exact complement of between, for any values", () => {
    const scalar = fc.oneof(fc.integer(), fc.string(), fc.bigInt().map(String), fc.boolean(), fc.constant(null));
    const bound = fc.oneof(fc.integer(), fc.string(), fc.bigInt());
    fc.assert(
      fc.property(scalar, bound, bound, (it, min, max) => {
        const value = { min, max };
        expect(holds({ key: "it", condition: "not-between", value }, { it })).to.equal(!holds({ key: "it", condition: "between", value }, { it }));
      }),
    );
  });

  describe("keys", () => {
    const payload = { asset: { votes: ["+a", "-b"], "x.y": 1 }, "asset.votes": "direct", list: [[1, 2]], pairs: [{ x: 1 }, { y: 2 }, { x: 3 }, 4], deep: { a: { b: { c: 5 } } } };
    for (const [key, ...found] of [
      ["deep.a.b.c", 5],
      ["asset.votes", "direct"],
      ["asset.votes.0", "+a"],
      ["asset.votes.1", "-b"],
      ["list.0.1", 2],
      ["asset.votes.2"],
      ["asset.votes.length"],
      ["list.length"],
      ["deep.a.b.c.d"],
      ["constructor"],
      ["__proto__"],
      ["deep.__proto__.polluted"],
      ["deep.hasOwnProperty"],
      [""],
      ["asset.votes.*", "+a", "-b"],
      ["list.*.*", 1, 2],
      ["list.*", [1, 2]],
      ["list.0.*", 1, 2],
      ["deep.*"],
      ["pairs.*.x", 1, 3],
      ["asset.*"],
      ["*"],
    ] as const) {
      it(`reads "${key}"`, () => {
        expect(valuesAt(payload, key, key.split("."))).to.deep.equal(found);
      });
    }
    for (const payload of [null, "text", 5, undefined]) {
      it(`finds nothing in ${String(payload)}`, () => {
        expect(valuesAt(payload, "length", ["length"])).to.deep.equal([]);
      });
    }
  });

  it("run any accepted pattern in linear time", () => {
    const condition: Condition = { key: "it", condition: "regexp", value: "(a+)+$" };
    const before = process.cpuUsage();
    expect(holds(condition, { it: `${"a".repeat(50_000)}b` })).to.equal(false);
    expect(process.cpuUsage(before).user).to.be.below(2_000_000);
  });

  for (const pattern of ["[", "(?=a)", "(a)\\1", "(a{1000}){1000}", "*"]) {
    it(`refuse the pattern ${pattern}`, () => {
      expect(() => compileCondition({ key: "it", condition: "regexp", value: pattern })).to.throw();
    });
  }

  it("explain what they find by its beginning if it is long", () => {
    const long = "x".repeat(300);
    const { actual, reason, value } = explained({ key: "a", condition: "eq", value: long }, { a: [long] });
    expect(actual).to.equal(undefined);
    expect(value).to.equal(long);
    expect(reason).to.equal(`"a" does not fulfil "equals the value" ("${"x".repeat(199)}…): it is ["${"x".repeat(198)}…`);
    expect(explained({ key: "a", condition: "truthy" }, { a: "x".repeat(198) }).actual).to.have.length(198);
    expect(explained({ key: "a", condition: "truthy" }, { a: "x".repeat(199) })).not.to.have.property("actual");
  });

  it("explain which of them hold, and why others do not", () => {
    expect(explained({ key: "amount", condition: "gt", value: 500 }, { amount: "100" })).to.deep.equal({
      key: "amount",
      condition: "gt",
      value: 500,
      holds: false,
      actual: "100",
      reason: '"amount" does not fulfil "is greater than the value" (500): it is "100"',
    });
    expect(explained({ key: "amount", condition: "ne", value: 12500000000000000001n }, {})).to.deep.equal({
      key: "amount",
      condition: "ne",
      value: 12500000000000000001n,
      holds: true,
      reason: '"amount" fulfils "does not equal the value" ("12500000000000000001"): the payload has nothing there',
    });
  });
});

describe("the matcher", () => {
  it("reads what is at a key once or twice, however many conditions test it", () => {
    let reads = 0;
    const item = {
      get a() {
        reads++;
        return 1;
      },
    };
    const conditions = operatorNames.flatMap((condition): Condition[] => {
      const value = { between: { min: 1, max: 2 }, "not-between": { min: 1, max: 2 }, in: ["x"] }[condition as string] ?? "x";
      return ["x", "y"].map((key) => ({ key, condition, value }));
    });
    const matcher = createMatcher(Array.from({ length: 50 }, (_unused, id) => ({ id, events: ["one"], enabled: true, match: "all", conditions })));
    expect(matcher.match("one", { x: [item] }).ids).to.deep.equal([]);
    // Once to compare the array, once to look for an element.
    expect(reads).to.equal(2);
  });

  const value = fc.oneof(
    fc.constantFrom("a", "b", "10", "9", "12500000000000000001"),
    fc.integer({ min: -3, max: 11 }),
    fc.constantFrom<unknown>(12500000000000000001n, true, false, null, [1, "a"], { x: 1 }),
  );
  const conditionOf: fc.Arbitrary<Condition> = fc
    .record({ key: fc.constantFrom("a", "b", "a.0", "a.*", "c.d"), condition: fc.constantFrom(...operatorNames), value, min: fc.integer(), max: fc.integer() })
    .map(({ key, condition, value, min, max }) => {
      const { form } = operators[condition];
      if (form === "range") return { key, condition, value: { min, max } };
      if (form === "list") return { key, condition, value: [5, "a", ...(typeof value === "string" ? [value] : [])] };
      if (form === "pattern") return { key, condition, value: "^[a1]" };
      return { key, condition, value: form === "scalar" && (typeof value === "object" || typeof value === "boolean") ? 5 : value };
    });
  const webhook = fc.record({
    events: fc.constantFrom(["one.a"], ["two"], ["two", "one.*"], ["one.b", "one.a"], ["*"], ["one.*"]),
    enabled: fc.boolean(),
    match: fc.constantFrom<("any" | "all")[]>("any", "all"),
    conditions: fc.array(conditionOf, { maxLength: 4 }),
  });
  const payload = fc.record({ a: value, b: value, c: fc.record({ d: value }) }, { requiredKeys: [] });

  it("finds exactly the webhooks that testing each condition of each webhook finds", () => {
    fc.assert(
      fc.property(fc.array(webhook, { maxLength: 12 }), fc.array(payload, { minLength: 1, maxLength: 4 }), (drafts, payloads) => {
        const webhooks: Matchable[] = drafts.map((draft, index) => ({ id: index + 1, ...draft }));
        const matcher = createMatcher(webhooks);
        for (const one of payloads) {
          for (const event of ["one.a", "two", "three"]) {
            const expected = webhooks.filter(
              (hook) => hook.enabled && namesEvent(hook.events, event) && combine(hook.conditions.map((condition) => holds(condition, one)), hook.match),
            );
            expect(matcher.match(event, one).ids).to.deep.equal(expected.map(({ id }) => id));
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  /** Tries a pattern as the worker does, but here. */
  const trier = { test: (pattern: string, tried: string) => Promise.resolve(compilePattern(pattern).test(tried)) };

  it("finds the same webhooks however few patterns it may try at once: each is named, or decided later by what is left", async () => {
    const pattern: fc.Arbitrary<Condition> = fc.record({ key: fc.constantFrom("a", "b", "list.*"), condition: fc.constant("regexp" as const), value: fc.constantFrom("^a", "a$", "b+", "[ab]{2,3}", "1|x") });
    const other: fc.Arbitrary<Condition> = fc.record({ key: fc.constantFrom("a", "n"), condition: fc.constantFrom("eq" as const, "ne" as const), value: fc.constantFrom("a", "1") });
    const hook = fc.record({ match: fc.constantFrom<("any" | "all")[]>("any", "all"), conditions: fc.array(fc.oneof(pattern, pattern, other), { minLength: 1, maxLength: 5 }) });
    const word = fc.oneof(fc.stringMatching(/^[ab1x]{0,4}$/), fc.constantFrom(1, true, null, ["a"]));
    const tried = fc.record({ a: word, b: word, n: fc.constantFrom("1", 1, 2), list: fc.array(word, { maxLength: 3 }) }, { requiredKeys: [] });
    const least = fc.constantFrom(0, 3, 10, 25, 60, 200, Infinity);
    let later = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(hook, { maxLength: 8 }), fc.array(tried, { minLength: 1, maxLength: 3 }), least, async (drafts, payloads, mostInline) => {
        const hooks: Matchable[] = drafts.map((draft, index) => ({ id: index + 1, events: ["one"], enabled: true, ...draft }));
        const matcher = createMatcher(hooks, mostInline);
        for (const one of payloads) {
          const { ids, undecided } = matcher.match("one", one);
          const decided = await Promise.all(undecided.map(async ({ id, decide }) => ((await decide(trier)) ? [id] : [])));
          later += decided.flat().length;
          const expected = hooks.filter(({ conditions, match }) => combine(conditions.map((condition) => holds(condition, one)), match)).map(({ id }) => id);
          expect([...ids, ...decided.flat()].sort((first, second) => first - second)).to.deep.equal(expected);
        }
      }),
      { numRuns: 200 },
    );
    expect(later).to.be.above(20);
  });

  it("tries patterns at once up to a cost of instructions times characters, of one event after the other, and leaves others to be decided", async () => {
    const [value, tried] = ["^[ab]+c", "ababab"];
    const cost = compilePattern(value).programSize() * tried.length;
    const hook = (id: number, ...conditions: Condition[]): Matchable => ({ id, events: ["one"], enabled: true, match: "all", conditions });
    const isPattern: Condition = { key: "a", condition: "regexp", value };
    const undecidedOf = (mostInline: number, ...hooks: Matchable[]) => {
      const matcher = createMatcher(hooks, mostInline);
      const look = (): number[] => matcher.match("one", { a: tried, n: 1, list: [tried, 5] }).undecided.map(({ id }) => id);
      const first = look();
      expect(look(), "each event anew").to.deep.equal(first);
      return first;
    };
    expect(undecidedOf(cost, hook(1, isPattern))).to.deep.equal([]);
    expect(undecidedOf(cost - 1, hook(1, isPattern))).to.deep.equal([1]);
    expect(undecidedOf(2 * cost, hook(1, isPattern), hook(2, isPattern))).to.deep.equal([]);
    expect(undecidedOf(2 * cost - 1, hook(1, isPattern), hook(2, isPattern))).to.deep.equal([2]);
    // Numbers count as the texts that they are; all elements count.
    const inList: Condition = { key: "list.*", condition: "regexp", value };
    const costOfList = (cost / tried.length) * (tried.length + 1);
    expect(undecidedOf(costOfList, hook(1, inList))).to.deep.equal([]);
    expect(undecidedOf(costOfList - 1, hook(1, inList))).to.deep.equal([1]);
    // Where another condition decides already, no pattern has to.
    expect(undecidedOf(0, hook(1, isPattern, { key: "n", condition: "eq", value: 2 }))).to.deep.equal([]);
    expect(undecidedOf(0, { ...hook(1, isPattern, { key: "n", condition: "gt", value: 0 }), match: "any" })).to.deep.equal([]);

    let asked = 0;
    const counting = { test: () => Promise.resolve(++asked > 99) };
    const decided = createMatcher([hook(1, isPattern, { ...isPattern, key: "list.*" })], 0).match("one", { a: tried, list: [tried, tried] }).undecided;
    expect(await Promise.all(decided.map(({ decide }) => decide(counting)))).to.deep.equal([false]);
    expect(asked, "the first has failed: the second cannot help").to.equal(1);
  });

  it("gives the same result after any changes as a matcher built anew", () => {
    const changes = fc.array(fc.record({ id: fc.integer({ min: 1, max: 6 }), draft: fc.option(webhook, { nil: undefined }) }), { maxLength: 30 });
    fc.assert(
      fc.property(changes, fc.array(payload, { minLength: 1, maxLength: 3 }), (list, payloads) => {
        const changed = createMatcher();
        const left = new Map<number, Matchable>();
        for (const { id, draft } of list) {
          changed.put(id, draft && { id, ...draft });
          if (draft === undefined) left.delete(id);
          else left.set(id, { id, ...draft });
        }
        const anew = createMatcher(left.values());
        for (const event of ["one.a", "one.b", "two"]) {
          expect(changed.listens(event)).to.equal(anew.listens(event));
          for (const one of payloads) expect(changed.match(event, one)).to.deep.equal(anew.match(event, one));
        }
      }),
      { numRuns: 200 },
    );
  });

  for (const [condition, value, payloads] of [
    ["eq", "a", ["a"]],
    ["in", ["a", "b"], ["a", "b"]],
    ["contains", "a", [["a"], "an a in a text"]],
    ["gt", 5, [6]],
  ] as const) {
    it(`finds a webhook by "${condition}" for as long as it has that condition, whichever others have the same`, () => {
      const hook = (id: number, wanted: unknown): Matchable => ({ id, events: ["one"], enabled: true, match: "any", conditions: [{ key: "it", condition, value: wanted }] });
      const other = { eq: "z", in: ["z"], contains: "z", gt: 9 }[condition];
      const found = (it: unknown): number[] => matcher.match("one", { it }).ids;
      const matcher = createMatcher([hook(1, value), hook(2, value), hook(3, value)]);
      const expectFound = (ids: number[]): void => payloads.forEach((it) => expect(found(it)).to.deep.equal(ids));
      expectFound([1, 2, 3]);
      matcher.put(2, undefined);
      expectFound([1, 3]);
      matcher.put(1, hook(1, other));
      expectFound([3]);
      matcher.put(3, { ...hook(3, value), enabled: false });
      expectFound([]);
      matcher.put(2, hook(2, value));
      expectFound([2]);
      matcher.put(1, hook(1, value));
      expectFound([1, 2]);
    });
  }

  it("returns a webhook once when two of its conditions hold", () => {
    const conditions: Condition[] = [
      { key: "a", condition: "eq", value: 1 },
      { key: "a", condition: "gt", value: 0 },
    ];
    expect(createMatcher([{ id: 1, events: ["one"], enabled: true, match: "any", conditions }]).match("one", { a: 1 }).ids).to.deep.equal([1]);
  });

  it("reports listeners only for events of enabled webhooks", () => {
    const matcher = createMatcher([
      { id: 1, events: ["one"], enabled: true, match: "any", conditions: [] },
      { id: 2, events: ["two"], enabled: false, match: "any", conditions: [] },
    ]);
    expect(["one", "two", "three"].map(matcher.listens)).to.deep.equal([true, false, false]);
  });

  it("still matches other webhooks when one has a pattern that no longer compiles", () => {
    const conditions: Condition[] = [{ key: "a", condition: "regexp", value: "[" }];
    const matcher = createMatcher([
      { id: 1, events: ["one"], enabled: true, match: "any", conditions },
      { id: 2, events: ["one"], enabled: true, match: "any", conditions: [] },
    ]);
    expect(matcher.match("one", { a: "[" })).to.deep.equal({ ids: [2], undecided: [] });
  });

  it("takes webhooks in and out in slices, after which all is as if it had been done at once", () => {
    const conditions: Condition[] = [{ key: "a", condition: "in", value: Array.from({ length: 20_000 }, (_, index) => `A${index}`) }];
    const matcher = createMatcher();
    const slicesOf = (webhook: Matchable | undefined): number => {
      const work = matcher.change(1, webhook);
      for (let slices = 1; ; slices++) if (work.next().done === true) return slices;
    };
    expect(slicesOf({ id: 1, events: ["one"], enabled: true, match: "any", conditions })).to.equal(21);
    expect([matcher.match("one", { a: "A0" }).ids, matcher.match("one", { a: "A19999" }).ids]).to.deep.equal([[1], [1]]);
    expect(slicesOf(undefined)).to.equal(21);
    expect([matcher.match("one", { a: "A0" }).ids, matcher.match("one", { a: "A19999" }).ids, matcher.listens("one")]).to.deep.equal([[], [], false]);
  });

  it("counts a condition once, however many of its values a payload has", () => {
    const conditions: Condition[] = [{ key: "a.*", condition: "in", value: ["x", "y"] }, { key: "b", condition: "eq", value: 1 }];
    const matcher = createMatcher([{ id: 1, events: ["one"], enabled: true, match: "all", conditions }]);
    expect([{ a: ["x", "y"], b: 2 }, { a: ["x", "y", "x"], b: 1 }, { a: ["z"], b: 1 }].map((payload) => matcher.match("one", payload).ids)).to.deep.equal([[], [1], []]);
  });

  it("finds a webhook once where its list has a value twice, and not at all once it is taken out", () => {
    const conditions: Condition[] = [{ key: "a", condition: "in", value: ["x", 1, "x", "1", "y"] }];
    const matcher = createMatcher([{ id: 1, events: ["one"], enabled: true, match: "any", conditions }, { id: 2, events: ["one"], enabled: true, match: "any", conditions: [{ key: "a", condition: "eq", value: "y" }] }]);
    expect(["x", "1", 1, "y"].map((a) => matcher.match("one", { a }).ids)).to.deep.equal([[1], [1], [1], [1, 2]]);
    matcher.put(1, undefined);
    expect(["x", "1", 1, "y"].map((a) => matcher.match("one", { a }).ids)).to.deep.equal([[], [], [], [2]]);
  });

  it("tells texts from what else there is, by whatever they begin and end with", () => {
    const values = ["", "\0", "\0null", "\0\0null", "null", null, true, "true", "\0true", {}, "{}", "\0{}", [], "[]", "\0[]", "=\"a\"", "a", ["a"], "12", "\0=\"a\""];
    const matcher = createMatcher(values.map((value, id) => ({ id, events: ["one"], enabled: true, match: "any", conditions: [{ key: "a", condition: "eq", value }] })));
    values.forEach((a, id) => expect(matcher.match("one", { a }).ids, JSON.stringify(a)).to.deep.equal([id]));
  });
});

describe("names of events", () => {
  it("are meant by themselves, by what they begin with, or by *", () => {
    const meant = (names: string[]): string[] => ["block.applied", "block.reverted", "blocks", "transaction.applied", "applied.block"].filter((event) => namesEvent(names, event));
    expect(meant(["block.applied"])).to.deep.equal(["block.applied"]);
    expect(meant(["block.*"])).to.deep.equal(["block.applied", "block.reverted"]);
    expect(meant(["block.applied", "transaction.*"])).to.deep.equal(["block.applied", "transaction.applied"]);
    expect(meant(["*"])).to.have.length(5);
    expect(meant(["block.*.*"])).to.deep.equal([]);
    expect(meant([])).to.deep.equal([]);
    expect([["state.*"], ["state:started"], ["state.started"], ["state.*.*"]].map((names) => namesEvent(names, "state:started"))).to.deep.equal([true, true, false, false]);
    expect(["*", "block.*", "block.applied", ".*", "*.applied", "block*", ""].map(isNamePattern)).to.deep.equal([true, true, false, true, false, false, false]);
  });
});

describe("the length of a value as JSON", () => {
  it("is that of its text, none for nothing, and without an end for what has none", () => {
    const round: unknown[] = [];
    round.push(round);
    expect([undefined, null, "a\"b", [1, "a"], { a: 12_500_000_000_000_000_001n }, round].map(jsonLength)).to.deep.equal([0, 4, 6, 7, 28, Infinity]);
  });
});
