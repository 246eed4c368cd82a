import { once } from "node:events";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { EventEmitter } from "eventemitter3";
import { expect } from "chai";
import Koa from "koa";
import { backUp, createApiPlugin, defaultOptions, PorticoError, version } from "../src/index.js";
import { messageOf } from "../src/errors.js";
import { readOptions } from "../src/options/options.js";
import type { ChainAdapter, ChainSnapshot } from "../types/chain-adapter.js";
import type { BlockData, HostEvents } from "../types/events.js";
import type { FollowedNode } from "../types/followed-node.js";
import type { NodeContext } from "../types/node-context.js";
import type { ApiPlugin } from "../types/plugin.js";
import { atEndOfTest } from "./at-end.js";
import { loadChain } from "./data/read.js";
import { createNode, listenTo } from "./fixtures/node.js";
import { createMemoryAdapter } from "./memory-adapter/adapter.js";
import { temporaryFolder } from "./fixtures/folder.js";
import { openWebhookStore } from "../src/webhooks/rows/store.js";
import { createLogger, eventually } from "./webhooks/stage.js";
import { codeOf } from "./fixtures/refusal.js";
import { narrow } from "./fixtures/narrow.js";
import { silentLogger } from "./silent.js";

const chain = loadChain("core3-testnet-a");

describe("createApiPlugin", () => {
  let events: EventEmitter;

  beforeEach(() => (events = new EventEmitter()));

  const create = (context: Partial<NodeContext> = {}): ApiPlugin => createNode({ events, ...context });
  /** The refusal of a context, or "accepted". */
  const refused = (context: Record<string, unknown>): string => {
    try {
      createApiPlugin({ network: chain.network, events, dataDir: "unused", ...context });
    } catch (error) {
      expect(error).to.be.instanceOf(PorticoError).with.property("code", "OPTION_INVALID");
      return (error as PorticoError).message;
    }
    return "accepted";
  };
  const listening = async (plugin: ApiPlugin): Promise<string> => (await listenTo(plugin)).url;
  const heightAt = async (url: string): Promise<number> => {
    const body = (await (await fetch(`${url}/blockchain`)).json()) as { data: { block: { height: number } } };
    return body.data.block.height;
  };

  it("lets any number of requests wait for the host's pool, without a warning of Node.js", async () => {
    const warnings: string[] = [];
    const note = (warning: Error): void => void warnings.push(warning.message);
    process.on("warning", note);
    const waiting: ((list: never[]) => void)[] = [];
    const url = await listening(create({ pool: { list: () => new Promise((resolve) => waiting.push(resolve)) } }));
    const replies = Array.from({ length: 30 }, () => fetch(`${url}/transactions/unconfirmed`));
    await eventually(() => (waiting.length === 30 ? true : undefined));
    waiting.forEach((answer) => answer([]));
    expect((await Promise.all(replies)).map(({ status }) => status)).to.deep.equal(replies.map(() => 200));
    process.off("warning", note);
    expect(warnings).to.deep.equal([]);
  });

  it("serves what the host emits once `settled` resolves", async () => {
    const plugin = create();
    const url = await listening(plugin);
    expect(await heightAt(url)).to.equal(1);
    for (const block of chain.blocks.slice(1, 27)) events.emit("block.applied", block);
    await plugin.settled();
    expect(await heightAt(url)).to.equal(27);
    events.emit("block.reverted", chain.blocks[26]);
    await plugin.settled();
    expect(await heightAt(url)).to.equal(26);
    expect(plugin.health()).to.deep.include({ status: "ok", height: 26 });
  });

  it("serves the same from a host's own adapter", async () => {
    const adapter = createMemoryAdapter(chain.network);
    const given = chain.blocks.slice(0, 60);
    for (const block of given) adapter.apply(block);
    const blocks = { read: (from: number, limit: number) => given.slice(from - 1, from - 1 + limit) };
    const urls = [await listening(create({ chain: adapter })), await listening(create({ blocks }))];
    for (const path of ["/wallets?limit=7&page=3", "/delegates?limit=9", "/votes?page=2", "/blocks/last", "/node/fees?days=30", "/transactions?type=6"]) {
      const [own, stored] = await Promise.all(urls.map(async (url) => (await fetch(`${url}${path}`)).text()));
      expect(stored, path).to.equal(own);
    }
  });

  it("serves an adapter that returns promises of another library", async () => {
    const adapter = createMemoryAdapter(chain.network);
    for (const block of chain.blocks.slice(0, 60)) adapter.apply(block);
    /** The least that the language requires of a promise. */
    const promised = <T>(value: T): Promise<T> => ({ then: (resolve: (value: T) => unknown) => void setImmediate(resolve, value) }) as unknown as Promise<T>;
    const later = (snapshot: ChainSnapshot): ChainSnapshot =>
      new Proxy(snapshot, {
        get: (of, name, receiver) => {
          const member: unknown = Reflect.get(of, name, receiver);
          return typeof member === "function" && name !== "release" ? (...args: unknown[]) => promised(Reflect.apply(member, of, args)) : member;
        },
      });
    const now = await adapter.snapshot();
    const snapshot = () => promised(now && later(now));
    const urls = [await listening(create({ chain: { snapshot: () => adapter.snapshot() } })), await listening(create({ chain: { snapshot } }))];
    for (const path of ["/wallets?limit=7", "/delegates/genesis_1", "/blocks/last", "/blocks/7/transactions", "/transactions?blockId=7", "/v1/blocks/getHeight", "/health"]) {
      const [own, promises] = await Promise.all(urls.map(async (url) => (await fetch(`${url}${path}`)).text()));
      expect(promises, path).to.equal(own);
    }
  });

  it("reports the height of a host's own chain, and when it cannot be read", async () => {
    const adapter = createMemoryAdapter(chain.network);
    let held = 0;
    let broken = false;
    const snapshot = async () => {
      if (broken) throw new Error("disk of the host");
      const opened = await adapter.snapshot();
      if (opened === undefined) return undefined;
      held++;
      return { ...opened, release: () => void held-- };
    };
    const errors: string[] = [];
    const plugin = create({ chain: { snapshot }, logger: { ...silentLogger, error: (line) => void errors.push(line) } });
    expect(plugin.health()).to.deep.equal({ status: "stopped", height: 0 });
    const url = await listening(plugin);
    const early = await fetch(`${url}/health`);
    expect([early.status, await early.json()]).to.deep.equal([503, { status: "starting", height: 0 }]);
    adapter.apply(chain.network.genesisBlock);
    // Also when only the host asks, as one that sends no traffic until the node is well.
    await eventually(() => plugin.health().status === "ok" || undefined);
    expect(plugin.health()).to.deep.include({ status: "ok", height: 1 });
    for (const block of chain.blocks.slice(1, 9)) adapter.apply(block);
    expect(await (await fetch(`${url}/health`)).json()).to.deep.include({ status: "ok", height: 9 });

    broken = true;
    const reply = await fetch(`${url}/health`);
    expect(reply.status).to.equal(503);
    expect(await reply.json()).to.deep.equal({ status: "failing", height: 9, problem: "The chain cannot be read." });
    for (let i = 0; i < 3; i++) expect((await fetch(`${url}/wallets?page=${i + 1}`)).status).to.equal(503);
    expect(errors).to.deep.equal(["the chain cannot be read: disk of the host"]);
    broken = false;
    expect(await heightAt(url)).to.equal(9);
    expect(plugin.health()).to.deep.include({ status: "ok", height: 9 });
    expect(held, "snapshots that were not released").to.equal(0);
  });

  it("has recorded what the host emitted for webhooks once `settled` resolves", async () => {
    for (const own of [false, true]) {
      const adapter = createMemoryAdapter(chain.network);
      adapter.apply(chain.network.genesisBlock);
      const options = { webhooks: { tokens: ["token of this test"], allowTargets: ["127.0.0.1"] } };
      const plugin = create({ options, ...(own ? { chain: adapter } : {}) });
      await plugin.start();
      const { id = 0 } = plugin.webhooks?.create({ event: "forger.started", target: "http://127.0.0.1:9/" }) ?? {};
      for (let count = 0; count < 120; count++) events.emit("forger.started", { activeDelegates: [String(count)] });
      await plugin.settled();
      expect(plugin.webhooks?.deliveries(id, undefined, { offset: 0, limit: 1 }).total).to.equal(120);
      await plugin.stop();
    }
  });

  it("refuses a search that would look at too many rows, in the form of each generation, in a reader too", async () => {
    const dataDir = temporaryFolder();
    const node = create({ dataDir });
    await node.start();
    const reader = createApiPlugin({ reader: true, network: chain.network, dataDir, logger: silentLogger });
    atEndOfTest(() => reader.stop());
    await reader.start();
    for (const { chain: own } of [node, reader]) await refusesWideSearches(await listening(create({ chain: narrow(own, 20) })));
  });

  const refusesWideSearches = async (url: string): Promise<void> => {
    const message = "The search would scan more than 20 rows. Narrow it by an address, a delegate, a block or a shorter range of time or height.";
    const refused = await fetch(`${url}/transactions?vendorFieldHex=61&type=0`);
    expect(refused.status).to.equal(400);
    expect(await refused.json()).to.deep.equal({ statusCode: 400, error: "Bad Request", message, code: "SEARCH_TOO_WIDE" });
    const first = await fetch(`${url}/v1/transactions?vendorField=a&type=0&fee=0`);
    expect(await first.json()).to.deep.equal({ success: false, error: message });
    expect((await fetch(`${url}/transactions?limit=100`)).status).to.equal(200);
  };

  it("opens, listens to and subscribes to nothing before it starts, and leaves nothing open or subscribed after it stops", async () => {
    const plugin = create();
    expect(events.eventNames()).to.deep.equal([]);
    expect(plugin.health().status).to.equal("stopped");
    expect(await plugin.chain.snapshot()).to.equal(undefined);
    const url = await listening(plugin);
    await plugin.stop();
    expect(events.eventNames()).to.deep.equal([]);
    expect(plugin.health().status).to.equal("stopped");
    expect(await fetch(url).catch(() => "refused")).to.equal("refused");
  });

  it("starts and stops once, however often it is told to, and can start again", async () => {
    const plugin = create();
    await Promise.all([plugin.start(), plugin.start()]);
    events.emit("block.applied", chain.blocks[1]);
    await plugin.settled();
    await Promise.all([plugin.stop(), plugin.stop()]);
    await plugin.start();
    expect(plugin.health()).to.deep.include({ status: "ok", height: 2 });
  });

  it("can stop while it is still starting", async () => {
    const plugin = create();
    const starting = plugin.start();
    await plugin.stop();
    await starting;
    expect(plugin.health().status).to.equal("stopped");
    expect(events.eventNames()).to.deep.equal([]);
  });

  it("can start again while it is still stopping", async () => {
    const plugin = create();
    await plugin.start();
    const stopping = plugin.stop();
    await plugin.start();
    await stopping;
    expect(plugin.health()).to.deep.include({ status: "ok", height: 1 });
    events.emit("block.applied", chain.blocks[1]);
    await plugin.settled();
    expect(plugin.health()).to.deep.include({ status: "ok", height: 2 });
  });

  it("can start again while what a failed start had opened is still being closed", async () => {
    const { snapshot, apply } = createMemoryAdapter(chain.network);
    apply(chain.network.genesisBlock);
    let [fails, closing, closed] = [true, (): void => undefined, (): void => undefined];
    const close = new Promise<void>((resolve) => (closed = resolve));
    const isClosing = new Promise<void>((resolve) => (closing = resolve));
    const start = (): Promise<void> => (fails ? Promise.reject(new Error("not yet")) : Promise.resolve());
    const stop = async (): Promise<void> => {
      closing();
      await close;
    };
    const plugin = create({ chain: { snapshot, start, stop } });
    const failing = plugin.listen(0).catch(messageOf);
    await isClosing;
    fails = false;
    const starting = plugin.start();
    closed();
    expect(await failing).to.equal("not yet");
    await starting;
    expect(plugin.health()).to.deep.include({ status: "ok", height: 1 });
    expect(await heightAt(await listening(plugin))).to.equal(1);
  });

  it("closes what it has opened where the last step of a start fails, and can start again", async () => {
    const dataDir = temporaryFolder();
    writeFileSync(join(dataDir, "node-key"), "no key");
    const plugin = create({ dataDir, options: { lake: { dir: join(dataDir, "lake") } } });
    expect(await plugin.listen(0).catch(messageOf)).to.include("DECODER");
    expect(plugin.health().status).to.equal("stopped");
    expect(existsSync(join(dataDir, "chain.mdb-writer"))).to.equal(false);
    rmSync(join(dataDir, "node-key"));
    expect(await heightAt(await listening(plugin))).to.equal(1);
  });

  it("closes its webhooks where the host's events cannot be listened to", async () => {
    const dataDir = temporaryFolder();
    const refuse = (): never => {
      throw new Error("no such event");
    };
    const plugin = create({ dataDir, chain: { snapshot: createMemoryAdapter(chain.network).snapshot }, events: { on: refuse, off: refuse } });
    expect(await plugin.start().catch(messageOf)).to.include("no such event");
    expect(existsSync(join(dataDir, "webhooks.mdb-writer"))).to.equal(false);
  });

  it("does not follow a node once it was stopped, also while it was starting, and closes its store whatever fails before", async () => {
    const calls: string[] = [];
    let stopped: Promise<unknown> | undefined;
    const follows: FollowedNode = {
      ...{ url: "http://127.0.0.1:9", digestOf: () => undefined, timesOf: () => undefined, askReversals: () => Promise.resolve(), watch: () => () => undefined, problem: () => undefined, height: () => undefined, distance: () => ({ behind: 0, lag: 0 }), takeBack: () => false, discardStore: () => undefined },
      prepare: () => {
        setImmediate(() => void (stopped = plugin.stop().catch(messageOf)));
        return Promise.resolve();
      },
      follow: () => void calls.push("follow"),
      end: () => {
        calls.push("end");
        return Promise.reject(new Error("not now"));
      },
    };
    const dataDir = temporaryFolder();
    const plugin = create({ dataDir, follows });
    await plugin.start();
    expect(await stopped).to.equal("not now");
    expect(calls).to.deep.equal(["end"]);
    expect(existsSync(join(dataDir, "chain.mdb-writer"))).to.equal(false);
  });

  it("asks a host's chain nothing more once it tells it to stop, although a webhook is still behind", async () => {
    const { snapshot, changes, apply } = createMemoryAdapter(chain.network);
    for (const block of chain.blocks.slice(0, 100)) apply(block);
    let isStopped = false;
    const asked: string[] = [];
    const note = (what: string): void => void (isStopped && asked.push(what));
    const own: ChainAdapter = {
      snapshot: (bounds) => (note("snapshot"), snapshot(bounds)),
      changes: { view: () => (note("view"), changes?.view()), watch: (changed) => changes?.watch(changed) ?? (() => undefined) },
      stop: async () => {
        isStopped = true;
        await delay(20);
      },
    };
    const target = createServer((_, response) => void response.end()).listen(0, "127.0.0.1");
    await once(target, "listening");
    const plugin = create({ chain: own, options: { webhooks: { allowTargets: ["127.0.0.0/8"] } } });
    try {
      await plugin.start();
      const created = plugin.webhooks?.create({ event: "block.applied", target: `http://127.0.0.1:${(target.address() as AddressInfo).port}/`, from: "genesis" });
      await eventually(() => plugin.webhooks?.deliveries(created?.id ?? 0, undefined, { offset: 0, limit: 1 }).total || undefined);
      await plugin.stop();
      expect(asked).to.deep.equal([]);
    } finally {
      target.close();
      target.closeAllConnections();
    }
  });

  it("has a data folder that is copied while it runs, also where the host keeps the chain, and starts from the copy", async () => {
    const [dataDir, empty, to] = [temporaryFolder(), temporaryFolder(), join(temporaryFolder(), "monday")];
    const { snapshot, changes, apply } = createMemoryAdapter(chain.network);
    apply(chain.network.genesisBlock);
    const own = { snapshot, ...(changes === undefined ? {} : { changes }) };
    const plugin = create({ dataDir, chain: own });
    await plugin.start();
    const { id } = plugin.webhooks?.create({ event: "block.applied", target: "https://example.com/", enabled: false }) ?? expect.fail();
    expect(await backUp({ dataDir, to })).to.include("webhooks.mdb");
    expect(await codeOf(backUp({ dataDir, to }))).to.equal("OPTION_INVALID");
    expect(await codeOf(backUp({ dataDir: empty, to: join(empty, "copy") }))).to.equal("NOT_READY");
    const copy = create({ dataDir: to, chain: own });
    await copy.start();
    expect(copy.webhooks?.get(id).target).to.equal("https://example.com/");
  });

  it("answers a feed that waits with the host's events that another process wrote", async () => {
    const dataDir = temporaryFolder();
    const { snapshot, apply } = createMemoryAdapter(chain.network);
    apply(chain.network.genesisBlock);
    await create({ dataDir, chain: { snapshot } }).start();
    const beside = create({ dataDir, chain: { snapshot }, events: new EventEmitter(), options: { webhooks: { deliver: false } } });
    const url = await listening(beside);
    const { meta } = (await (await fetch(`${url}/events/feed?after=tip`)).json()) as { meta: { cursor: string } };
    const began = performance.now();
    const waiting = fetch(`${url}/events/feed?after=${encodeURIComponent(meta.cursor)}&wait=60`);
    events.emit("peer.added", { ip: "192.0.2.7" });
    const { data } = (await (await waiting).json()) as { data: { event: string }[] };
    expect(data.map(({ event }) => event)).to.deep.equal(["peer.added"]);
    expect(performance.now() - began).to.be.below(30_000);
  });

  it("can start again after a host's chain failed to stop", async () => {
    const { snapshot, apply } = createMemoryAdapter(chain.network);
    apply(chain.network.genesisBlock);
    let stops = 0;
    const plugin = create({ chain: { snapshot, stop: () => (stops++ === 0 ? Promise.reject(new Error("not now")) : Promise.resolve()) } });
    await plugin.start();
    expect(await plugin.stop().catch(messageOf)).to.equal("not now");
    expect(plugin.health().status).to.equal("stopped");
    await plugin.start();
    expect(plugin.health().status).to.equal("ok");
    await plugin.stop();
  });

  for (const kept of ["by Portico", "by the host"]) {
    it(`closes all that it has opened, and can start again, although the host's emitter failed to let go: chain kept ${kept}`, async () => {
      const dataDir = temporaryFolder();
      const { snapshot, apply } = createMemoryAdapter(chain.network);
      apply(chain.network.genesisBlock);
      const tried: (string | symbol)[] = [];
      const holding: HostEvents = {
        on: (name, listener) => events.on(name, listener),
        off: (name) => {
          tried.push(name);
          throw new Error("not now");
        },
      };
      const context = { dataDir, ...(kept === "by the host" ? { chain: { snapshot } } : {}) };
      const plugin = create({ ...context, events: holding });
      await plugin.start();
      const listeners = events.eventNames().flatMap((name) => events.listeners(name).map(() => name));
      expect(await plugin.stop().catch(messageOf)).to.equal("not now");
      expect(tried.toSorted()).to.deep.equal(listeners.toSorted());
      expect(existsSync(join(dataDir, kept === "by the host" ? "webhooks.mdb-writer" : "chain.mdb-writer"))).to.equal(false);
      const server = createServer(plugin.callback()).listen(0, "127.0.0.1");
      await once(server, "listening");
      const feed = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api/events/feed`);
      server.close();
      // As after any stop: nothing is read from what is closed.
      expect(feed.status).to.equal(kept === "by the host" ? 501 : 503);
      const next = create({ ...context, events: new EventEmitter() });
      await next.start();
      expect(next.health()).to.deep.include({ status: "ok", height: 1 });
    });
  }

  it("listens to nothing any more once it was stopped, also while it began to listen", async () => {
    let stopped: Promise<void> | undefined;
    const host: HostEvents = {
      on: (name, listener) => {
        events.on(name, listener);
        stopped ??= plugin.stop();
      },
      off: (name, listener) => events.off(name, listener),
    };
    const plugin = create({ events: host });
    await plugin.start();
    await stopped;
    expect(events.eventNames()).to.deep.equal([]);
  });

  it("stops at once, without an error, while it waits for another process to let go of its webhooks", async () => {
    const dataDir = temporaryFolder();
    const held = openWebhookStore(dataDir);
    const lines: string[] = [];
    const plugin = create({ dataDir, logger: createLogger(lines) });
    const starting = plugin.start().catch(messageOf);
    await eventually(() => (lines.some((line) => line.startsWith("info waiting: ")) ? true : undefined));
    await plugin.stop();
    expect(await starting).to.equal(undefined);
    await held.close();
  });

  it("opens the webhooks as a reader as soon as that is possible, whatever was there before", async () => {
    const dataDir = temporaryFolder();
    await create({ dataDir, options: { webhooks: false } }).start();
    const lines: string[] = [];
    const reader = createApiPlugin({ reader: true, network: chain.network, dataDir, logger: createLogger(lines) });
    atEndOfTest(() => reader.stop());
    await reader.start();
    const file = join(dataDir, "webhooks.mdb");
    writeFileSync(file, "no store");
    const failures = (): string[] => lines.filter((line) => line.startsWith("error webhooks: the store cannot be opened: "));
    await eventually(() => failures()[0]);
    rmSync(file);
    const store = openWebhookStore(dataDir);
    await eventually(() => reader.webhooks);
    expect(failures()).to.have.length(1);
    await store.close();
  });

  it("ends up stopped if `stop` is the last call, even while it was still stopping", async () => {
    const plugin = create();
    await plugin.listen(0);
    const [, listening] = await Promise.all([plugin.stop(), plugin.listen(0), plugin.stop()]);
    await Promise.all([plugin.start(), plugin.stop(), plugin.start(), plugin.stop()]);
    expect(plugin.health().status).to.equal("stopped");
    expect(listening.listening).to.equal(false);
    await plugin.start();
    expect(plugin.health()).to.deep.include({ status: "ok", height: 1 });
  });

  it("closes a server that began to listen before the previous one was closed", async () => {
    const plugin = create();
    const first = await plugin.listen(0);
    const [, second] = await Promise.all([plugin.stop(), plugin.listen(0)]);
    expect([first.listening, second.listening]).to.deep.equal([false, true]);
    expect(plugin.health()).to.deep.include({ status: "ok", height: 1 });
    await plugin.stop();
    expect(second.listening).to.equal(false);
  });

  it("listens to more than one address, and closes every server", async () => {
    const plugin = create();
    const servers = [await plugin.listen(0), await plugin.listen(0)];
    for (const server of servers) expect(await heightAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api`)).to.equal(1);
    await plugin.stop();
    expect(servers.map((server) => server.listening)).to.deep.equal([false, false]);
  });

  it("does not wait for a request whose client has left before the host's own middleware was done with it", async () => {
    const plugin = create({ options: { stopTimeout: 60_000 } });
    await plugin.start();
    const app = new Koa();
    let [reached, left] = [(): void => undefined, (): void => undefined];
    const reaching = new Promise<void>((resolve) => (reached = resolve));
    const leaving = new Promise<void>((resolve) => (left = resolve));
    const answered = new Promise<void>((resolve) =>
      app.use(async ({ res }, next) => {
        res.once("close", left);
        reached();
        await leaving;
        await next().finally(resolve);
      }),
    );
    plugin.mount(app);
    const handle = app.callback();
    const server = createServer((request, response) => void handle(request, response)).listen(0, "127.0.0.1");
    await once(server, "listening");
    const client = connect((server.address() as AddressInfo).port, "127.0.0.1").on("error", () => undefined);
    client.write("GET /api/blockchain HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await reaching;
    client.destroy();
    await answered;
    // It would wait longer than this test may take.
    await plugin.stop();
    server.close();
  });

  it("indexes the chain although the host cannot show its progress", async () => {
    const warned: string[] = [];
    const onProgress = (): never => {
      throw new Error("no terminal");
    };
    const given = chain.blocks.slice(0, 20);
    const blocks = { read: (from: number, limit: number) => given.slice(from - 1, from - 1 + limit), height: () => given.length };
    // By a clock that stands still, progress is shown at the end alone.
    const plugin = create({ blocks, onProgress, clock: { now: () => 0, monotonic: () => 0 }, logger: { ...silentLogger, warn: (line) => warned.push(line) } });
    await plugin.start();
    expect(plugin.health()).to.deep.include({ status: "ok", height: given.length });
    expect(warned).to.deep.equal(["onProgress: no terminal"]);
  });

  it("can stop while a block source does not answer, and is not ready until then", async () => {
    const plugin = create({ blocks: { read: () => new Promise(() => undefined) } });
    const asked = new Promise<void>((resolve) => events.once("block.applied", resolve));
    const starting = plugin.start();
    events.emit("block.applied", chain.blocks[1]);
    await asked;
    expect(plugin.health().status).to.equal("starting");
    await plugin.stop();
    await starting;
    expect(plugin.health().status).to.equal("stopped");
  });

  it("reports a block source that does not answer, until it does", async () => {
    let now = Date.UTC(2026, 0, 1);
    let [asked, answer] = [(): void => undefined, (): void => undefined];
    const question = new Promise<void>((resolve) => (asked = resolve));
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const read = async (from: number): Promise<BlockData[]> => {
      if (from === 1) return chain.blocks.slice(0, 1);
      asked();
      await answered;
      return chain.blocks.slice(from - 1, 4);
    };
    const plugin = create({ blocks: { read }, clock: { now: () => 0, monotonic: () => now } });
    const url = await listening(plugin);
    events.emit("block.applied", chain.blocks[1]);
    await plugin.settled();
    events.emit("block.applied", chain.blocks[3]);
    await question;
    now += 29_999;
    expect(plugin.health()).to.deep.include({ status: "ok", height: 2 });
    now += 12_001;
    const reply = await fetch(`${url}/health`);
    expect(reply.status).to.equal(503);
    expect(await reply.json()).to.deep.include({ status: "failing", height: 2, problem: "the block source has not answered for 42 s" });
    expect(await heightAt(url)).to.equal(2);

    answer();
    await plugin.settled();
    expect(plugin.health()).to.deep.include({ status: "ok", height: 4 });
  });

  it("uses the defaults for members of options that are undefined", () => {
    expect(readOptions({ rateLimit: { perMinute: undefined, exempt: [] }, webhooks: { timeout: undefined } as never } as never)).to.deep.include({
      rateLimit: { perMinute: 300, exempt: [] },
      webhooks: defaultOptions.webhooks,
    });
  });

  it("keeps two plugins in one process apart", async () => {
    const [one, other] = [create(), create({ events: new EventEmitter() })];
    const urls = [await listening(one), await listening(other)];
    events.emit("block.applied", chain.blocks[1]);
    await one.settled();
    expect(await Promise.all(urls.map(heightAt))).to.deep.equal([2, 1]);
  });

  it("reports that webhooks are off or not ready before it checks a token", async () => {
    const without = await listening(create({ options: { webhooks: false } }));
    const told = async (url: string) => {
      const response = await fetch(url, { headers: { authorization: "a token that may be right" } });
      return [response.status, ((await response.json()) as { message: string }).message, response.headers.get("retry-after")];
    };
    expect(await told(`${without}/webhooks`)).to.deep.equal([501, "This node has no webhooks.", null]);
    const server = createServer(create().callback()).listen(0, "127.0.0.1");
    try {
      await once(server, "listening");
      const { port } = server.address() as AddressInfo;
      expect(await told(`http://127.0.0.1:${port}/api/webhooks`)).to.deep.equal([503, "The node's state is not ready yet.", "5"]);
    } finally {
      server.close();
    }
  });

  it("keeps running, whatever the host's logger throws", async () => {
    const fail = (): never => {
      throw new Error("the transport is closed");
    };
    const plugin = create({ logger: { debug: fail, info: fail, warn: fail, error: fail } });
    const url = await listening(plugin);
    events.emit("block.applied", chain.blocks[4]);
    events.emit("block.applied", {});
    await plugin.settled();
    for (const block of chain.blocks.slice(1, 3)) events.emit("block.applied", block);
    await plugin.settled();
    expect(await heightAt(url)).to.equal(3);
  });

  it("refuses an invalid context or option, and names it", () => {
    expect(refused({ network: undefined })).to.match(/needs `network`/);
    expect(refused({ events: {} })).to.match(/needs `events`/);
    expect(refused({ dataDir: undefined })).to.match(/needs `dataDir`/);
    for (const needless of ["chain", "blocks", "events", "onProgress"]) {
      const message = `a reader does not take \`${needless}\`, because it reads the chain that another process writes into \`dataDir\``;
      expect(refused({ reader: true, events: undefined, [needless]: {} })).to.equal(message);
    }
    expect(refused({ reader: true, events: undefined, dataDir: undefined })).to.match(/needs `dataDir`/);
    expect(refused({ reader: true, events: undefined, network: undefined })).to.match(/needs `network`/);
    expect(refused({ reader: true, events: undefined, options: { undoBlocks: 0 } })).to.match(/options\.undoBlocks must be a whole number from 1/);
    expect(refused({ options: { colour: "red" } })).to.match(/options\.colour is not an option/);
    expect(refused({ options: { amounts: "float" } })).to.match(/options\.amounts must be one of "number", "string"/);
    expect(refused({ options: { bodyLimit: 0 } })).to.match(/options\.bodyLimit must be a whole number from 1/);
    expect(refused({ options: { stopTimeout: 2_147_483_648 } })).to.match(/options\.stopTimeout must be a whole number from 0 to 2147483647/);
    expect(refused({ options: { webhooks: { deliver: false } } })).to.match(/options\.webhooks\.deliver can be false only if the host keeps its own chain/);
    expect(refused({ chain: { snapshot: () => undefined }, options: { webhooks: { deliver: false } } })).to.equal("accepted");
    expect(refused({ reader: true, events: undefined, options: { webhooks: { deliver: false } } })).to.equal("accepted");
    expect(refused({ options: { webhooks: { timeout: 3e9 } } })).to.match(/options\.webhooks timeout must be a whole number from 1 to 2147483647/);
    expect(refused({ options: { stopTimeout: 2_147_483_647, webhooks: { timeout: 2_147_483_647, schedule: [3e9], disableAfter: 3e9 } } })).to.equal("accepted");
    expect(refused({ options: { webhooks: { valueOf: 1 } } })).to.match(/^options\.webhooks has no member "valueOf"; its members are tokens, allowTargets, /);
    for (const wrong of [Array(2), "long-enough", ["long-enough", "short"], [" spaced-token"], [""]]) {
      expect(refused({ options: { webhooks: { tokens: wrong } } })).to.equal("options.webhooks tokens must be a list of strings of at least 8 characters, with no space at either end");
    }
    expect(refused({ options: { webhooks: { tokens: ["12345678", "long-enough"] } } })).to.equal("accepted");
    expect(refused({ options: { webhooks: { schedule: Array(2) } } })).to.match(/options\.webhooks schedule must be a list of whole numbers/);
    expect(refused({ options: { trustedProxies: Array(1) } })).to.match(/options\.trustedProxies must be a list of strings/);
    expect(refused({ options: { rateLimit: { perHour: 1 } } })).to.equal('options.rateLimit has no member "perHour"; its members are perMinute, exempt');
    const origins = (...given: unknown[]): string => refused({ options: { cors: { origins: given } } });
    for (const wrong of ["*", "explorer.example", "https://explorer.example/", "https://Explorer.example", "https://explorer.example:443"]) {
      expect(origins("https://a.example", wrong)).to.equal(`options.cors origins must be "*" or a list of origins such as "https://explorer.example", not "${wrong}"`);
    }
    expect(origins(1)).to.equal('options.cors origins must be "*" or a list of origins');
    expect(origins("https://a.example", "http://localhost:8080", "http://[::1]:8080", "capacitor://localhost", "null")).to.equal("accepted");
    expect(refused({ network: { ...chain.network, milestones: [] } })).to.match(/no milestone at height 1/);
    expect(refused({ options: { trustedProxies: ["10.0.0.0/8", "proxy"] } })).to.match(/options\.trustedProxies must be a list of addresses .*, not "proxy"/);
    expect(refused({ options: { rateLimit: { exempt: ["10.0.0.0/33"] } } })).to.match(/options\.rateLimit exempt must be .*, not "10\.0\.0\.0\/33"/);
    expect(refused({ options: { webhooks: { allowTargets: ["localhost"] } } })).to.match(/options\.webhooks allowTargets must be .*, not "localhost"/);
    expect(refused({ options: { trustedProxies: ["10.0.0.0/8", "::1"], webhooks: { allowTargets: ["10.1.0.0/16", "::1"] } } })).to.equal("accepted");
  });

  it("refuses parts of a host that lack a method or have the wrong type", () => {
    const without = (part: string): object => ({ network: { ...chain.network, [part]: undefined } });
    for (const part of ["network", "exceptions", "genesisBlock"]) {
      expect(refused({ ...without(part) })).to.equal(`\`network.${part}\` must be an object, as in the network's ${part}.json`);
    }
    expect(refused({ ...without("milestones") })).to.match(/`network\.milestones` must be a list/);
    const parts = { chain: "snapshot", blocks: "read", peers: "list", sync: "networkHeight", pool: "list", clock: "now", logger: "debug" };
    for (const [part, method] of Object.entries(parts)) {
      expect(refused({ [part]: {} })).to.equal(`\`${part}\` must have the method \`${method}\``);
    }
    expect(refused({ logger: { ...silentLogger, warn: undefined } })).to.equal("`logger` must have the method `warn`");
    expect(refused({ dataDir: 5 })).to.equal("`dataDir` must be the path of a folder");
    expect(refused({ dataDir: "" })).to.equal("`dataDir` must be the path of a folder");
    expect(refused({ transactionTypes: {} })).to.equal("`transactionTypes` must be a list");
    expect(refused({ onProgress: true })).to.equal("`onProgress` must be a function");
    expect(refused({ options: null })).to.equal("`options` must be an object");
    expect(refused({ option: {} })).to.match(/^createApiPlugin does not take `option`; it takes reader, network, events, /);
    expect(refused({ blocks: undefined, peers: undefined, options: undefined })).to.equal("accepted");
    for (const [part, needed, method] of [
      ["sync", "networkHeight", "synced"],
      ["pool", "list", "get"],
      ["pool", "list", "submit"],
      ["peers", "list", "suspended"],
      ["blocks", "read", "height"],
      ["clock", "now", "monotonic"],
    ] as const) {
      expect(refused({ [part]: { [needed]: () => undefined, [method]: "x" } })).to.equal(`\`${part}.${method}\` must be a function`);
    }
    for (const needless of ["blocks", "onProgress"]) {
      const member = needless === "blocks" ? { read: () => [] } : () => undefined;
      expect(refused({ chain: { snapshot: () => undefined }, [needless]: member })).to.equal(`\`${needless}\` is for the built-in store, which \`chain\` replaces; pass only one of them`);
    }
    const supporting = (supports: unknown): string => refused({ chain: { snapshot: () => undefined, supports } });
    expect(supporting("locks")).to.equal("`chain.supports` must be an object");
    expect(supporting({ lock: false })).to.equal("`chain.supports` has no member `lock`; its members are locks, rounds, feeStatistics, delegateFigures, history");
    expect(supporting({ locks: "no" })).to.equal("`chain.supports.locks` must be true or false");
    expect(supporting({ locks: false, rounds: true, feeStatistics: undefined })).to.equal("accepted");
    expect(refused({ reader: true, events: undefined, problem: "x" })).to.equal("`problem` must be a function");
    expect(refused({ node: "x" })).to.equal("`node` must be an object");
    expect(refused({ node: { ports: "x" } })).to.equal("`node.ports` must be object");
    expect(refused({ node: { ports: { "@core/p2p": "4001" } } })).to.match(/^`node\.ports\.@core\/p2p` must be /);
    const pool = (dynamicFees: object): string => refused({ node: { transactionPool: { dynamicFees } } });
    expect(pool({})).to.equal("`node.transactionPool.dynamicFees` must have required property 'enabled'");
    expect(pool({ enabled: true, minFeePool: "3000" })).to.equal("`node.transactionPool.dynamicFees.minFeePool` must be integer");
    expect(pool({ enabled: false })).to.equal("accepted");
    expect(refused({ node: { version: undefined, ports: { "@core/p2p": 4001, "@core/api": null, off: undefined } } })).to.equal("accepted");
    for (const context of [undefined, null, "x", []]) {
      expect(() => createApiPlugin(context as unknown as NodeContext)).to.throw(PorticoError, "createApiPlugin takes an object");
    }
  });

  it("refuses a network that lacks what replies need, and incomplete or conflicting transaction types", () => {
    const parameters = (given: object): Record<string, unknown> => ({ network: { ...chain.network, network: { ...chain.network.network, ...given } } });
    expect(refused(parameters({ pubKeyHash: undefined }))).to.equal("`network.network` must have required property 'pubKeyHash'");
    expect(refused(parameters({ pubKeyHash: 300 }))).to.equal("`network.network.pubKeyHash` must be <= 255");
    expect(refused(parameters({ nethash: undefined }))).to.equal("`network.network` must have required property 'nethash'");
    for (const name of ["messagePrefix", "bip32", "client"]) {
      expect(refused(parameters({ [name]: undefined }))).to.equal(`\`network.network\` must have required property '${name}'`);
    }
    expect(refused(parameters({ slip44: undefined, aip20: undefined }))).to.equal("accepted");
    for (const rewards of ["block", null, true, ["blocks"]]) {
      expect(refused({ network: { ...chain.network, rewards } })).to.equal('`network.rewards` must be "milestones" or "blocks"');
    }
    expect(refused(parameters({ rewards: "blocks" }))).to.equal("`rewards` is a member of `network`, not of `network.network`");
    for (const rewards of ["milestones", "blocks", undefined]) expect(refused({ network: { ...chain.network, rewards } })).to.equal("accepted");
    expect(refused(parameters({ bip32: { public: 1 } }))).to.equal("`network.network.bip32` must have required property 'private'");
    expect(refused({ network: { ...chain.network, milestones: [null] } })).to.equal("`network.milestones[0]` must be object");
    const [first, ...rest] = chain.network.milestones;
    expect(refused({ network: { ...chain.network, milestones: [{ ...first, reward: "2 coins" }, ...rest] } })).to.match(/at height 1 reward is "2 coins"; it must be a whole number$/);

    const constants = (given: object): string => refused({ network: { ...chain.network, milestones: [{ ...first, ...given }, ...rest] } });
    expect(constants({ vendorFieldLength: "64" })).to.equal("`network.milestones[0].vendorFieldLength` must be integer");
    expect(constants({ block: { maxTransactions: "150" } })).to.equal("`network.milestones[0].block.maxTransactions` must be integer");
    expect(constants({ blocktime: 2.5 })).to.equal("`network.milestones[0].blocktime` must be integer");
    for (const fee of ["abc", null, 1.5, -1, { base: 1 }]) {
      expect(constants({ fees: { staticFees: { vote: fee } } })).to.equal("network.milestones: at height 1 the static fee vote is not a whole number");
    }
    expect(constants({ fees: { staticFees: { vote: "100000000", own: 5 }, dynamic: true }, vendorFieldLength: undefined })).to.equal("accepted");
    const row = { typeGroup: 2, type: 0, key: "gift", name: "Gift" };
    const rows = (...transactionTypes: unknown[]): string => refused({ transactionTypes });
    expect(rows(null)).to.equal("`transactionTypes[0]` must be object");
    expect(rows(row, {})).to.equal("`transactionTypes[1]` must have required property 'typeGroup'");
    expect(rows({ ...row, aply: () => undefined })).to.match(/^`transactionTypes\[0\]` has no member `aply`; its members are typeGroup, type, /);
    expect(rows({ ...row, apply: true })).to.equal("`transactionTypes[0].apply` must be a function");
    expect(rows({ ...row, apply: async () => Promise.resolve() })).to.equal("`transactionTypes[0].apply` must not be async, because its effects must be complete when it returns");
    expect(rows(row, { ...row, key: "present" })).to.equal("`transactionTypes[1]` has the same group, type and version as an earlier row");
    expect(rows(row, { ...row, versions: [1] })).to.equal("`transactionTypes[1]` has the same group, type and version as an earlier row");
    expect(rows(row, { ...row, type: 1 })).to.equal("`transactionTypes[0]` has the name Gift, which type 1 of group 2 also has");
    expect(rows({ ...row, name: "Transfer" })).to.equal("`transactionTypes[0]` has the name Transfer, which type 0 of group 1 also has");
    expect(rows({ ...row, typeGroup: 1, name: "Transfer" })).to.equal("accepted");
    expect(rows(row, { ...row, type: 1, name: "Present" })).to.equal("accepted");
    expect(rows({ ...row, versions: [1] }, { ...row, versions: [2] })).to.equal("accepted");
    class Gift {
      typeGroup = 2;
      type = 0;
      key = "gift";
      name = "Gift";
      given = new Map();
    }
    expect(rows(new Gift())).to.equal("accepted");
  });

  it("names what a host has handed in: genesis without its transactions, a data folder that cannot be made", async () => {
    const failure = async (given: object): Promise<string> => {
      const plugin = createApiPlugin({ network: chain.network, events: new EventEmitter(), dataDir: temporaryFolder(), options: { webhooks: false }, ...given });
      const error: unknown = await plugin.start().catch((reason: unknown) => reason);
      await plugin.stop();
      return error instanceof PorticoError ? `${error.code}: ${error.message}` : String(error);
    };
    const { transactions: _transactions, ...genesisBlock } = chain.network.genesisBlock;
    expect(await failure({ network: { ...chain.network, genesisBlock } })).to.match(/^BLOCK_INVALID: `network\.genesisBlock`: block 1 declares \d+ transactions but has no list `transactions`$/);
    for (const webhooks of [false, {}]) {
      expect(await failure({ dataDir: "/dev/null/x", options: { webhooks } })).to.match(/^OPTION_INVALID: `dataDir` is \/dev\/null\/x, which cannot be made: ENOTDIR: /);
    }
  });

  it("has frozen default options, and its package's version", () => {
    expect(Object.isFrozen(defaultOptions)).to.equal(true);
    const { version: packaged } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string };
    expect(version).to.equal(packaged);
  });
});
