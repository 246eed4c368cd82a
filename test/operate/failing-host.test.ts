import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import type { ChainAdapter, ChangesView, MaybePromise } from "../../types/chain-adapter.js";
import type { ApiPlugin } from "../../types/plugin.js";
import { startNode } from "../fixtures/node.js";
import { createMemoryAdapter, type MemoryAdapter } from "../memory-adapter/adapter.js";
import { at, chain } from "../store/branches.js";
import { createReceiver } from "../webhooks/receiver.js";
import { createLogger } from "../webhooks/stage.js";
import { until } from "../fixtures/until.js";

const token = "the-operator's-token";

describe("A node whose host's chain fails", () => {
  let memory: MemoryAdapter;
  let plugin: ApiPlugin;
  let url: string;
  let view: () => MaybePromise<ChangesView | undefined>;
  let lines: string[];
  /** Answers that are still owed. */
  const unanswered: ((none: undefined) => void)[] = [];

  beforeEach(async () => {
    memory = createMemoryAdapter(chain.network);
    for (let height = 1; height <= 10; height++) memory.apply(at(height));
    view = () => memory.changes?.view();
    lines = [];
    const adapter: ChainAdapter = { snapshot: (bounds) => memory.snapshot(bounds), changes: { view: () => view(), watch: (changed) => memory.changes?.watch(changed) ?? (() => undefined) } };
    ({ plugin, url } = await startNode({ chain: adapter, logger: createLogger(lines), options: { rateLimit: false, metrics: true, webhooks: { tokens: [token], allowTargets: ["127.0.0.1"] } } }));
  });
  afterEach(() => {
    view = () => undefined;
    unanswered.splice(0).forEach((answer) => answer(undefined));
  });

  const ask = async (path: string, method = "GET", body?: object) => {
    const reply = await fetch(url + path, { method, headers: { authorization: token, "content-type": "application/json" }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    return { status: reply.status, text: await reply.text() };
  };
  const draft = { event: "block.applied", target: "http://93.184.215.14/", enabled: false };

  it("is not asked for what is not in its interface, whatever members it has", async () => {
    const own: ChainAdapter = Object.assign(Object.create(memory) as ChainAdapter, { tipId: "abc", isReady: () => false, problem: () => "mine", rebuilding: () => "mine", filling: () => "mine", settled: () => Promise.reject(new Error("mine")), height: () => 5, standing: () => ({}) });
    const { plugin: other, get } = await startNode({ chain: own, logger: createLogger(lines), options: { rateLimit: false, webhooks: false } });
    for (let time = 0; time < 2; time++) expect((await get("/blockchain")).status).to.equal(200);
    expect(other.health()).to.deep.include({ status: "ok", height: 10 });
    expect(other.chain).to.equal(own);
    await other.settled();
  });

  for (const [how, failing] of [
    ["throws", () => { throw new Error("its database is away"); }],
    ["rejects", () => Promise.reject(new Error("its database is away"))],
    ["does not answer", () => new Promise<undefined>((resolve) => unanswered.push(resolve))],
  ] as const) {
    it(`and ${how} tells its metrics, and shows, makes and changes webhooks, whose distance to the tip it does not know`, async () => {
      await ask("/webhooks", "POST", { ...draft, from: 4 });
      await ask("/webhooks", "POST", { ...draft, enabled: true, from: 4, conditions: [{ key: "id", condition: "eq", value: "none" }] });
      while ((JSON.parse((await ask("/webhooks/2")).text) as { data: { behind: number } }).data.behind > 0) await plugin.settled();
      view = failing;
      const { status, text } = await ask("/metrics");
      expect([status, /^portico_webhooks\{state="disabled"\} 1$/m.test(text), /^portico_webhook_blocks_behind 0$/m.test(text), /^portico_tip_height 10$/m.test(text)]).to.deep.equal([200, true, true, true]);
      expect(JSON.parse((await ask("/webhooks/1")).text)).to.have.nested.property("data.behind", null);
      expect((await ask("/webhooks")).status).to.equal(200);
      expect((await ask("/webhooks", "POST", draft)).status).to.equal(201);
      const patched = await ask("/webhooks/1", "PATCH", { description: "changed" });
      expect([patched.status, (JSON.parse(patched.text) as { data: { description: string } }).data.description]).to.deep.equal([200, "changed"]);
      expect(JSON.parse((await ask("/webhooks?limit=10")).text)).to.have.nested.property("meta.totalCount", 3);
    });
  }

  it("for a while says so in its health, and in two lines of the log, and tells webhooks all once it answers again", async () => {
    const receiver = await createReceiver();
    await ask("/webhooks", "POST", { event: "block.applied", target: receiver.url, from: 4 });
    await receiver.until(6);
    let asked = 0;
    view = () => {
      asked++;
      throw new Error("its database is away");
    };
    memory.apply(at(11));
    while (asked < 3) await nextTurn();
    const { status, text } = await ask("/health");
    expect([status, (JSON.parse(text) as { problem: string }).problem]).to.deep.equal([503, "webhooks are stalled: the chain cannot be read for webhooks: its database is away"]);
    view = () => memory.changes?.view();
    await receiver.until(7);
    await until(async () => ((await ask("/health")).status === 200 ? true : undefined));
    expect(lines.filter((line) => line.includes("webhooks")).map((line) => line.replace(/, after .*/, ""))).to.deep.equal([
      "error webhooks are stalled: the chain cannot be read for webhooks: its database is away",
      "info webhooks work again",
    ]);
    await receiver.close();
  });
});
