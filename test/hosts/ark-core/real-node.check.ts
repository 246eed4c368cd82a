import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { createCrypto } from "../../../examples/standalone/crypto.js";
import type { TransactionData } from "../../../types/events.js";
import { compareWithNode } from "./comparison.js";
import { freePort } from "../../free-port.js";
import { createInbox, type Inbox } from "./inbox.js";
import { installNode } from "./installation.js";
import { rewardHeight, shortRounds } from "./network.js";
import { buildPortico, configureNode, installPlugins, type PluginEntry } from "./node-folder.js";
import { type NodeProcess, startNode } from "./node-process.js";
import { type Postgres, startPostgres } from "./postgres.js";
import { type Served, servedOn } from "./served.js";
import { tellStory } from "./story.js";

const token = "a-token-of-this-check";
const authorization = { authorization: token };

/** Every event that the story makes a node emit. */
const events = [
  "block.received",
  "block.applied",
  "block.forged",
  "transaction.pool.added",
  "transaction.pool.rejected",
  "transaction.applied",
  "transaction.forged",
  "delegate.registered",
  "delegate.resigned",
  "wallet.vote",
  "wallet.unvote",
  "round.created",
  "round.applied",
];

/** A failed delivery is tried again every second, for longer than any target here is down. */
const schedule = Array.from({ length: 120 }, () => 1_000);

/** Heights that the story ends after: two whole rounds with a reward. */
const lastHeight = 22;

/** Two peers, of which one has its interface switched off. */
const peers = (height: number) =>
  [4003, -1].map((port, i) => ({
    ip: `127.0.0.${i + 2}`,
    port: 4001,
    ports: { "@arkecosystem/core-api": port },
    version: "3.9.1",
    latency: 12 + i,
    state: { height, header: {} },
  }));

/** Nothing of this went wrong, and nothing looked beyond this machine. */
const expectQuiet = (log: readonly string[] = []): void => {
  for (const line of log) expect(line).to.not.match(/LOOKED OUTSIDE|ERROR.*Portico|unhandledRejection/i);
};

describe("examples/ark-core, in the process of a real ARK Core 3.9.1 node", function () {
  this.timeout(300_000);
  this.bail(true);

  const network = shortRounds();
  const folder = mkdtempSync(join(tmpdir(), "portico-ark-core-"));
  const eventFile = join(folder, "events.ndjson");
  let installation: string;
  let postgres: Postgres;
  let inbox: Inbox;
  let ports: { p2p: number; api: number; portico: number; again: number };
  let running: NodeProcess | undefined;
  let [node, portico, again] = [undefined, undefined, undefined] as unknown as [Served, Served, Served];
  let story: ReturnType<typeof tellStory>;
  let secrets: string[];
  /** Height above which the late target is told of blocks. */
  let lateFrom: number;

  before(async function () {
    this.timeout(1_200_000);
    installation = installNode();
    const delegates = join(installation, "node_modules/@arkecosystem/core/bin/config/testnet/delegates.json");
    ({ secrets } = JSON.parse(readFileSync(delegates, "utf8")) as { secrets: string[] });
    story = tellStory(createCrypto(network), secrets);
    buildPortico(join(folder, "portico"));
    installPlugins(folder, join(folder, "portico"));
    postgres = await startPostgres();
    inbox = await createInbox();
    ports = { p2p: await freePort(), api: await freePort(), portico: await freePort(), again: await freePort() };
    [node, portico, again] = [servedOn(ports.api), servedOn(ports.portico), servedOn(ports.again)];
  });

  afterEach(function () {
    if (this.currentTest?.state !== "failed") return;
    const { log = [] } = running ?? {};
    console.error(log.filter((line) => !/State Generation|event '|Rejected 127/.test(line)).slice(-80).join("\n"));
  });

  after(async () => {
    await running?.kill();
    await inbox.close();
    await postgres.stop();
    rmSync(folder, { recursive: true });
  });

  const start = async (forging: string[], plugins: PluginEntry[]): Promise<NodeProcess> => {
    configureNode(folder, { network, p2pPort: ports.p2p, secrets: forging, plugins });
    return (running = await startNode({ installation, folder, postgres, ports }));
  };

  const plugin = (name: string, port: number): PluginEntry => ({
    package: name,
    options: {
      port,
      dataDir: join(folder, name),
      options: { webhooks: { tokens: [token], allowTargets: ["127.0.0.1"], schedule } },
    },
  });

  const listening = (name: string, port: number): Promise<string> => {
    if (running === undefined) throw new Error(`${name}: the node does not run`);
    return running.line(new RegExp(`Portico: listening on http://127.0.0.1:${port}/api`));
  };

  const createWebhook = async (event: string, path: string): Promise<void> => {
    const { status } = await portico.send("POST", "/webhooks", { event, target: `${inbox.url}${path}` }, authorization);
    expect(status).to.equal(201);
  };

  const emitted = (): { name: string; data: unknown; at: number }[] =>
    readFileSync(eventFile, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line) as { name: string; data: unknown; at: number });

  const told = (event: string): unknown[] => inbox.at(`/${event}`).map(({ json }) => json.data);
  const heights = (path: string): number[] => inbox.at(path).map(({ json }) => (json.data as { height: number }).height);
  const untilHeight = (height: number): Promise<void> => inbox.until(() => Math.max(0, ...heights("/block.applied")) >= height);

  it("starts with the node, and serves its genesis", async () => {
    await start([...secrets, story.newDelegate.passphrase], [
      { package: "event-recorder", options: { file: eventFile } },
      plugin("portico-ark-core", ports.portico),
    ]);
    await listening("portico-ark-core", ports.portico);
    for (const event of events) await createWebhook(event, `/${event}`);
    await compareWithNode(node, portico);
  });

  it("hands transactions of every kind to the node's pool, and tells of them when they are forged", async () => {
    let tip = 1;
    for (const { title, notBefore, transactions } of story.chapters) {
      if (notBefore !== undefined) await untilHeight(notBefore());
      const sent = transactions(Math.max(tip, ...heights("/block.applied")));
      const ids = sent.map(({ id }) => id);
      const { body } = await portico.send("POST", "/transactions", { transactions: sent });
      expect(body, title).to.deep.equal({ data: { accept: ids, broadcast: ids, excess: [], invalid: [] }, errors: {} });
      const isTold = (id: string): boolean => told("transaction.applied").some((data) => (data as TransactionData).id === id);
      await inbox.until(() => ids.every(isTold));
      // Whoever is told can read it.
      for (const id of ids) expect((await portico.get(`/transactions/${id}`)).status, title).to.equal(200);
      tip = await compareWithNode(node, portico);
    }
  });

  it("tells the client what the pool refuses, as the node does", async () => {
    const transactions = [story.refused];
    const [byPortico, byNode] = [await portico.send("POST", "/transactions", { transactions }), await node.send("POST", "/transactions", { transactions })];
    const { data, errors } = byNode.body as { data: unknown; errors: Record<string, unknown> };
    expect(byPortico.status).to.equal(200);
    expect(byPortico.body).to.deep.equal({ data, errors: { [story.refused.id]: [errors[story.refused.id]] } });
  });

  it("agrees with the node on every wallet, delegate, block, transaction, lock and round after some rounds", async () => {
    await untilHeight(Math.max(lastHeight, rewardHeight + 1));
    const { publicKey } = story.newDelegate;
    await inbox.until(() => told("block.applied").some((data) => (data as { generatorPublicKey: string }).generatorPublicKey === publicKey));
    await compareWithNode(node, portico);
  });

  it("sends webhooks what the node's dispatcher dispatched, all of it, in its order", async () => {
    const ofName = (name: string): unknown[] => emitted().filter((event) => event.name === name).map(({ data }) => data);
    // The node goes on forging: look in the pause between two blocks.
    for (let tries = 0; tries < 100 && events.some((event) => told(event).at(-1) === undefined || JSON.stringify(told(event).at(-1)) !== JSON.stringify(ofName(event).at(-1))); tries++) {
      await delay(100);
    }
    for (const event of events) {
      const received = told(event);
      expect(received, event).to.not.be.empty;
      // What was emitted before the webhooks were there has not been sent.
      expect(received, event).to.deep.equal(ofName(event).slice(-received.length));
    }
    const all = heights("/block.applied");
    expect(all).to.deep.equal(all.map((_, i) => (all[0] ?? 0) + i));
  });

  it("has every block soon after the node told of it, though the node tells before its database has it", () => {
    const toldAt = new Map(emitted().filter(({ name }) => name === "block.applied").map(({ data, at }) => [(data as { id: string }).id, at]));
    const lags = inbox.at("/block.applied").map(({ json }) => json.timestamp - (toldAt.get((json.data as { id: string }).id) ?? NaN));
    for (const lag of lags) expect(lag, "milliseconds").to.be.within(0, 3_000);
    expectQuiet(running?.log);
  });

  it("is killed with the node while a target is down", async () => {
    await createWebhook("block.applied", "/late");
    inbox.refuse("/late", true);
    lateFrom = Math.max(...heights("/block.applied"));
    await untilHeight(lateFrom + 2);
    await running?.kill();
    inbox.refuse("/late", false);
  });

  it("goes on where it was, beside a second one that reads the whole chain from the node's database", async () => {
    await start([], [
      { package: "event-recorder", options: { file: eventFile, peers: peers(1000) } },
      plugin("portico-ark-core", ports.portico),
      plugin("portico-ark-core-again", ports.again),
    ]);
    await Promise.all([listening("portico-ark-core", ports.portico), listening("portico-ark-core-again", ports.again)]);
    expect(await compareWithNode(node, portico, { ranks: false })).to.be.at.least(lastHeight);
    await compareWithNode(node, again, { ranks: false });
    expect(await again.rows("/delegates")).to.deep.equal(await portico.rows("/delegates"));
  });

  it("delivers what the target missed", async () => {
    const missed = new Set(heights("/block.applied").filter((height) => height > lateFrom));
    expect(missed).to.not.be.empty;
    await inbox.until(() => [...missed].every((height) => heights("/late").includes(height)));
    // At least once: what comes again has the same id.
    const ids = new Map(inbox.at("/late").map(({ headers, json }) => [headers["webhook-id"], (json.data as { height: number }).height]));
    expect([...ids.values()]).to.have.lengthOf(new Set(ids.values()).size);
  });

  it("tells of the node: its state, its settings, its peers", async () => {
    expect(await portico.data("/node/status")).to.include.keys("synced", "now", "blocksCount");
    const [mine, its] = (await Promise.all([portico.data("/node/status"), node.data("/node/status")])) as Record<string, unknown>[];
    for (const name of ["synced", "now", "blocksCount"]) expect(mine?.[name], name).to.deep.equal(its?.[name]);

    const [myConfiguration, itsConfiguration] = (await Promise.all([portico.data("/node/configuration"), node.data("/node/configuration")])) as Record<string, unknown>[];
    for (const name of ["nethash", "slip44", "wif", "token", "symbol", "explorer", "version", "constants", "transactionPool"]) {
      expect(myConfiguration?.[name], name).to.deep.equal(itsConfiguration?.[name]);
    }
    expect(myConfiguration?.["ports"]).to.deep.equal({
      "@arkecosystem/core-p2p": ports.p2p,
      "@arkecosystem/core-api": ports.api,
      "@arkecosystem/core-webhooks": null,
    });

    const [open, closed] = (await node.data("/peers")) as { ip: string; port: number; version: string; height: number; latency: number }[];
    if (open === undefined || closed === undefined) throw new Error("the node does not know its two peers");
    const [peer, ...others] = (await portico.data("/peers")) as Record<string, unknown>[];
    expect(others).to.be.empty;
    expect(peer).to.deep.include({ ip: open.ip, port: open.port, version: open.version, height: open.height, latency: open.latency, status: 200 });
    expect((await portico.get(`/peers/${closed.ip}`)).status).to.equal(404);
  });

  it("serves the first generation too, with the node's own figures", async () => {
    const delegates = (await node.rows("/delegates")) as { publicKey: string; forged: Record<"fees" | "rewards" | "total", string> }[];
    expect(await portico.get("/v1/delegates/count").then(({ body }) => body)).to.deep.equal({ success: true, count: delegates.length });
    for (const { publicKey, forged } of delegates) {
      const { body } = await portico.get(`/v1/delegates/forging/getForgedByAccount?generatorPublicKey=${publicKey}`);
      const { success, ...figures } = body as Record<string, unknown>;
      expect(success).to.equal(true);
      expect(Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, String(value)]))).to.deep.equal({
        fees: forged.fees,
        rewards: forged.rewards,
        forged: forged.total,
      });
      const voters = (await node.rows(`/delegates/${publicKey}/voters`)).map(({ address }) => address);
      const { body: accounts } = await portico.get(`/v1/delegates/voters?publicKey=${publicKey}`);
      expect((accounts as { accounts: { address: string }[] }).accounts.map(({ address }) => address)).to.have.members(voters);
    }
  });

  it("stops when the node disposes of its plugins", async () => {
    await running?.terminate();
    const { log = [] } = running ?? {};
    running = undefined;
    expect(log.filter((line) => /Disposing portico-ark-core/.test(line))).to.have.length(2);
    expectQuiet(log);
  });
});
