import { closeSync, existsSync, openSync, readdirSync, readlinkSync } from "node:fs";
import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { EventEmitter } from "eventemitter3";
import { expect } from "chai";
import { asBinary } from "lmdb";
import { createApiPlugin, verifyStore } from "../../src/index.js";
import { openTransaction } from "../../src/store/lmdb/read-session.js";
import { stateKey } from "../../src/store/records/records.js";
import { createViews } from "../../src/store/state/views.js";
import { createTipCache } from "../../src/store/state/store.js";
import { PorticoError } from "../../src/errors.js";
import { noEntries } from "../../src/store/layout/write-log.js";
import type { WriteWatch } from "../../src/store/lmdb/environment.js";
import type { Logger } from "../../types/node-context.js";
import type { ChainAdapter, ChainSnapshot, ChangesView } from "../../types/chain-adapter.js";
import { loadChain } from "../data/read.js";
import { ask } from "../http/ask.js";
import { createMemoryAdapter } from "../memory-adapter/adapter.js";
import { silentLogger } from "../silent.js";
import { closeStores, closeTemporaryStores, openTemporaryStore, temporaryFolder } from "../store/temporary-store.js";
import { eventually } from "../webhooks/stage.js";

const chain = loadChain("core3-custom-c");
const blocks = chain.blocks.slice(0, 60);
const source = { read: (from: number, limit: number) => blocks.slice(from - 1, from - 1 + limit) };

const note = (lines: string[]): Logger => ({ debug: () => undefined, info: (line) => void lines.push(line), warn: (line) => void lines.push(line), error: (line) => void lines.push(line) });

describe("what fails leaves nothing behind", () => {
  afterEach(closeTemporaryStores);

  it("a damaged record of the state keeps no read transaction open", async () => {
    const { store, rules } = openTemporaryStore(chain.network);
    await store.apply(blocks.slice(0, 5).map(rules.parseBlock));
    const { environment } = store;
    environment.db.meta.putSync(stateKey, asBinary(Buffer.from([0xd9, 0xff, 0x61])));
    let open = 0;
    // Within a turn, lmdb-js gives the same one each time, and counts.
    const seen = new Set<unknown>();
    const counted = (): ReturnType<typeof openTransaction> => {
      const transaction = openTransaction(environment);
      open++;
      if (seen.has(transaction)) return transaction;
      seen.add(transaction);
      const done = transaction.done.bind(transaction);
      transaction.done = () => {
        open--;
        done();
      };
      return transaction;
    };
    const views = createViews({ environment, rules, openTransaction: counted, tipState: createTipCache(environment) });
    for (let times = 0; times < 20; times++) expect(() => views.ofLastCommit()).to.throw(/damaged/);
    expect(open).to.equal(0);
  });

  it("a store that is closed has no file open any more by which it tried its disk", async function () {
    if (!existsSync("/proc/self/fd")) return this.skip();
    const { store, rules, dataDir } = openTemporaryStore(chain.network);
    const trials = (): string[] =>
      readdirSync("/proc/self/fd").map((name) => {
        try {
          return readlinkSync(`/proc/self/fd/${name}`);
        } catch {
          return "";
        }
      }).filter((path) => path.startsWith(dataDir) && path.includes("-trial-"));
    await store.apply(blocks.slice(0, 5).map(rules.parseBlock));
    // One of this thread, one of that which commits.
    expect(trials()).to.have.length(2);
    expect(readdirSync(dataDir).filter((name) => name.includes("-trial-"))).to.deep.equal([]);
    await closeStores();
    await eventually(() => (trials().length === 0 ? true : undefined));
  });

  it("a block that comes while its store is closed is no fault of the disk", async () => {
    const failed: unknown[] = [];
    const writes: WriteWatch = { failed: (_part, error) => (failed.push(error), new PorticoError("STORE_UNWRITABLE")), succeeded: () => undefined, isFailing: () => false };
    const { store, rules } = openTemporaryStore(chain.network, {}, { writes });
    await store.apply(blocks.slice(0, 2).map(rules.parseBlock));
    const closed = store.environment.close();
    const outcome = await store.environment.commit(noEntries).then(() => undefined, (error: unknown) => error);
    await closed;
    expect([outcome instanceof PorticoError && outcome.message, failed]).to.deep.equal(["The store is closed.", []]);
  });

  /** Frozen: it is the host's own. */
  const withRelease = (snapshot: ChainSnapshot, release: () => unknown): ChainSnapshot => Object.freeze(Object.assign(Object.create(snapshot) as ChainSnapshot, { release }));

  for (const [what, release] of [
    ["throws", () => { throw new Error("let go of already"); }],
    ["rejects", () => Promise.reject(new Error("let go of already"))],
  ] as const) {
    it(`a host's snapshot whose release ${what} has answered all the same, ends nothing, and is told in the log`, async () => {
      const memory = createMemoryAdapter(chain.network);
      for (const block of blocks) memory.apply(block);
      let released = 0;
      const failing = (): unknown => {
        released++;
        return release();
      };
      const wrap = (snapshot: Awaited<ReturnType<ChainAdapter["snapshot"]>>): ChainSnapshot | undefined => snapshot && withRelease(snapshot, failing);
      const adapter: ChainAdapter = {
        supports: memory.supports ?? {},
        snapshot: async (bounds) => wrap(await memory.snapshot(bounds)),
        snapshotAt: async (height, bounds) => wrap(await memory.snapshotAt?.(height, bounds)),
        changes: {
          view: async () => {
            const view = await memory.changes?.view();
            return view && Object.assign(Object.create(view) as typeof view, { release: failing });
          },
          watch: (changed) => memory.changes?.watch(changed) ?? (() => undefined),
        },
      };
      const lines: string[] = [];
      const unhandled: unknown[] = [];
      const hear = (reason: unknown): void => void unhandled.push(reason);
      process.on("unhandledRejection", hear);
      const plugin = createApiPlugin({ network: chain.network, events: new EventEmitter(), chain: adapter, dataDir: temporaryFolder(), logger: note(lines), options: { rateLimit: false } });
      const { port } = (await plugin.listen(0)).address() as AddressInfo;
      try {
        for (const path of ["/api/wallets?limit=1", "/api/blocks?limit=1&at=20", "/api/health", "/api/events/feed?after=genesis&limit=1", "/api/blockchain"]) {
          const before = released;
          expect([path, (await ask(port, path)).status]).to.deep.equal([path, 200]);
          expect(released, path).to.be.greaterThan(before);
        }
      } finally {
        await plugin.stop();
        await new Promise((resolve) => setImmediate(resolve));
        process.off("unhandledRejection", hear);
      }
      expect(unhandled).to.deep.equal([]);
      expect(lines.filter((line) => line.includes("released"))).to.deep.equal(["a state of the host's chain could not be released: let go of already"]);
    });
  }

  it("a journal of the host's events that alone cannot be written is said in health, though blocks can be, until it can", async function () {
    const dataDir = temporaryFolder();
    const [known, lines] = [blocks.slice(0, 10), [] as string[]];
    const events = new EventEmitter();
    const plugin = createApiPlugin({ network: chain.network, events, dataDir, blocks: { read: (from, limit) => known.slice(from - 1, from - 1 + limit) }, logger: note(lines), options: { webhooks: false } });
    await plugin.listen(0);
    await plugin.settled();
    const path = `${dataDir}/host-events.journal`;
    const file = Number(readdirSync("/proc/self/fd").find((name) => {
      try {
        return readlinkSync(`/proc/self/fd/${name}`).startsWith(path);
      } catch {
        return false;
      }
    }));
    /** The open file becomes another. */
    const replaceBy = (other: string): void => {
      closeSync(file);
      const spare: number[] = [];
      for (let opened = openSync(other, "a"); opened !== file; opened = openSync(other, "a")) spare.push(opened);
      spare.forEach((one) => closeSync(one));
    };
    try {
      replaceBy("/dev/full");
      events.emit("peer.added", { ip: "1.2.3.4" });
      expect(plugin.health()).to.include({ status: "failing", problem: "the store cannot be written: its disk is full" });
      known.push(blocks[10]!);
      events.emit("block.applied", blocks[10]);
      await plugin.settled();
      expect(plugin.health()).to.include({ height: 11, status: "failing" });
      replaceBy(path);
      await eventually(() => (plugin.health().status === "ok" ? true : undefined));
    } finally {
      await plugin.stop();
    }
    const said = lines.filter((line) => line.startsWith("the store can"));
    expect(said[0]).to.equal("the store cannot be written: its disk is full");
    expect(said[1]).to.match(/^the store can be written again/);
    expect(said).to.have.length(2);
  });

  it("undo records and digests beyond a lowered undoBlocks are removed at the next start", async () => {
    const dataDir = temporaryFolder();
    const heightsOf = (database: "undo" | "digests"): number[] => {
      const { store } = openTemporaryStore(chain.network, { dataDir, undoBlocks: 5 });
      return [...new Set([...store.environment.db[database].getKeys({})].map((key) => Buffer.from(key).readUInt32BE(0)))];
    };
    const { store, rules } = openTemporaryStore(chain.network, { dataDir, undoBlocks: 50 });
    for (const block of blocks) await store.apply([rules.parseBlock(block)]);
    store.markComplete();
    await closeStores();
    expect(heightsOf("undo")).to.have.length(50);
    await closeStores();

    const plugin = createApiPlugin({ network: chain.network, events: new EventEmitter(), dataDir, blocks: source, logger: silentLogger, options: { undoBlocks: 5, webhooks: false } });
    await plugin.start();
    await plugin.settled();
    await plugin.stop();
    expect(heightsOf("undo")).to.deep.equal([56, 57, 58, 59, 60]);
    await closeStores();
    expect(heightsOf("digests")).to.deep.equal([55, 56, 57, 58, 59, 60]);
    await closeStores();
    expect(await verifyStore({ dataDir, nethash: chain.network.network.nethash })).to.deep.include({ sound: true, faults: [], height: 60 });
  });

  it("no more streams are open than maxStreams, though many are answered at once", async () => {
    const memory = createMemoryAdapter(chain.network);
    for (const block of blocks) memory.apply(block);
    const asked = 24;
    const waiting: (() => void)[] = [];
    let isOpen = false;
    const view = async (): Promise<ChangesView | undefined> => {
      if (!isOpen) await new Promise<void>((resolve) => waiting.push(resolve));
      return memory.changes?.view();
    };
    const adapter: ChainAdapter = { snapshot: memory.snapshot, changes: { view, watch: (changed) => memory.changes?.watch(changed) ?? (() => undefined) } };
    const plugin = createApiPlugin({ network: chain.network, events: new EventEmitter(), chain: adapter, dataDir: temporaryFolder(), logger: silentLogger, options: { webhooks: false, rateLimit: false, maxStreams: 3 } });
    const { port } = (await plugin.listen(0)).address() as AddressInfo;
    const sockets = Array.from({ length: asked }, () => connect(port, "127.0.0.1"));
    try {
      const replies = sockets.map((socket) => once(socket, "data") as Promise<[Buffer]>);
      for (const [place, socket] of sockets.entries()) socket.write(`GET ${place % 2 === 0 ? "/api/events?after=genesis" : "/api/changes?follow=true"} HTTP/1.1\r\nHost: node\r\n\r\n`);
      await eventually(() => (waiting.length === asked ? true : undefined));
      isOpen = true;
      waiting.forEach((answer) => answer());
      const statuses = (await Promise.all(replies)).map(([bytes]) => bytes.toString("latin1").split(" ", 2)[1]);
      expect(statuses.filter((status) => status === "200")).to.have.length(3);
      expect(statuses.filter((status) => status === "503")).to.have.length(asked - 3);
    } finally {
      sockets.forEach((socket) => socket.destroy());
      await plugin.stop();
    }
  });
});
