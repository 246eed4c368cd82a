import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { EventEmitter } from "eventemitter3";
import { createClient, type FollowedEvent, PorticoClientError } from "../../src/client/index.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { count, seedOr } from "../fixtures/long.js";
import { createNode, listenTo, type StartedNode, startNode } from "../fixtures/node.js";
import { run } from "../fixtures/process.js";
import { programOf } from "../fixtures/programs.js";
import { freePort } from "../free-port.js";
import { until } from "../fixtures/until.js";
import { blockData, genesis, network, randomFrom } from "../follow/schedule.js";
import { ForkingChain, type Step } from "../live/forking-host.js";
import { startStreamProxy } from "./faulty-proxy.js";

/** What a reader makes of events: the chain's blocks, and what makes no sense. */
class Reader {
  readonly blocks: string[] = [];
  readonly seen = new Set<string>();
  readonly faults: string[] = [];
  readonly order: string[] = [];

  take = ({ id, event, data }: FollowedEvent): void => {
    if (this.seen.has(id)) this.faults.push(`${id} came twice`);
    this.seen.add(id);
    this.order.push(id);
    const top = this.blocks.at(-1) ?? null;
    if (event === "block.applied") {
      if (top !== data.previousBlock) this.faults.push(`${data.id} applied on ${String(top)}`);
      this.blocks.push(data.id);
    }
    if (event === "block.reverted") {
      if (top !== data.id) this.faults.push(`${data.id} reverted from ${String(top)}`);
      this.blocks.pop();
    }
    if (event === "transaction.applied" && data.blockId !== top) this.faults.push(`${data.id} applied outside of its block`);
  };
}

/** A host that forks, its node, which may stop and come again, and a proxy to it that stays. */
const createHost = async (seed: number) => {
  const chain = new ForkingChain(`client ${seed}`, seed);
  const dataDir = temporaryFolder();
  let events = new EventEmitter();
  const start = async (): Promise<Pick<StartedNode, "plugin" | "port" | "url" | "stop">> => {
    events = new EventEmitter();
    const plugin = createNode({ network, events, dataDir, blocks: { read: (from, limit) => chain.blocks.slice(from - 1, from - 1 + limit) }, options: { rateLimit: false, staleAfter: false, webhooks: false } });
    return { plugin, ...(await listenTo(plugin)), stop: () => plugin.stop() };
  };
  let node = await start();
  const proxy = await startStreamProxy(() => node.port);
  return {
    chain,
    proxy,
    step: async (): Promise<void> => {
      const step = chain.next();
      chain.take(step);
      if ("applied" in step) events.emit("block.applied", step.applied);
      else events.emit("block.reverted", step.reverted);
      await node.plugin.settled();
    },
    restart: async (): Promise<void> => {
      await node.stop();
      node = await start();
    },
    tip: (): string => chain.blocks.at(-1)!.id,
  };
};

/** Waits as long as it is followed. */
const untilFollowed = (following: Promise<unknown>, what: string, look: () => boolean): Promise<unknown> =>
  Promise.race([until(what, look), following.then(() => expect.fail(`It ended before ${what}.`))]);

const events = ["block.*", "transaction.applied", "transaction.reverted", "round.created"] as const;

describe("a client that follows", () => {
  it("gets each event once and in order, over reorganisations, restarts of the node and lost connections", async () => {
    const seed = seedOr(11);
    const random = randomFrom(seed);
    const host = await createHost(seed);
    const [reader, leaving, saved] = [new Reader(), new AbortController(), [] as string[]];
    const following = createClient(host.proxy.url).follow({ after: "genesis", events, signal: leaving.signal, onEvent: reader.take, save: (cursor) => saved.push(cursor) });
    for (let i = 0; i < count(120, 5_000); i++) {
      await host.step();
      if (random() < 0.1) host.proxy.cut(random() < 0.5 ? "now" : Math.floor(random() * 3_000));
      if (i % 60 === 59) await host.restart();
    }
    await untilFollowed(following, "the reader is at the tip", () => reader.blocks.at(-1) === host.tip());
    leaving.abort();
    await following;
    expect(reader.faults).to.deep.equal([]);
    expect(reader.blocks).to.deep.equal(host.chain.blocks.map(({ id }) => id));
    expect(saved.at(-1)).to.include(host.tip());
    expect(host.proxy.cuts).to.be.greaterThan(0);
  });

  it("loses nothing where the node is killed, and comes again", async () => {
    const [dataDir, port] = [temporaryFolder(), await freePort()];
    const [reader, leaving] = [new Reader(), new AbortController()];
    const client = createClient(`http://127.0.0.1:${port}`);
    const following = client.follow({ after: "genesis", events, signal: leaving.signal, onEvent: reader.take });
    for (let seed = 31; seed < count(32, 40); seed++) {
      const begun = reader.seen.size;
      const node = run(process.execPath, [programOf("test/live/forking-node.ts"), dataDir, String(port), String(seed)]);
      await untilFollowed(following, "it has followed for a while", () => reader.seen.size > begun + count(50, 1_000));
      node.kill("SIGKILL");
      await node.ended;
    }
    await run(process.execPath, [programOf("test/live/forking-node.ts"), dataDir, String(port), "rest"]).line(/serves/);
    // What the host has logged is its chain.
    const chain = new ForkingChain("", 0);
    for (const line of readFileSync(join(dataDir, "host.ndjson"), "utf8").split("\n").slice(0, -1)) chain.take(JSON.parse(line) as Step);
    await untilFollowed(following, "it is at the tip", () => reader.blocks.at(-1) === chain.blocks.at(-1)!.id);
    leaving.abort();
    await following;
    expect(reader.faults).to.deep.equal([]);
    expect(reader.blocks).to.deep.equal(chain.blocks.map(({ id }) => id));
  });

  it("gets every event again that was not saved, after its own crash, and nothing before that", async () => {
    const host = await createHost(3);
    for (let i = 0; i < 30; i++) await host.step();
    const client = createClient(host.proxy.url);
    const whole = new Reader();
    const leaving = new AbortController();
    await client.follow({ after: "genesis", events, signal: leaving.signal, onEvent: (event) => (whole.take(event), void (whole.blocks.at(-1) === host.tip() && leaving.abort())) });
    let cursor = "genesis";
    const handled: string[] = [];
    let isDone = false;
    const isOver = (): boolean => isDone;
    for (let crashes = 0; !isOver(); crashes++) {
      let left = 1 + (crashes % 5);
      const failure = new Error("crash");
      const leaving = new AbortController();
      await client
        .follow({
          after: cursor,
          events,
          signal: leaving.signal,
          onEvent: ({ id }) => {
            if (left-- === 0) throw failure;
            if (!handled.includes(id)) handled.push(id);
            if (id === whole.order.at(-1)) leaving.abort();
          },
          save: (to) => void (cursor = to),
        })
        .then(() => (isDone = true), (error: unknown) => expect(error).to.equal(failure));
      expect(crashes).to.be.lessThan(500);
    }
    expect(handled).to.deep.equal(whole.order);
  });

  it("begins where the chain is, even if the first connection breaks", async () => {
    const host = await createHost(5);
    for (let i = 0; i < 5; i++) await host.step();
    const tip = host.tip();
    const [reader, leaving, saved] = [new Reader(), new AbortController(), [] as string[]];
    reader.blocks.push(...host.chain.blocks.map(({ id }) => id));
    host.proxy.refuse((path) => path.startsWith("/api/v2/events?"));
    const following = createClient(host.proxy.url).follow({ after: "tip", signal: leaving.signal, onEvent: (event) => reader.take(event as FollowedEvent), save: (cursor) => saved.push(cursor) });
    await untilFollowed(following, "it knows the tip", () => saved.length > 0);
    expect(saved[0]).to.match(new RegExp(`^\\d+-${tip}`));
    for (let i = 0; i < 5; i++) await host.step();
    host.proxy.refuse(() => false);
    await untilFollowed(following, "it has the blocks since then", () => reader.blocks.at(-1) === host.tip());
    leaving.abort();
    await following;
    expect(reader.faults).to.deep.equal([]);
  });

  it("follows by conditions that no URL can have", async () => {
    const host = await createHost(8);
    for (let i = 0; i < 40; i++) await host.step();
    const ids = host.chain.blocks.flatMap(({ transactions = [] }) => transactions.map(({ id }) => id)).slice(3);
    const wanted = new Set([...ids.filter((_, place) => place % 2 === 0)]);
    const [taken, leaving] = [[] as string[], new AbortController()];
    const value = [...wanted, ...Array.from({ length: 200 }, (_, i) => `nothing ${i} ${"x".repeat(40)}`)];
    await createClient(host.proxy.url).follow({
      after: "genesis",
      events: ["transaction.applied"],
      conditions: [{ key: "id", condition: "in", value }],
      signal: leaving.signal,
      onEvent: ({ data }) => {
        taken.push(data.id);
        if (wanted.size === new Set(taken).size) leaving.abort();
      },
    });
    expect(taken.every((id) => wanted.has(id))).to.equal(true);
  });

  it("opens a connection anew on which nothing comes", async () => {
    const host = await createHost(9);
    for (let i = 0; i < 5; i++) await host.step();
    const [reader, leaving] = [new Reader(), new AbortController()];
    host.proxy.silence(true);
    const client = createClient(host.proxy.url, { silence: 150 });
    const following = client.follow({ after: "genesis", events, signal: leaving.signal, onEvent: reader.take });
    await untilFollowed(following, "it comes again", () => host.proxy.opened >= 2);
    host.proxy.silence(false);
    await untilFollowed(following, "it is at the tip", () => reader.blocks.at(-1) === host.tip());
    leaving.abort();
    await following;
    expect(reader.faults).to.deep.equal([]);
  });

  it("goes on at another node of several, and comes again while none answers", async () => {
    const [host, reader, leaving] = [await createHost(13), new Reader(), new AbortController()];
    for (let i = 0; i < 10; i++) await host.step();
    const dead = await startStreamProxy(() => 1);
    const following = createClient([dead.url, host.proxy.url]).follow({ after: "genesis", events, signal: leaving.signal, onEvent: reader.take });
    await untilFollowed(following, "it is at the tip", () => reader.blocks.at(-1) === host.tip());
    host.proxy.refuse(() => true);
    host.proxy.cut("now");
    await host.step();
    await untilFollowed(following, "it has tried again", () => host.proxy.refused > 1);
    host.proxy.refuse(() => false);
    await untilFollowed(following, "it is at the tip again", () => reader.blocks.at(-1) === host.tip());
    leaving.abort();
    await following;
    expect(reader.faults).to.deep.equal([]);
  });

  it("waits for a node that is behind its cursor", async () => {
    const blocks = [genesis];
    for (let height = 2; height <= 7; height++) blocks.push(blockData(`behind ${height}`, height, blocks.at(-1)!.id, []));
    const [emitter, known, taken, leaving] = [new EventEmitter(), blocks.slice(0, 3), [] as number[], new AbortController()];
    const source = { read: (from: number, limit: number) => known.slice(from - 1, from - 1 + limit) };
    const node = await startNode({ network, events: emitter, blocks: source, options: { rateLimit: false, staleAfter: false, webhooks: false } });
    await node.plugin.settled();
    let refused = 0;
    const client = createClient(node.url, { onResponse: ({ status }) => (refused += Number(status === 410)) });
    const onEvent = ({ data }: FollowedEvent<"block.applied">): void => void (taken.push(data.height) === 2 && leaving.abort());
    const following = client.follow({ after: `5-${blocks[4]!.id}`, events: ["block.applied"], signal: leaving.signal, onEvent });
    await untilFollowed(following, "it was refused", () => refused > 1);
    for (const block of blocks.slice(3)) {
      known.push(block);
      emitter.emit("block.applied", block);
      await node.plugin.settled();
    }
    await following;
    expect(taken).to.deep.equal([6, 7]);
  });

  it("rejects where no node knows the cursor, with what there is, or goes on where it is told to", async () => {
    const host = await createHost(2);
    const client = createClient(host.proxy.url);
    const after = `1-${"a".repeat(64)}`;
    const error = await client.follow({ after, onEvent: () => undefined }).catch((error: unknown) => error as PorticoClientError);
    expect(error).to.be.instanceOf(PorticoClientError).with.property("code", "CURSOR_UNKNOWN");
    expect((error as PorticoClientError).tip?.height).to.be.greaterThan(0);
    const leaving = new AbortController();
    const told: unknown[] = [];
    await client.follow({ after, signal: leaving.signal, onUnknown: ({ tip }) => (told.push(tip?.height), "genesis"), onEvent: ({ event }) => (told.push(event), leaving.abort()) });
    expect(told).to.deep.equal([1, "block.applied"]);
    await client.follow({ after: "no cursor", onEvent: () => undefined }).catch((error: unknown) => expect(error).to.have.property("code", "BAD_REQUEST"));
  });
});

describe("a client's changes", () => {
  it("are whole blocks with exact amounts, over lost connections and reorganisations", async () => {
    const host = await createHost(21);
    const blocks: string[] = [];
    const leaving = new AbortController();
    const reading = (async (): Promise<void> => {
      for await (const { kind, block } of createClient(host.proxy.url).changes({ signal: leaving.signal })) {
        expect(block.transactions).to.have.length(block.numberOfTransactions);
        expect(typeof block.totalFee).to.equal("bigint");
        for (const { amount } of block.transactions) expect(amount).to.be.a("bigint");
        if (kind === "applied") {
          expect(blocks.at(-1) ?? "0").to.equal(block.previousBlock);
          blocks.push(block.id);
        } else expect(blocks.pop()).to.equal(block.id);
      }
    })();
    for (let i = 0; i < 60; i++) {
      await host.step();
      if (i % 9 === 8) host.proxy.cut(i * 10);
    }
    await untilFollowed(reading, "it is at the tip", () => blocks.at(-1) === host.tip());
    leaving.abort();
    await reading;
    expect(blocks[0]).to.equal(genesis.id);
  });
});
