import { expect } from "chai";
import type { ChainAdapter, ChainSnapshot, ChangesView, MaybePromise } from "../../types/chain-adapter.js";
import type { PorticoOptions } from "../../types/options.js";
import type { ApiPlugin } from "../../types/plugin.js";
import { startNode } from "../fixtures/node.js";
import { createMemoryAdapter, type MemoryAdapter } from "../memory-adapter/adapter.js";
import { at, chain } from "../store/branches.js";
import { createLogger, eventually } from "../webhooks/stage.js";
import { temporaryFolder } from "../fixtures/folder.js";

const token = "the-operator's-token";

/** Milliseconds: far longer than a test may take, so that whatever waits for the chain fails, and as good as none. */
const [long, short] = [600_000, 30];

type Call = "snapshot" | "snapshotAt" | "block" | "transactions" | "view";

describe("A node whose host's own chain does not answer", () => {
  let memory: MemoryAdapter;
  let plugin: ApiPlugin;
  let dataDir: string;
  let lines: string[];
  /** What the chain leaves open at present. */
  let silent: Set<Call>;
  /** Answers each call that was left open. */
  let open: { answer: (given: unknown) => void; fail: (error: Error) => void }[];
  let [asked, released] = [0, 0];
  let url: string;

  /** Its state at the tip. */
  let stateNow: () => MaybePromise<ChainSnapshot | undefined>;

  /** Whether it answers at once, as a chain in memory does. */
  let isPrompt: boolean;

  /** Answers, unless the call is left open. */
  const or = <T>(call: Call, answer: () => MaybePromise<T>): MaybePromise<T> => {
    if (silent.has(call)) return new Promise<T>((resolve, reject) => open.push({ answer: resolve as never, fail: reject }));
    return isPrompt ? answer() : Promise.resolve(answer());
  };

  const stateOf = (snapshot: ChainSnapshot): ChainSnapshot => ({
    ...snapshot,
    block: (key) => or("block", () => snapshot.block(key)),
    transactions: (query) => or("transactions", () => snapshot.transactions(query)),
    release: () => void released++,
  });
  const stateAt = (height: number) => stateOf(memory.snapshotAt?.(height) as ChainSnapshot);

  const listen = async (hostTimeout: number): Promise<void> => {
    const adapter: ChainAdapter = {
      supports: { history: true },
      snapshot: () => {
        asked++;
        return or("snapshot", stateNow);
      },
      snapshotAt: (height) => or("snapshotAt", () => stateAt(height)),
      changes: { view: () => or("view", () => memory.changes?.view()), watch: () => () => undefined },
    };
    const options: PorticoOptions = { rateLimit: false, staleAfter: false, metrics: true, console: true, hostTimeout, stopTimeout: 100, webhooks: { tokens: [token] } };
    ({ plugin, url } = await startNode({ chain: adapter, dataDir, logger: createLogger(lines), options }));
  };

  beforeEach(() => {
    memory = createMemoryAdapter(chain.network);
    for (let height = 1; height <= 10; height++) memory.apply(at(height));
    stateNow = () => stateAt(10);
    [silent, open, lines, asked, released, isPrompt] = [new Set(), [], [], 0, 0, false];
    dataDir = temporaryFolder();
  });
  afterEach(() => {
    silent.clear();
    open.splice(0).forEach(({ answer }) => answer(undefined));
  });

  const ask = async (path: string, method = "GET") => {
    const reply = await fetch(url + path, { method, headers: { authorization: token } });
    const text = await reply.text();
    const body = (reply.headers.get("content-type")?.startsWith("application/json") === true && text !== "" ? JSON.parse(text) : {}) as Record<string, unknown>;
    return { status: reply.status, body, retryAfter: reply.headers.get("retry-after"), height: reply.headers.get("x-block-height") };
  };
  const told = (): string[] => lines.filter((line) => line.includes("the host's chain"));

  it("answers whatever reads no state of it, without asking it for one", async () => {
    await listen(long);
    silent.add("snapshot");
    const before = asked;
    const paths = ["", "/health/live", "/openapi.json", "/v1/openapi.json", "/docs", "/docs/page.js", "/console", "/webhooks", "/webhooks/events", "/peers", "/transactions/types", "/transactions/unconfirmed", "/node/configuration/crypto", "/events/feed?after=9"];
    for (let round = 1; round <= 3; round++) {
      for (const path of paths) expect((await ask(path)).status, path).to.equal(200);
    }
    expect((await ask("/no/such/path")).status).to.equal(404);
    expect(asked).to.equal(before);
    // They say how high it was when it was asked last, and ask again.
    expect((await ask("/metrics")).status).to.equal(200);
  });

  it("tells the height with whatever reads no state of it while it answers at once, and waits no longer than that", async () => {
    isPrompt = true;
    await listen(long);
    const paths = ["/health/live", "/openapi.json", "/webhooks", "/peers"];
    for (const path of paths) expect(await ask(path), path).to.deep.include({ status: 200, height: "10" });
    silent.add("snapshot");
    const before = asked;
    for (const path of paths) expect(await ask(path), path).to.deep.include({ status: 200, height: null });
    expect(asked).to.equal(before + 1);
    const [only] = open.splice(0);
    const releasedBefore = released;
    only?.answer(stateAt(10));
    await eventually(() => (released > releasedBefore ? true : undefined));
  });

  it("answers 503 where a state is needed, says so in health and once in the log, and when it is over", async () => {
    await listen(short);
    silent.add("snapshot");
    for (const path of ["/blockchain", "/v1/blocks/getHeight", "/blocks/2?at=5", "/transactions/types?at=5"]) {
      const { status, body, retryAfter } = await ask(path);
      expect([status, body["message"], retryAfter], path).to.deep.equal([503, "The node's chain did not answer within 0.03 s.", "5"]);
    }
    expect((await ask("/blockchain")).body).to.include({ code: "HOST_SILENT" });
    expect((await ask("/blockchain", "HEAD")).status).to.equal(503);
    const problem = "the host's chain does not answer: no answer within 0.03 s";
    expect(await ask("/health")).to.deep.include({ status: 503, body: { status: "failing", height: 10, problem } });
    expect(await ask("/health/ready")).to.deep.include({ status: 503, body: { status: "failing", height: 10, problem: "failing", detail: problem } });
    expect(plugin.health()).to.deep.include({ status: "failing", problem });
    expect(told()).to.deep.equal([`error ${problem}`]);
    silent.clear();
    expect((await ask("/blockchain")).status).to.equal(200);
    expect((await ask("/health/ready")).status).to.equal(200);
    expect(told().map((line) => line.replace(/ after .*/, ""))).to.deep.equal([`error ${problem}`, "info the host's chain answers again,"]);
  });

  it("says so in health where nobody else has asked, and where what health reads of a state does not come", async () => {
    for (const call of ["snapshot", "block", "snapshotAt"] as const) {
      // A node that has read nothing yet: what health has read is kept for as long as the tip is the same.
      await listen(short);
      silent.add(call);
      lines.splice(0);
      expect(await ask("/health"), call).to.deep.include({ status: 503 });
      expect((await ask("/health/ready")).body["detail"], call).to.equal("the host's chain does not answer: no answer within 0.03 s");
      silent.clear();
      await ask("/health");
      expect(await ask("/health"), call).to.deep.include({ status: 200 });
      expect(told().at(-1), call).to.match(/^info the host's chain answers again/);
      await plugin.stop();
    }
  });

  for (const [what, answer] of [
    ["that it has no state", () => undefined],
    ["that its database is away", () => Promise.reject(new Error("its database is away"))],
  ] as const) {
    it(`is held to answer again as soon as it says ${what}`, async () => {
      await listen(short);
      silent.add("block");
      expect((await ask("/health")).body["problem"]).to.contain("the host's chain does not answer");
      silent.clear();
      stateNow = answer;
      expect((await ask("/health")).body["problem"] ?? "").not.to.contain("does not answer");
      expect(told().at(-1)).to.match(/^info the host's chain answers again/);
    });
  }

  it("is given the whole time again as soon as it answers", async () => {
    await listen(3_000);
    silent.add("snapshot").add("block");
    expect((await ask("/blockchain")).status).to.equal(503);
    const health = ask("/health");
    await eventually(() => (open.length === 2 ? true : undefined));
    open.splice(0).forEach(({ answer }) => answer(stateAt(10)));
    expect((await health).body).to.deep.equal({ status: "ok", height: 10 });
    expect(told().map((line) => line.replace(/ after .*/, ""))).to.deep.equal(["error the host's chain does not answer: no answer within 3 s", "info the host's chain answers again,"]);
  });

  it("answers 503 where a state leaves a question open, which is no word on its health", async () => {
    await listen(short);
    await ask("/health");
    silent.add("transactions");
    expect(await ask("/transactions")).to.deep.include({ status: 503, retryAfter: "5" });
    silent.add("snapshotAt");
    expect((await ask("/blocks/5?at=5")).body).to.include({ code: "HOST_SILENT" });
    expect((await ask("/health")).status).to.equal(200);
    expect(told()).to.deep.equal([]);
  });

  it("answers 503 where following begins with what does not come", async () => {
    await listen(short);
    silent.add("view");
    for (const path of ["/events", "/events/feed?after=9", "/changes", "/changes?follow=true"]) expect((await ask(path)).body, path).to.include({ code: "HOST_SILENT" });
  });

  it("tells the feed what comes after a cursor where each answer comes in time, however many it takes", async () => {
    // So far apart that no pause of this machine brings an answer too late.
    await listen(2_000);
    const view = memory.changes!.view.bind(memory.changes);
    let answers = 0;
    const late = <T>(answer: () => T): Promise<T> => new Promise((resolve) => setTimeout(() => (answers++, resolve(answer())), 600));
    memory.changes!.view = () => late(() => ({ ...(view() as ChangesView), idAt: (height: number) => late(() => (view() as ChangesView).idAt(height)) })) as never;
    expect((await ask("/events/feed?after=5&limit=5")).status).to.equal(200);
    expect(answers).to.be.above(3);
  });

  it("releases states that come too late, and takes no harm from failures and nonsense that do", async () => {
    await listen(short);
    silent.add("snapshot");
    for (let count = 1; count <= 4; count++) expect((await ask("/blockchain")).status).to.equal(503);
    const before = released;
    const [first, second, third, fourth] = open.splice(0);
    first?.answer(stateAt(10));
    second?.fail(new Error("its database is away"));
    third?.answer(null);
    fourth?.answer(undefined);
    await eventually(() => (released === before + 1 ? true : undefined));
    // It is still silent, as far as anybody knows.
    expect(plugin.health().status).to.equal("failing");
    expect(told()).to.have.length(1);
  });

  it("starts all the same, and stops without a word of what was given up", async () => {
    silent.add("snapshot");
    await listen(short);
    expect((await ask("/health/live")).status).to.equal(200);
    expect((await ask("/blockchain")).status).to.equal(503);
    await plugin.stop();
    expect(lines.filter((line) => line.startsWith("warn"))).to.deep.equal([]);
  });
});
