import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { mock } from "node:test";
import { EventEmitter } from "eventemitter3";
import { expect } from "chai";
import type { BlockData } from "../../types/events.js";
import type { NodeContext } from "../../types/node-context.js";
import type { ApiPlugin } from "../../types/plugin.js";
import { loadChain } from "../data/read.js";
import { createMemoryAdapter } from "../memory-adapter/adapter.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { createNode, listenTo } from "../fixtures/node.js";
import { until } from "../fixtures/until.js";

const chain = loadChain("core3-testnet-a");
const epoch = Date.parse(chain.network.milestones[0].epoch);
const { activeDelegates, blocktime } = chain.network.milestones[0];

/** When block `height` was forged, in milliseconds since 1970. */
const forgedAt = (height: number): number => epoch + (chain.blocks[height - 1]?.timestamp ?? 0) * 1000;
const mark = (height: number) => ({ height, id: chain.blocks[height - 1]?.id });

describe("the health of a node", () => {
  let events: EventEmitter;
  beforeEach(() => (events = new EventEmitter()));
  afterEach(() => mock.timers.reset());

  /** A node whose clock stands `later` milliseconds after its last block. */
  const create = (context: Partial<NodeContext> = {}, later = 0, height = chain.blocks.length): ApiPlugin => {
    const clock = { now: () => forgedAt(height) + later };
    return createNode({ events, clock, ...context });
  };
  const blocksUpTo = (height: number) => ({ read: (from: number, limit: number) => Promise.resolve(chain.blocks.slice(from - 1, Math.min(height, from - 1 + limit))) });
  const listening = async (plugin: ApiPlugin): Promise<string> => (await listenTo(plugin)).url;
  const get = async (url: string): Promise<{ status: number; body: Record<string, unknown> }> => {
    const response = await fetch(url);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };

  it("names the tip, the newest final block and the oldest one, each by height and id", async () => {
    const height = 2 * activeDelegates + 8;
    const plugin = create({ blocks: blocksUpTo(height) }, 0, height);
    const url = await listening(plugin);
    const expected = { status: "ok", height, tip: mark(height), final: mark(height - 2 * activeDelegates), oldest: mark(1) };
    expect(await get(`${url}/health`)).to.deep.equal({ status: 200, body: expected });
    expect(plugin.health()).to.deep.equal(expected);
    expect(await get(`${url}/health/ready`)).to.deep.equal({ status: 200, body: expected });
    expect(await get(`${url}/v1/health/live`)).to.deep.equal({ status: 200, body: { status: "ok" } });
  });

  it("names the same where the host keeps its own chain", async () => {
    const adapter = createMemoryAdapter(chain.network);
    for (const block of chain.blocks.slice(0, 7)) adapter.apply(block);
    const url = await listening(create({ chain: adapter }, 0, 7));
    expect(await get(`${url}/health`)).to.deep.equal({ status: 200, body: { status: "ok", height: 7, tip: mark(7), final: mark(1), oldest: mark(1) } });
    expect((await get(`${url}/health/ready`)).status).to.equal(200);
  });

  it("names as the oldest the first block whose state is kept: that since which there is history, or the tip", async () => {
    const dataDir = temporaryFolder();
    const bare = create({ blocks: blocksUpTo(9), dataDir, options: { history: false } }, 0, 9);
    const url = await listening(bare);
    expect((await get(`${url}/health`)).body).to.deep.include({ tip: mark(9), oldest: mark(9) });
    await bare.stop();
    const later = create({ blocks: blocksUpTo(12), dataDir, events: new EventEmitter() }, 0, 12);
    const laterUrl = await listening(later);
    await until(async () => ((await get(`${laterUrl}/health`)).body.height === 12 ? true : undefined));
    expect((await get(`${laterUrl}/health`)).body).to.deep.include({ tip: mark(12), oldest: mark(9) });
    expect((await get(`${laterUrl}/blockchain?at=8`)).body).to.deep.include({ code: "HISTORY_MISSING", oldest: mark(9) });
  });

  it("takes the option `finality` for what is final", async () => {
    const url = await listening(create({ blocks: blocksUpTo(20), options: { finality: 3 } }, 0, 20));
    expect((await get(`${url}/health`)).body).to.deep.include({ final: mark(17) });
  });

  it("has no tip, and is not ready, before there is a state", async () => {
    const url = await listening(create({ chain: createMemoryAdapter(chain.network) }));
    expect(await get(`${url}/health`)).to.deep.equal({ status: 503, body: { status: "starting", height: 0 } });
    expect(await get(`${url}/health/ready`)).to.deep.equal({ status: 503, body: { status: "starting", height: 0, problem: "starting", detail: "starting" } });
    expect((await get(`${url}/health/live`)).status).to.equal(200);
  });

  it("is not ready without a block for more than five block times, unless `staleAfter` says otherwise", async () => {
    const problemAfter = async (blockTimes: number, options: NodeContext["options"] = {}): Promise<unknown> => {
      const url = await listening(create({ blocks: blocksUpTo(9), options, events: new EventEmitter() }, blockTimes * blocktime * 1000, 9));
      const { status, body } = await get(`${url}/health/ready`);
      expect(status).to.equal(body.problem === undefined ? 200 : 503);
      expect((await get(`${url}/health`)).status).to.equal(200);
      return body.problem;
    };
    expect(await problemAfter(5)).to.equal(undefined);
    expect(await problemAfter(5.1)).to.equal("stale");
    expect(await problemAfter(5.1, { staleAfter: 6 })).to.equal(undefined);
    expect(await problemAfter(6.1, { staleAfter: 6 })).to.equal("stale");
    expect(await problemAfter(1000, { staleAfter: false })).to.equal(undefined);
    const url = await listening(create({ blocks: blocksUpTo(9), events: new EventEmitter() }, 2 * 86_400_000, 9));
    expect((await get(`${url}/health/ready`)).body.detail).to.equal("there has been no block for 2 days");
  });

  it("is not ready while its host catches up with the network", async () => {
    const problemWith = async (sync: NodeContext["sync"]): Promise<unknown> => {
      const url = await listening(create({ blocks: blocksUpTo(9), events: new EventEmitter(), ...(sync === undefined ? {} : { sync }) }, 0, 9));
      return (await get(`${url}/health/ready`)).body.problem;
    };
    expect(await problemWith({ networkHeight: () => 14 })).to.equal(undefined);
    expect(await problemWith({ networkHeight: () => 15 })).to.equal("catching up");
    expect(await problemWith({ networkHeight: () => 15, synced: () => true })).to.equal(undefined);
    expect(await problemWith({ networkHeight: () => 9, synced: () => false })).to.equal("catching up");
    expect(await problemWith({ networkHeight: () => Promise.reject(new Error("no peers")) })).to.equal(undefined);
  });

  it("is not ready while it reads the blocks that it missed", async () => {
    const dataDir = temporaryFolder();
    const before = create({ dataDir, blocks: blocksUpTo(9) }, 0, 9);
    await before.start();
    await before.stop();
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const { read } = blocksUpTo(26);
    let asked = 0;
    const blocks = {
      height: () => 26,
      // The first answer has the height; the second is waited for.
      read: async (from: number, limit: number): Promise<BlockData[]> => {
        if (++asked > 3) await answered;
        return read(from, Math.min(limit, 5));
      },
    };
    const url = await listening(create({ dataDir, blocks }, 0, 26));
    const { status, body } = await until(async () => {
      const reply = await get(`${url}/health/ready`);
      return reply.body.problem === "catching up" ? reply : undefined;
    });
    expect([status, body.status]).to.deep.equal([503, "ok"]);
    answer();
    await until(async () => ((await get(`${url}/health/ready`)).status === 200 ? true : undefined));
    // It is ready as soon as it lacks but one block.
    await until(async () => (((await get(`${url}/health`)).body.tip as { height: number }).height === 26 ? true : undefined));
    expect((await get(`${url}/health`)).body.tip).to.deep.equal(mark(26));
  });

  it("says that it is behind the host, or that the host has another chain", async () => {
    const told = async (context: Partial<NodeContext>, block: unknown) => {
      const emitter = new EventEmitter();
      const url = await listening(create({ events: emitter, ...context }, 0, 1));
      mock.timers.enable({ apis: ["setTimeout"] });
      emitter.emit("block.applied", chain.blocks[1]);
      emitter.emit("block.applied", block);
      for (;;) {
        // It tries again and again before it says so.
        mock.timers.tick(1_000);
        const reply = await get(`${url}/health/ready`);
        if (reply.status === 503) return reply;
      }
    };
    const behind = await told({}, { ...chain.blocks[4], transactions: undefined });
    mock.timers.reset();
    const diverged = await told({ blocks: blocksUpTo(2) }, { ...chain.blocks[1], id: "123456789" });
    expect(behind.body).to.deep.include({ problem: "behind the host", status: "failing", height: 2 });
    expect(diverged.body).to.deep.include({ problem: "diverged", status: "failing", height: 2 });
    expect(diverged.body.detail).to.match(/the host has applied block 2 \(123456789\), but the store has another block at that height/);
  });

  it("is alive, but not ready, while it stops", async () => {
    const adapter = createMemoryAdapter(chain.network);
    for (const block of chain.blocks.slice(0, 2)) adapter.apply(block);
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const plugin = create({ chain: adapter, pool: { list: () => answered.then(() => []) } }, 0, 2);
    const server = await plugin.listen(0);
    const { port } = server.address() as AddressInfo;
    // Their connections were there before.
    const probes = [connect(port, "127.0.0.1"), connect(port, "127.0.0.1")] as const;
    for (const probe of probes) await once(probe, "connect");
    const open = fetch(`http://127.0.0.1:${port}/api/transactions/unconfirmed`);
    await once(server, "request");
    const stopped = plugin.stop();
    for (const [index, path, expected] of [[0, "live", /200 OK[^]*"status":"ok"/], [1, "ready", /503 Service Unavailable[^]*"problem":"stopping"/]] as const) {
      let text = "";
      probes[index].on("data", (part: Buffer) => (text += part.toString()));
      probes[index].write(`GET /api/health/${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
      await until(() => Promise.resolve(expected.test(text) || undefined));
    }
    expect((await get(`http://127.0.0.1:${port}/api/health/live`).catch(() => "refused"))).to.equal("refused");
    answer();
    await open;
    await stopped;
  });
});
