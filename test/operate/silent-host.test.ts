import { once } from "node:events";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import { EventEmitter } from "eventemitter3";
import { createApiPlugin } from "../../src/index.js";
import type { ChainAdapter, ChangesView } from "../../types/chain-adapter.js";
import type { PorticoOptions } from "../../types/options.js";
import type { ApiPlugin } from "../../types/plugin.js";
import { listenTo } from "../fixtures/node.js";
import { createMemoryAdapter, type MemoryAdapter } from "../memory-adapter/adapter.js";
import { at, chain } from "../store/branches.js";
import { createReceiver, type Receiver } from "../webhooks/receiver.js";
import { createLogger, eventually } from "../webhooks/stage.js";
import { temporaryFolder } from "../fixtures/folder.js";

const token = "the-operator's-token";

/** Milliseconds that stopping may take, with some to spare: nothing here takes longer by itself. */
const longest = 5_000;

describe("Stopping a node whose host's own chain never answers", () => {
  let memory: MemoryAdapter;
  let receiver: Receiver;
  let plugin: ApiPlugin;
  let events: EventEmitter;
  let dataDir: string;
  let lines: string[];
  /** What the host does in the place of its chain; undefined: that. */
  let host: Partial<Record<"view" | "blocks" | "snapshot" | "block" | "start" | "stop", () => Promise<undefined>>>;
  /** What answers each call that the host has left open. */
  let open: ((answer?: unknown) => void)[];
  let released: number;

  const never = (): Promise<undefined> => new Promise((resolve) => open.push(resolve as (answer?: unknown) => void));

  const viewOf = (view: ChangesView | undefined): ChangesView | undefined =>
    view && { ...view, blocks: (from, limit) => (host.blocks?.() as Promise<never> | undefined) ?? view.blocks(from, limit), release: () => void released++ };

  const create = (stopTimeout = 100): ApiPlugin => {
    const adapter: ChainAdapter = {
      start: async () => void (await host.start?.()),
      stop: async () => void (await host.stop?.()),
      snapshot: async (bounds) => {
        if (host.snapshot !== undefined) return host.snapshot();
        const snapshot = await memory.snapshot(bounds);
        return snapshot && { ...snapshot, block: (key) => host.block?.() ?? snapshot.block(key) };
      },
      changes: {
        view: async () => (host.view === undefined ? viewOf(await memory.changes?.view()) : host.view()),
        watch: (changed) => memory.changes?.watch(changed) ?? (() => undefined),
      },
    };
    const options: PorticoOptions = { rateLimit: false, finality: 1, stopTimeout, lake: { dir: join(dataDir, "lake"), blocksPerFile: 5 }, webhooks: { tokens: [token], allowTargets: ["127.0.0.1"] } };
    return createApiPlugin({ network: chain.network, events, chain: adapter, dataDir, logger: createLogger(lines), options });
  };

  beforeEach(async () => {
    memory = createMemoryAdapter(chain.network);
    for (let height = 1; height <= 4; height++) memory.apply(at(height));
    [host, open, released, lines, events] = [{}, [], 0, [], new EventEmitter()];
    dataDir = temporaryFolder();
    receiver = await createReceiver();
    plugin = create();
  });
  afterEach(async () => {
    host = {};
    open.splice(0).forEach((answer) => answer());
    await plugin.stop();
    await receiver.close();
  });

  const listen = async () => {
    const { url } = await listenTo(plugin);
    return async (path: string, body?: object): Promise<Record<string, never>> => {
      const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
      const reply = await fetch(url + path, { ...init, headers: { authorization: token, "content-type": "application/json" } });
      return (await reply.json()) as Record<string, never>;
    };
  };

  const stopInTime = async (): Promise<void> => {
    const begun = performance.now();
    await plugin.stop();
    expect(performance.now() - begun).to.be.below(longest);
  };
  const troubles = (): string[] => lines.filter((line) => /^(?:warn|error) /.test(line));
  const unanswered = (count: number): string =>
    `warn stopping without the host's chain, which has not answered ${count === 1 ? "one call" : `${count} calls`}; webhooks, events and the lake continue from their positions at the next start`;

  for (const silent of ["view", "blocks", "snapshot", "block"] as const) {
    it(`ends, says so once, and loses nothing, where ${silent} does not answer`, async () => {
      const ask = await listen();
      await ask("/webhooks", { events: ["block.applied", "peer.added"], target: receiver.url });
      await plugin.settled();
      host[silent] = never;
      for (let height = 5; height <= 10; height++) memory.apply(at(height));
      events.emit("peer.added", { id: "a peer" });
      await eventually(() => (open.length > 0 ? true : undefined));
      await stopInTime();
      expect(troubles()).to.deep.equal([unanswered(open.length)]);
      // It may be asked again.
      host = {};
      plugin = create();
      await listen();
      const told = (await receiver.until(7)).map(({ json: { event, data } }) => `${event} ${(data as { id: string }).id}`);
      expect([...told].sort()).to.deep.equal([...[5, 6, 7, 8, 9, 10].map((height) => `block.applied ${at(height).id}`), "peer.added a peer"].sort());
    });
  }

  it("releases a state that comes after it was given up", async () => {
    await listen();
    await plugin.settled();
    host.view = never;
    events.emit("peer.added", { id: "a peer" });
    await eventually(() => (open.length > 0 ? true : undefined));
    await stopInTime();
    const before = released;
    const late = viewOf(await memory.changes?.view());
    open.splice(0).forEach((answer) => answer(late));
    await eventually(() => (released > before ? true : undefined));
  });

  it("sends again what it has recorded, though the host's chain does not answer", async () => {
    const ask = await listen();
    await ask("/webhooks", { event: "block.applied", target: receiver.url, from: 3 });
    const [first] = await receiver.until(1);
    await plugin.settled();
    host.view = never;
    const { data } = (await ask("/webhooks/1/deliveries")) as unknown as { data: { id: number }[] };
    const before = receiver.received.length;
    await ask(`/webhooks/1/deliveries/${data.at(-1)?.id}/redeliver`, {});
    expect((await receiver.until(before + 1)).at(-1)?.json.data).to.deep.equal(first?.json.data);
  });

  it("ends where the chain does not stop, and says so", async () => {
    await listen();
    host.stop = never;
    await stopInTime();
    expect([open.length, ...troubles()]).to.deep.equal([1, "warn stopping without the host's chain, which has not stopped"]);
  });

  it("ends, and with it the start, where the chain does not start or show its first state", async () => {
    for (const silent of ["start", "snapshot"] as const) {
      host = { [silent]: never };
      const starting = plugin.start();
      await eventually(() => (open.length > 0 ? true : undefined));
      await stopInTime();
      await starting;
      // No lake is begun after that.
      open.splice(0).forEach((answer) => answer());
      await nextTurn();
      expect(troubles()).to.deep.equal([]);
    }
    host = {};
    const ask = await listen();
    expect(await ask("/blockchain")).to.have.nested.property("data.block.height", 4);
  });

  it("ends, and starts again, where the next start is asked for meanwhile", async () => {
    plugin = create(1_000);
    const { url } = await listenTo(plugin);
    await plugin.settled();
    host.view = never;
    events.emit("peer.added", { id: "a peer" });
    await eventually(() => (open.length === 1 ? true : undefined));
    host.snapshot = never;
    const asked = fetch(`${url}/blocks/2`);
    await eventually(() => (open.length === 2 ? true : undefined));
    const snapshot = await memory.snapshot();
    const both = [plugin.stop(), plugin.start()];
    host = {};
    open[1]?.(snapshot);
    expect((await asked).status).to.equal(200);
    await Promise.all(both);
    expect([plugin.health().status, ...troubles()]).to.deep.equal(["ok", unanswered(1)]);
  });

  it("waits for a request that the chain answers in time", async () => {
    plugin = create(10_000);
    const { server, url } = await listenTo(plugin);
    host.block = never;
    const asked = fetch(`${url}/blocks/2`);
    await once(server, "request");
    await eventually(() => (open.length > 0 ? true : undefined));
    const stopped = plugin.stop();
    host = {};
    open.splice(0).forEach((answer) => answer());
    expect((await asked).status).to.equal(404);
    await stopped;
    expect(troubles()).to.deep.equal([]);
  });
});
