/** Figures of following: streams at the tip, events matched in a backfill. */
import { connect, type AddressInfo, type Socket } from "node:net";
import { expect } from "chai";
import { EventEmitter } from "eventemitter3";
import { createChainRules } from "../../src/chain/rules.js";
import { createFollow } from "../../src/follow/create-follow.js";
import { createApiPlugin } from "../../src/plugin/plugin.js";
import { createMatcher } from "../../src/webhooks/conditions/matcher.js";
import { count } from "../fixtures/long.js";
import { silentLogger } from "../silent.js";
import { chain } from "../store/branches.js";
import { closeTemporaryStores, openTemporaryStore } from "../store/temporary-store.js";
import { temporaryFolder } from "../fixtures/folder.js";

const streams = count(1_000, 1_000);

/** A client that notes when a block arrives. */
const listen = (port: number, arrived: () => void): Promise<Socket> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write("GET /api/events?event=block.applied HTTP/1.1\r\nHost: node\r\n\r\n"));
    let isOpen = false;
    socket.setEncoding("latin1").on("data", (text: string) => {
      if (!isOpen && text.includes("id: ")) {
        isOpen = true;
        resolve(socket);
      }
      if (text.includes("event: block.applied")) arrived();
    });
  });

const collect = (globalThis as { gc?: () => void }).gc ?? (() => undefined);

describe("Figures of following", function () {
  this.timeout(0);
  afterEach(closeTemporaryStores);

  it(`${streams} streams get a block; each takes this much memory`, async () => {
    const dataDir = temporaryFolder();
    const events = new EventEmitter();
    const blocks = chain.blocks.slice(0, 100);
    const options = { rateLimit: false, webhooks: false, maxStreams: streams } as const;
    const plugin = createApiPlugin({ network: chain.network, events, dataDir, blocks: { read: (from, limit) => blocks.slice(from - 1, from - 1 + limit) }, logger: silentLogger, options });
    const server = await plugin.listen(0);
    const { port } = server.address() as AddressInfo;
    collect();
    const before = process.memoryUsage().rss;
    let [left, done] = [0, () => undefined as void];
    const times: number[] = [];
    let begun = 0;
    const arrived = (): void => {
      times.push(performance.now() - begun);
      if (--left === 0) done();
    };
    const sockets: Socket[] = [];
    for (let i = 0; i < streams; i++) sockets.push(await listen(port, arrived));
    collect();
    const memory = (process.memoryUsage().rss - before) / streams;
    const last: number[] = [];
    for (const block of chain.blocks.slice(100, 120)) {
      left = streams;
      times.length = 0;
      const all = new Promise<void>((resolve) => (done = resolve));
      blocks.push(block);
      events.emit("block.applied", block);
      await plugin.settled();
      begun = performance.now();
      await all;
      last.push(Math.max(...times));
    }
    last.sort((a, b) => a - b);
    console.log(`      ${streams} streams: from the commit of a block to the last client, median ${last[10]!.toFixed(1)} ms, worst of 20 ${last.at(-1)!.toFixed(1)} ms; memory of a stream and its client ${(memory / 1024).toFixed(1)} KB`);
    sockets.forEach((socket) => socket.destroy());
    await plugin.stop();
    expect(last).to.have.length(20);
  });

  it("a reader in the past matches this many events a second", async () => {
    const { store, rules } = openTemporaryStore(chain.network, {}, { rules: createChainRules(chain.network) });
    await store.apply(chain.blocks.map(rules.parseBlock));
    store.markComplete();
    const follow = createFollow({ changes: { view: () => store.changesView(), watch: () => () => undefined }, log: () => undefined, rules, finality: undefined });
    const matcher = createMatcher();
    matcher.put(1, { id: 1, events: ["transaction.*"], enabled: true, match: "any", conditions: [{ key: "amount", condition: "gt", value: "100000000000000000" }] });
    let [events, matched, passes] = [0, 0, 0];
    // Processor time: other processes may share the core.
    const begun = process.cpuUsage();
    const spent = (): number => (process.cpuUsage(begun).user + process.cpuUsage(begun).system) / 1_000;
    while (spent() < 3_000) {
      passes++;
      let cursor = await follow.locate("genesis");
      for (let atEnd = false; !atEnd; ) {
        const batch = await follow.after(cursor);
        for (const group of batch.groups) {
          for (const event of group.events) {
            events++;
            if (matcher.listens(event.event)) matched += matcher.match(event.event, event.data).ids.length;
          }
        }
        [cursor, atEnd] = [batch.cursor, batch.atEnd];
      }
    }
    const perSecond = (events / spent()) * 1_000;
    console.log(`      ${Math.round(perSecond).toLocaleString("en")} events a second of processor time (${passes} passes over ${chain.blocks.length} blocks, ${matched} matches)`);
    expect(events).to.be.greaterThan(0);
  });
});
