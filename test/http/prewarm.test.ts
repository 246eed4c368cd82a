import { expect } from "chai";
import { type CacheEntry, createPrewarm, createResponseCache, type ResponseCache } from "../../src/http/response-cache.js";
import { createReply, type Reply } from "../../src/http/reply/reply.js";
import type { Scope } from "../../src/http/route.js";

interface CountedState extends Scope {
  count: number;
}

type Ask = (state: CountedState) => unknown;

const spin = (milliseconds: number): void => {
  const begun = performance.now();
  while (performance.now() - begun < milliseconds);
};

const replyOf = (answer: unknown): Reply =>
  createReply({ status: 200, json: JSON.stringify(answer), height: 1, validated: true, cacheControl: "no-cache", lasting: true }, Infinity);

describe("prewarming", () => {
  let cache: ResponseCache<Ask>;
  let released: string[];

  const stateAt = (id: string, count: number): CountedState => ({ count, tip: { id, height: count }, release: () => void released.push(id) });

  const prewarmFor = (longest: number) =>
    createPrewarm<Ask, CountedState>({ cache, release: (state) => state.release?.(), ask: (ask, state) => ask(state), write: (_, answer) => replyOf(answer), longest });

  beforeEach(() => {
    cache = createResponseCache(1_000_000);
    released = [];
  });

  /** An entry asked for at the first tip, as by clients. */
  const entryOf = (key: string, ask: Ask): CacheEntry<Ask> => {
    const entry = cache.admit(key, ask) ?? cache.admit(key, ask);
    if (entry === undefined) throw new Error("not admitted");
    cache.replyAt(entry, "one");
    cache.keep(entry, "one", replyOf(1));
    return entry;
  };

  const keptAt = (tip: string, entry: CacheEntry<Ask>): unknown => {
    const text = cache.replyAt(entry, tip)?.plain.bytes.toString();
    return text === undefined ? undefined : JSON.parse(text);
  };

  it("keeps the state until a pending answer has come, whatever library its promise is of", async () => {
    let come: ((count: number) => void) | undefined;
    const entry = entryOf("pending", () => ({ then: (resolve: (count: number) => void) => void (come = resolve) }));
    await prewarmFor(Infinity)(stateAt("two", 2));
    expect(released, "while the answer is pending").to.deep.equal([]);
    come?.(2);
    await new Promise((resolve) => setImmediate(resolve));
    expect(released).to.deep.equal(["two"]);
    expect(keptAt("two", entry)).to.equal(2);
  });

  it("leaves errors for the next request to meet, thrown or rejected, and prepares the rest", async () => {
    const fail = (): never => {
      throw new Error("as expected");
    };
    const entries = [
      entryOf("rejects", () => Promise.reject(new Error("as expected"))),
      entryOf("throws", fail),
      ...["a", "b", "c"].map((name) => entryOf(name, ({ count }) => (spin(2), count))),
    ];
    await prewarmFor(Infinity)(stateAt("two", 2));
    await new Promise((resolve) => setImmediate(resolve));
    expect(released).to.deep.equal(["two"]);
    expect(entries.map((entry) => keptAt("two", entry))).to.deep.equal([undefined, undefined, 2, 2, 2]);
  });

  it("ends when it has taken long enough, so that the new state is not held back", async () => {
    const entries = Array.from({ length: 8 }, (_, index) => entryOf(String(index), ({ count }) => (spin(10), count)));
    await prewarmFor(25)(stateAt("two", 2));
    expect(released).to.deep.equal(["two"]);
    // Fewer if the machine is busy: even none.
    expect(entries.filter((entry) => keptAt("two", entry) !== undefined).length).to.be.at.most(3);
  });
});
