import { readdirSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect } from "chai";
import { EventEmitter } from "eventemitter3";
import { type ApiPlugin, type BlockData, createApiPlugin, type NodeContext } from "portico";
import { atEndOfTest } from "../at-end.js";
import { loadChain } from "../data/read.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { runExample } from "../fixtures/process.js";
import { silentLogger } from "../silent.js";

const { network, blocks } = loadChain("core3-testnet-a");

/** Everything in a process that a library must not touch. */
const surroundings = () => ({
  globals: Object.getOwnPropertyNames(globalThis).sort(),
  prototypes: [Object, Array, String, Number, BigInt, Function, Promise, Map].map(({ prototype }) =>
    Reflect.ownKeys(prototype as object).map(String),
  ),
  listeners: Object.fromEntries(process.eventNames().map((name) => [String(name), process.listenerCount(name)])),
  folder: process.cwd(),
  environment: { ...process.env },
  title: process.title,
  exitCode: process.exitCode,
});

describe("plugins in a host's process", () => {
  let folder: string;
  beforeEach(() => (folder = temporaryFolder()));

  const create = (name: string, context: Partial<NodeContext> = {}): ApiPlugin => {
    const plugin = createApiPlugin({ network, events: new EventEmitter(), dataDir: join(folder, name), logger: silentLogger, ...context });
    atEndOfTest(() => plugin.stop());
    return plugin;
  };
  const source = (given: readonly BlockData[]) => ({ read: (from: number, limit: number) => given.slice(from - 1, from - 1 + limit) });
  const listening = async (plugin: ApiPlugin): Promise<string> =>
    `http://127.0.0.1:${((await plugin.listen(0)).address() as AddressInfo).port}/api`;
  const textOf = async (url: string, init?: RequestInit): Promise<string> => (await fetch(url, init)).text();
  const heightAt = async (url: string): Promise<number> =>
    (JSON.parse(await textOf(`${url}/blockchain`)) as { data: { block: { height: number } } }).data.block.height;

  it("leave the process unchanged: globals, prototypes, handlers, working directory, environment", async () => {
    const before = surroundings();
    const plugin = create("data", { blocks: source(blocks.slice(0, 60)) });
    const url = await listening(plugin);
    expect(surroundings(), "while it serves").to.deep.equal(before);
    expect(await heightAt(url)).to.equal(60);
    await textOf(`${url}/wallets/search`, { method: "POST", body: '{"balance":{"from":1}}' });
    await textOf(`${url}/nowhere`);
    expect(surroundings(), "after requests").to.deep.equal(before);
    await plugin.stop();
    expect(surroundings(), "when it has stopped").to.deep.equal(before);
  });

  it("leave the host's emitter with the listeners it had, and its payloads unchanged", async () => {
    const events = new EventEmitter();
    const heard: unknown[] = [];
    events.on("block.applied", (block: unknown) => heard.push(block));
    const count = (): Record<string, number> => Object.fromEntries(events.eventNames().map((name) => [String(name), events.listenerCount(name)]));
    const before = count();
    const plugin = create("data", { events });
    expect(count(), "before it starts").to.deep.equal(before);
    await plugin.start();
    const emitted = structuredClone(blocks[1]);
    events.emit("block.applied", emitted);
    await plugin.settled();
    expect(plugin.health().height).to.equal(2);
    expect(heard, "what others hear").to.deep.equal([blocks[1]]);
    expect(emitted, "the payload, which is the host's").to.deep.equal(blocks[1]);
    await plugin.stop();
    expect(count(), "when it has stopped").to.deep.equal(before);
  });

  it("throw nothing into the host's emitter, whatever is emitted", async () => {
    const events = new EventEmitter();
    const plugin = create("data", { events });
    await plugin.start();
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    for (const payload of [undefined, null, 7, "block", {}, [], circular, { height: 2 }, { get id(): never { throw new Error("a trap"); } }]) {
      for (const event of ["block.applied", "block.reverted", "transaction.applied", "wallet.vote"]) {
        expect(() => events.emit(event, payload), `${event} ${typeof payload}`).not.to.throw();
      }
    }
    await plugin.stop();
  });

  it("open, create and listen to nothing before they start", async () => {
    const events = new EventEmitter();
    const plugin = create("data", { events });
    plugin.callback();
    plugin.health();
    expect(await plugin.chain.snapshot()).to.equal(undefined);
    expect(plugin.webhooks).to.equal(undefined);
    expect(readdirSync(folder)).to.deep.equal([]);
    expect(events.eventNames()).to.deep.equal([]);
    await plugin.stop();
    expect(readdirSync(folder), "stopped without having been started").to.deep.equal([]);
  });

  it("are independent of one another, including their webhooks", async () => {
    const allowTargets = ["127.0.0.1"];
    const emitters = [new EventEmitter(), new EventEmitter()] as const;
    const one = create("one", { events: emitters[0], options: { webhooks: { tokens: ["token of one"], allowTargets } } });
    const other = create("other", { events: emitters[1], options: { amounts: "string", webhooks: { tokens: ["token of the other"], allowTargets } } });
    const [atOne, atOther] = [await listening(one), await listening(other)];

    const hook = { event: "block.applied", target: "http://127.0.0.1:9/" };
    const { id } = one.webhooks?.create(hook) ?? {};
    expect(one.webhooks?.list({ offset: 0, limit: 9 }).total).to.equal(1);
    expect(other.webhooks?.list({ offset: 0, limit: 9 }).total).to.equal(0);
    const status = async (url: string, Authorization: string) => (await fetch(`${url}/webhooks`, { headers: { Authorization } })).status;
    expect([await status(atOne, "token of one"), await status(atOne, "token of the other")]).to.deep.equal([200, 401]);
    expect([await status(atOther, "token of one"), await status(atOther, "token of the other")]).to.deep.equal([401, 200]);

    emitters[0].emit("block.applied", blocks[1]);
    await one.settled();
    await other.settled();
    expect([await heightAt(atOne), await heightAt(atOther)]).to.deep.equal([2, 1]);
    expect(one.webhooks?.deliveries(id ?? 0, undefined, { offset: 0, limit: 9 }).total).to.equal(1);
    const balances = await Promise.all([atOne, atOther].map(async (url) => /"balance":("?)/.exec(await textOf(`${url}/wallets/top?limit=1`))?.[1]));
    expect(balances).to.deep.equal(["", '"']);

    await one.stop();
    expect(emitters[0].eventNames()).to.deep.equal([]);
    emitters[1].emit("block.applied", blocks[1]);
    await other.settled();
    expect(await heightAt(atOther)).to.equal(2);
    expect(other.webhooks?.create(hook).id).to.equal(1);
  });

  it("may share an emitter, and a whole context except for the folder", async () => {
    const events = new EventEmitter();
    const [one, other] = [create("one", { events }), create("other", { events })];
    await Promise.all([one.start(), other.start()]);
    events.emit("block.applied", blocks[1]);
    await Promise.all([one.settled(), other.settled()]);
    await one.stop();
    events.emit("block.applied", blocks[2]);
    await other.settled();
    expect(one.health()).to.deep.equal({ status: "stopped", height: 0 });
    expect(other.health()).to.include({ status: "ok", height: 3 });
  });

  for (const when of ["served", "started", "never started"] as const) {
    it(`let the process end by itself after they have ${when} and stopped`, async () => {
      const child = runExample("test/hosts/ending-process.ts", { WHEN: when });
      expect(await child.ended, child.lines.join("\n")).to.equal(0);
      const said = (what: string): unknown => {
        const line = child.lines.find((said) => said.startsWith(`${what} {`));
        return line === undefined ? undefined : JSON.parse(line.slice(what.length));
      };
      expect(said("made"), "when it was made").to.deep.equal({ resources: [], listeners: {} });
      expect(said("left"), "when it had stopped").to.deep.equal({ resources: [], listeners: {} });
    });
  }
});
