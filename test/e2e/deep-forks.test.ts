import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { mock } from "node:test";
import { EventEmitter } from "eventemitter3";
import { expect } from "chai";
import { createApiPlugin } from "../../src/index.js";
import type { BlockData, BlockSource } from "../../types/events.js";
import type { ApiPlugin } from "../../types/plugin.js";
import type { DeliveryState, Webhook, WebhookSecret } from "../../types/webhooks.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { copyOfStored } from "../fixtures/stored-chain.js";
import { runExample, urlIn } from "../fixtures/process.js";
import { after, at, before, branch, chain, end, fork, newTip, undoBlocks } from "../store/branches.js";
import { createReceiver, type Receiver } from "../webhooks/receiver.js";
import { token, webhookOptions } from "./reader-options.js";
import { setTimeout as delay } from "node:timers/promises";

/** A source that stops within a rebuild, when it is asked for a height, until it is let go on. */
const createSource = () => {
  let goOn: () => void = () => undefined;
  const waiting = new Promise<void>((resolve) => (goOn = resolve));
  let isReached: () => void = () => undefined;
  const reached = new Promise<void>((resolve) => (isReached = resolve));
  const source: BlockSource & { blocks: BlockData[]; stopsAt: number } = {
    blocks: before,
    stopsAt: 0,
    async read(from, limit) {
      if (from === this.stopsAt) {
        isReached();
        await waiting;
      }
      return this.blocks.filter(({ height }) => height >= from).slice(0, Math.min(limit, 20));
    },
    height() {
      return this.blocks.length;
    },
  };
  return { source, reached, goOn };
};

describe("a node whose host goes back further than undo records reach", () => {
  let dataDir: string;
  let node: ApiPlugin;
  let events: EventEmitter;
  let receiver: Receiver;
  let lines: string[];
  let errors: string[];
  beforeEach(async () => {
    [dataDir, events, lines, errors] = [temporaryFolder(), new EventEmitter(), [], []];
    receiver = await createReceiver();
    await copyOfStored("core3-testnet-a", dataDir, end);
  });
  afterEach(async () => {
    await node.stop();
    mock.timers.reset();
    await receiver.close();
  });

  const createNode = (blocks: BlockSource): void => {
    const note = (line: string): void => void lines.push(line);
    const logger = { debug: () => undefined, info: note, warn: note, error: (line: string) => void errors.push(line) };
    node = createApiPlugin({ network: chain.network, events, dataDir, blocks, logger, options: { undoBlocks, webhooks: webhookOptions } });
  };
  const listen = async (): Promise<string> => `http://127.0.0.1:${((await node.listen(0)).address() as AddressInfo).port}/api`;
  const ask = async (url: string): Promise<{ status: number; body: Record<string, unknown> }> => {
    const response = await fetch(url, { headers: { authorization: token } });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const until = async (url: string, status: number): Promise<void> => {
    while ((await fetch(url)).status !== status) await delay(5);
  };
  const create = (event: string): Webhook & WebhookSecret => {
    if (node.webhooks === undefined) throw new Error("there are no webhooks");
    return node.webhooks.create({ event, target: `${receiver.url}/${event}` });
  };
  const told = (event: string): number[] => receiver.received.filter(({ json }) => json.event === event).map(({ json }) => (json.data as { height: number }).height);
  const reverted = before.slice(fork).map(({ height }) => height).reverse();
  const applied = after.slice(fork).map(({ height }) => height);

  it("answers 503 and says why and how far it is, keeps its webhooks and their secrets, and sends each reversal and each new block once", async () => {
    const { source, reached, goOn } = createSource();
    createNode(source);
    const url = await listen();
    const hooks = [create("block.applied"), create("block.reverted")];
    expect((await ask(`${url}/blockchain`)).status).to.equal(200);

    [source.blocks, source.stopsAt] = [after, 39];
    before.slice(fork).reverse().forEach((block) => void events.emit("block.reverted", block));
    for (const block of after.slice(fork)) events.emit("block.applied", block);
    await reached;
    for (const path of ["/blockchain", "/wallets", "/blocks/last", "/v1/blocks/getHeight"]) expect((await ask(url + path)).status, path).to.equal(503);
    const health = await ask(`${url}/health`);
    expect(health).to.deep.equal({
      status: 503,
      body: {
        status: "starting",
        height: 39,
        problem: "the store is being rebuilt from the block source, because the host's chain left it after block 60, further back than it can be reverted: height 39 of 63",
      },
    });
    const kept = (await ask(`${url}/webhooks`)).body.data as { id: number }[];
    expect(kept.map(({ id }) => id)).to.deep.equal(hooks.map(({ id }) => id));

    goOn();
    await node.settled();
    const { oldest, final, ...now } = (await ask(`${url}/health`)).body;
    expect(now).to.deep.equal({ status: "ok", height: newTip.height, tip: { height: newTip.height, id: newTip.id } });
    expect(oldest).to.deep.equal(final);
    expect((await ask(`${url}/blocks/last`)).body.data).to.include({ id: newTip.id });
    expect((await ask(`${url}/blocks/${at(end).id}`)).status).to.equal(404);
    await receiver.until(reverted.length + applied.length);
    expect(told("block.reverted")).to.deep.equal(reverted);
    expect(told("block.applied")).to.deep.equal(applied);
    for (const { json, headers } of receiver.received) {
      const hook = hooks.find(({ event }) => event === json.event);
      expect(headers.authorization).to.equal(hook?.token.slice(0, 32));
    }
    expect(lines.filter((line) => line.includes("rebuil"))).to.have.length(2);
  });

  it("logs no error for deliveries that wait until the store is rebuilt, at a start, and sends them then", async () => {
    const { source, reached, goOn } = createSource();
    createNode(source);
    await node.start();
    const held: ServerResponse[] = [];
    const hold = (_request: unknown, response: ServerResponse): void => void held.push(response);
    receiver.answer = hold;
    const { id } = node.webhooks?.create({ event: "block.applied", target: receiver.url, from: "genesis" }) ?? {};
    const total = (state: DeliveryState): number => node.webhooks?.deliveries(Number(id), state, { offset: 0, limit: 1 }).total ?? 0;
    while (held.length === 0 || total("pending") < end) await delay(5);
    await node.stop();

    const before = held.length;
    [source.blocks, source.stopsAt] = [after, 39];
    createNode(source);
    const starting = node.start();
    await reached;
    await receiver.until(before + 1);
    receiver.answer = (_request, response) => response.end();
    held.forEach((response) => response.end());
    // Its place is free: another is taken.
    while (total("delivered") < held.length - before) await delay(5);
    goOn();
    await starting;
    await node.settled();
    while (total("pending") + total("retrying") > 0) await delay(5);
    expect(new Set(told("block.applied")).size).to.be.at.least(fork);
    expect(errors).to.deep.equal([]);
  });

  it("sends the reversal of each block that the host leaves while the store is rebuilt, below the first fork", async () => {
    const { source, reached, goOn } = createSource();
    createNode(source);
    await listen();
    ["block.applied", "block.reverted"].forEach(create);
    [source.blocks, source.stopsAt] = [after, 39];
    events.emit("block.applied", newTip);
    await reached;
    const lower = fork - 10;
    const other = branch(lower, fork + 5);
    source.blocks = [...before.slice(0, lower), ...other];
    goOn();
    events.emit("block.applied", other.at(-1));
    await node.settled();
    while (told("block.applied").at(-1) !== other.at(-1)?.height) await delay(5);
    await node.settled();
    expect(told("block.reverted")).to.deep.equal(before.slice(lower).map(({ height }) => height).reverse());
    expect(told("block.applied")).to.deep.equal(other.map(({ height }) => height));
  });

  it("notices within 15 s that the host's database was rolled back without an event", async () => {
    const { source, reached, goOn } = createSource();
    mock.timers.enable({ apis: ["setInterval"] });
    createNode(source);
    await node.start();
    await node.settled();
    expect(node.health()).to.include({ status: "ok", height: end });
    [source.blocks, source.stopsAt] = [after, 39];
    mock.timers.tick(15_000);
    await reached;
    expect(node.health().status).to.equal("starting");
    goOn();
    await node.settled();
    expect(node.health()).to.include({ status: "ok", height: newTip.height });
  });

  it("notices within 15 s of its start that the host's database was rolled back while it was stopped, and says both heights", async () => {
    const { source } = createSource();
    createNode(source);
    await node.start();
    await node.stop();
    source.blocks = before.slice(0, 90);
    mock.timers.enable({ apis: ["setInterval"] });
    createNode(source);
    const url = await listen();
    mock.timers.tick(15_000);
    while (node.health().status === "ok") await delay(5);
    expect(node.health()).to.deep.include({ status: "failing", height: end });
    expect(node.health().problem).to.include("ends at height 90").and.include(`height ${end}`);
    expect((await ask(`${url}/health/ready`)).body).to.include({ problem: "diverged" });
    source.blocks = before;
    while (node.health().status !== "ok") {
      mock.timers.tick(15_000);
      await delay(5);
    }
    expect((await ask(`${url}/health/ready`)).body).not.to.include({ problem: "diverged" });
  });

  it("is followed by its readers: they answer 503 with the reason while it rebuilds its store, then as it does", async () => {
    const { source, reached, goOn } = createSource();
    createNode(source);
    const own = await listen();
    const reader = runExample("test/e2e/reader-process.ts", { DATA_DIR: dataDir, CHAIN: "core3-testnet-a" });
    const url = urlIn(await reader.line(/^listens at /));
    await reader.line(/^started/);
    expect((await ask(`${url}/blocks/last`)).body.data).to.include({ id: at(end).id });

    [source.blocks, source.stopsAt] = [after, 39];
    events.emit("block.applied", newTip);
    await reached;
    for (const path of ["/blockchain", "/blocks/last", "/blocks/39"]) expect((await ask(url + path)).status, path).to.equal(503);
    const { status, body } = await ask(`${url}/health`);
    expect([status, body.status, body.height]).to.deep.equal([503, "starting", 39]);
    expect(body.problem).to.match(/^the store is being rebuilt .* after block 60, .*: height 39$/);

    goOn();
    await node.settled();
    await until(`${url}/blockchain`, 200);
    for (const path of ["/blockchain", "/blocks/last", "/wallets?limit=100", "/delegates?limit=100", "/health"]) {
      expect(await ask(url + path), path).to.deep.equal(await ask(own + path));
    }
  });

  it("goes on after kill -9 at any moment of the rebuild, is never ok before its end, and sends each event once", async () => {
    createNode({ read: (from, limit) => before.filter(({ height }) => height >= from).slice(0, limit) });
    await node.start();
    const hooks = [create("block.applied"), create("block.reverted")];
    await node.stop();

    const run = () => runExample("test/e2e/rebuild-process.ts", { DATA_DIR: dataDir });
    for (const reads of [1, 14, 25, 3]) {
      const killed = run();
      await Promise.race([killed.line(new RegExp(`^read ${reads} `)), killed.ended]);
      killed.kill("SIGKILL");
      await killed.ended;
      // What it said of itself, from the moment on when it was rebuilding, and before it had read the chain's last block.
      const said = killed.lines.slice(killed.lines.findIndex((line) => !line.endsWith(": ok")));
      expect(said.filter((line) => line.endsWith(": ok") && !line.includes(`from ${newTip.height}:`)), killed.lines.join("\n")).to.deep.equal([]);
    }
    const last = run();
    expect(await last.line(/^settled/)).to.equal(`settled ok ${newTip.height}`);
    expect(await last.ended).to.equal(0);

    createNode({ read: (from, limit) => after.filter(({ height }) => height >= from).slice(0, limit) });
    await node.start();
    // What the process that was killed last had sent, and not recorded, comes again.
    const names = (): Set<unknown> => new Set(receiver.received.map(({ headers }) => headers["webhook-id"]));
    while (names().size < reverted.length + applied.length) await receiver.until(receiver.received.length + 1);
    const recorded = hooks.map(({ id }) => node.webhooks?.deliveries(id, undefined, { offset: 0, limit: 1_000 }).total);
    expect(recorded).to.deep.equal([applied.length, reverted.length]);
    expect(new Set(told("block.reverted"))).to.deep.equal(new Set(reverted));
    expect(new Set(told("block.applied"))).to.deep.equal(new Set(applied));
  });
});
