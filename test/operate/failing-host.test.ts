import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { EventEmitter } from "eventemitter3";
import { createApiPlugin } from "../../src/index.js";
import type { ChainAdapter, ChangesView, MaybePromise } from "../../types/chain-adapter.js";
import type { ApiPlugin } from "../../types/plugin.js";
import { createMemoryAdapter, type MemoryAdapter } from "../memory-adapter/adapter.js";
import { at, chain } from "../store/branches.js";
import { silentLogger } from "../silent.js";

const token = "the-operator's-token";

describe("A node whose host's chain fails", () => {
  let memory: MemoryAdapter;
  let plugin: ApiPlugin;
  let server: Server;
  let dataDir: string;
  let view: () => MaybePromise<ChangesView | undefined>;
  /** Answers that are still owed. */
  const unanswered: ((none: undefined) => void)[] = [];

  beforeEach(async () => {
    memory = createMemoryAdapter(chain.network);
    for (let height = 1; height <= 10; height++) memory.apply(at(height));
    view = () => memory.changes?.view();
    dataDir = mkdtempSync(join(tmpdir(), "portico-failing-host-"));
    const adapter: ChainAdapter = { snapshot: (bounds) => memory.snapshot(bounds), changes: { view: () => view(), watch: (changed) => memory.changes?.watch(changed) ?? (() => undefined) } };
    plugin = createApiPlugin({ network: chain.network, events: new EventEmitter(), chain: adapter, dataDir, logger: silentLogger, options: { rateLimit: false, metrics: true, webhooks: { tokens: [token] } } });
    server = await plugin.listen(0);
  });
  afterEach(async () => {
    view = () => undefined;
    unanswered.splice(0).forEach((answer) => answer(undefined));
    await plugin.stop();
    rmSync(dataDir, { recursive: true });
  });

  const ask = async (path: string, method = "GET", body?: object) => {
    if (!server.listening) await once(server, "listening");
    const reply = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api${path}`, { method, headers: { authorization: token, "content-type": "application/json" }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    return { status: reply.status, text: await reply.text() };
  };
  const draft = { event: "block.applied", target: "http://93.184.215.14/", enabled: false };

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
});
