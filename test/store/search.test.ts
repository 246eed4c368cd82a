import { expect } from "chai";
import { PorticoError } from "../../src/errors.js";
import { codeOf } from "../fixtures/refusal.js";
import { createSearches, type Search, type Searches, type SearchesOptions } from "../../src/store/query/search.js";
import type { Sliced } from "../../src/async/time-slicing.js";

/** Keeps the process busy for the given time. */
const work = (milliseconds: number): void => {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
};

/** Sliced of one millisecond each, returning their count; `log` gets the name at each. */
function* steps(count: number, name = "", log: string[] = []): Sliced<number> {
  for (let i = 0; i < count; i++) {
    work(1);
    log.push(name);
    yield;
  }
  return count;
}

/** Looks at more rows than any search may while too many others are under way. */
function* wide(search: Search): Sliced<number> {
  search.require(1_000);
  return yield* steps(20);
}

/** Each search is one request's. */
const searchesOf = (options: SearchesOptions): { run: Search["run"]; begin: Searches["begin"]; stop: Searches["stop"] } => {
  const { begin, stop } = createSearches(options);
  return { run: (work) => begin(Infinity).run(work), begin, stop };
};

const nextRound = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("searches", () => {
  it("return short answers synchronously", () => {
    expect(searchesOf({ turn: 1_000, most: 2 }).run(steps(3))).to.equal(3);
  });

  it("yield to the event loop between turns when they are long", async () => {
    const { run } = searchesOf({ turn: 5, most: 2 });
    const log: string[] = [];
    const answer = Promise.resolve(run(steps(60, "", log)));
    let rounds = 0;
    for (; log.length < 60; rounds++) await nextRound();
    expect(await answer).to.equal(60);
    expect(rounds).to.be.at.least(10);
  });

  it("share the turns, and together take no more of a round than one would", async () => {
    const { run } = searchesOf({ turn: 5, most: 4 });
    const log: string[] = [];
    const answers = [run(steps(30, "a", log)), run(steps(30, "b", log)), run(steps(2, "c", log))];
    expect(log.length).to.be.below(10);
    let before = log.length;
    let most = 0;
    for (let round = 0; log.length < 62; round++) {
      await nextRound();
      most = Math.max(most, log.length - before);
      before = log.length;
    }
    expect(most).to.be.below(10);
    expect(log.lastIndexOf("c")).to.be.below(log.lastIndexOf("a"));
    expect(await Promise.all(answers.map((answer) => Promise.resolve(answer)))).to.deep.equal([30, 30, 2]);
  });

  it("get one turn a round as well when one request makes them one after another", async () => {
    const { run } = searchesOf({ turn: 5, most: 4 });
    let asked = 0;
    const all = (async () => {
      for (; asked < 20; asked++) await run(steps(3));
    })();
    await Promise.resolve();
    for (let i = 0; i < 100; i++) await Promise.resolve();
    expect(asked).to.be.below(4);
    await all;
    expect(asked).to.equal(20);
  });

  it("are refused when too many of many rows are under way, before they look at any", async () => {
    const { begin } = searchesOf({ turn: 2, most: 2 });
    const runWide = () => {
      const search = begin(Infinity);
      return search.run(wide(search));
    };
    const under = [runWide(), runWide()];
    expect(await codeOf(runWide)).to.equal("SEARCHES_FULL");
    await Promise.all(under.map((answer) => Promise.resolve(answer)));
    expect(await runWide()).to.equal(20);
  });

  it("are refused in the middle where they turn out to look at many rows", async () => {
    const { run } = searchesOf({ turn: 2, most: 0 });
    expect(await run(steps(200))).to.equal(200);
    expect(await codeOf(() => run(steps(300)))).to.equal("SEARCHES_FULL");
  });

  it("of few rows are never refused", async () => {
    const { begin } = searchesOf({ turn: 2, most: 1 });
    const other = begin(Infinity);
    const under = other.run(wide(other));
    const few = Array.from({ length: 50 }, () => {
      const search = begin(Infinity);
      search.require(100);
      return search.run(steps(1));
    });
    expect(new Set(await Promise.all(few.map((answer) => Promise.resolve(answer))))).to.deep.equal(new Set([1]));
    expect(await under).to.equal(20);
  });

  it("are abandoned when the store stops, and none starts after that", async () => {
    const { run, stop } = searchesOf({ turn: 2, most: 8 });
    const log: string[] = [];
    const under = [run(steps(1_000, "a", log)), run(steps(1_000, "b", log))].map((answer) => codeOf(() => answer));
    await stop();
    const worked = log.length;
    expect(await Promise.all(under)).to.deep.equal(["NOT_READY", "NOT_READY"]);
    expect(await codeOf(() => run(steps(1)))).to.equal("NOT_READY");
    await nextRound();
    await nextRound();
    expect(log.length).to.equal(worked);
  });

  it("fail with what their work throws, at once or later", async () => {
    const { run } = searchesOf({ turn: 2, most: 2 });
    function* failing(after: number): Sliced<number> {
      yield* steps(after);
      throw new Error("broken");
    }
    for (const after of [0, 10]) {
      const failure = await (async () => run(failing(after)))().catch((error: unknown) => error);
      expect(failure).to.be.an("error").with.property("message", "broken");
    }
  });

  it("share the rows that one request may load", () => {
    const search = createSearches().begin(1_000);
    search.require(1_000);
    search.spend(600);
    expect(search.left).to.equal(400);
    expect(() => search.require(401)).to.throw(PorticoError, /^The search would scan more than 1000 rows\. Narrow it/);
    expect(() => search.spend(401)).to.throw(PorticoError);
    search.require(400);
  });
});
