import { expect } from "chai";
import { type Answerer, createAnswerer } from "../../src/http/pipeline/answerer.js";
import type { Plan } from "../../src/http/pipeline/plan.js";
import type { Scope } from "../../src/http/route.js";

interface CountedState extends Scope {
  count: number;
}

type Ask = (state: CountedState) => unknown;

/** A plan as the planner makes it, with nothing in it but what an answerer uses. */
const planOf = (question: string, ask: Ask): Plan<CountedState> =>
  ({
    question,
    again: true,
    input: {},
    asked: {},
    entry: { route: {}, kept: true, ask: (_: unknown, state: CountedState) => ask(state), write: (answer: unknown) => ({ status: 200, json: JSON.stringify(answer) }) },
  }) as unknown as Plan<CountedState>;

const spin = (milliseconds: number): void => {
  const begun = performance.now();
  while (performance.now() - begun < milliseconds);
};

describe("the renewal of kept replies", () => {
  let tip: string;
  let answerer: Answerer<CountedState>;
  let released: string[];

  const stateAt = (id: string, count: number): CountedState => ({ count, tip: { id, height: count }, release: () => void released.push(id) });

  const answererFor = (longestRenewal: number): Answerer<CountedState> =>
    createAnswerer({ openState: () => stateAt("one", 1), tipId: () => tip, cacheSize: 1_000_000, threshold: 1_000, longestRenewal });

  beforeEach(() => {
    tip = "one";
    released = [];
    answerer = answererFor(Infinity);
  });

  /** Asks for each at the first tip, as clients do. */
  const askAll = async (plans: readonly Plan<CountedState>[]): Promise<void> => {
    for (const plan of plans) await answerer.reply(plan, undefined, { height: undefined });
    for (const plan of plans) expect(answerer.kept(plan)).not.to.equal(undefined);
    released = [];
  };

  const keptAt = (id: string, plan: Plan<CountedState>): unknown => {
    tip = id;
    const text = answerer.kept(plan)?.plain.bytes.toString();
    return text === undefined ? undefined : JSON.parse(text);
  };

  it("keeps the state until a pending answer has come, whatever library its promise is of", async () => {
    let come: ((count: number) => void) | undefined;
    const plan = planOf("pending", ({ count }) => (count === 1 ? 1 : { then: (resolve: (count: number) => void) => void (come = resolve) }));
    await askAll([plan]);
    await answerer.renew(stateAt("two", 2));
    expect(released, "while the answer is pending").to.deep.equal([]);
    come?.(2);
    await new Promise((resolve) => setImmediate(resolve));
    expect(released).to.deep.equal(["two"]);
    expect(keptAt("two", plan)).to.equal(2);
  });

  it("leaves errors for the next request to meet, thrown or rejected, and renews the rest", async () => {
    const failing = (ask: Ask): Ask => (state) => (state.count === 1 ? 1 : ask(state));
    const fail = (): never => {
      throw new Error("as expected");
    };
    const plans = [
      planOf("rejects", failing(() => Promise.reject(new Error("as expected")))),
      planOf("throws", failing(fail)),
      ...["a", "b", "c"].map((name) => planOf(name, ({ count }) => (spin(2), count))),
    ];
    await askAll(plans);
    await answerer.renew(stateAt("two", 2));
    await new Promise((resolve) => setImmediate(resolve));
    expect(released).to.deep.equal(["two"]);
    expect(plans.map((plan) => keptAt("two", plan))).to.deep.equal([undefined, undefined, 2, 2, 2]);
  });

  it("ends when it has taken long enough, so that the new state is not held back", async () => {
    answerer = answererFor(25);
    const plans = Array.from({ length: 8 }, (_, index) => planOf(String(index), ({ count }) => (spin(count === 1 ? 0 : 10), count)));
    await askAll(plans);
    await answerer.renew(stateAt("two", 2));
    expect(released).to.deep.equal(["two"]);
    // Fewer if the machine is busy: even none.
    expect(plans.filter((plan) => keptAt("two", plan) !== undefined).length).to.be.at.most(3);
  });
});
