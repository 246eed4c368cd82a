import { expect } from "chai";
import { createCrypto } from "../../../examples/standalone/chain/crypto.js";
import type { TransactionData } from "../../../types/events.js";
import { comparePools, compareWithNode } from "./comparison.js";
import { activeDelegates, rewardHeight, shortRounds } from "./network.js";
import { createStage, type Stage } from "./stage.js";
import { type Story, tellStory } from "./story.js";
import { compareWebhooks, markOf, told } from "./webhook-comparison.js";

/** The events that the story makes a node dispatch. Every other event that Portico knows has a webhook as well. */
const dispatchedEvents = [
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

/** The height that the story ends above: two whole rounds with a reward. */
const lastHeight = 22;

/** Two peers, one of which has its interface disabled. */
const peers = [4003, -1].map((port, i) => ({
  ip: `127.0.0.${i + 2}`,
  port: 4001,
  ports: { "@arkecosystem/core-api": port },
  version: "3.9.1",
  latency: 12 + i,
  state: { height: 1000, header: {} },
}));

/** No part of this failed, and nothing tried to reach beyond this machine. */
const expectQuiet = (log: readonly string[]): void => {
  for (const line of log) expect(line).to.not.match(/LOOKED OUTSIDE|ERROR.*Portico|unhandledRejection/i);
};

describe("examples/ark-core, in the process of a real ARK Core 3.9.1 node", function () {
  this.timeout(300_000);
  this.bail(true);

  const network = shortRounds();
  const ending: (() => Promise<void>)[] = [];
  let stage: Stage;
  let story: Story;
  /** Every event that Portico knows. */
  let events: string[];
  /** When every event had a webhook. */
  let created: number;
  /** The late target gets blocks above this height. */
  let lateFrom: number;

  before(async function () {
    this.timeout(1_200_000);
    stage = await createStage(network);
    ending.push(stage.close);
    story = tellStory(createCrypto(network), stage.secrets);
  });

  afterEach(function () {
    if (this.currentTest?.state !== "failed") return;
    console.error(stage.log().filter((line) => !/State Generation|event '|Rejected 127/.test(line)).slice(-80).join("\n"));
  });

  after(async () => {
    for (const end of ending) await end();
  });

  const createWebhook = async (event: string, path: string): Promise<void> => {
    const { status } = await stage.ask("POST", "/webhooks", { event, target: `${stage.inbox.url}${path}` });
    expect(status).to.equal(201);
  };
  const heights = (path: string): number[] => stage.inbox.at(path).map(({ json }) => (json.data as { height: number }).height);
  const untilHeight = (height: number): Promise<void> => stage.inbox.until(() => Math.max(0, ...heights("/block.applied")) >= height);
  const untilApplied = (ids: string[]): Promise<void> => {
    const isTold = (id: string): boolean => told(stage, "transaction.applied").some((data) => (data as TransactionData).id === id);
    return stage.inbox.until(() => ids.every(isTold));
  };

  it("starts with the node, and serves its genesis", async () => {
    await stage.start({ forging: [...stage.secrets, story.newDelegate.passphrase] });
    const { data } = (await stage.ask("GET", "/webhooks/events")).body as { data: { event: string }[] };
    events = data.map(({ event }) => event);
    expect(events).to.include.members(dispatchedEvents);
    for (const event of events) await createWebhook(event, `/${event}`);
    created = Date.now();
    await compareWithNode(stage.node, stage.portico);
  });

  it("passes transactions of every type to the node's pool, and reports them once they are forged", async () => {
    let tip = 1;
    for (const { title, notBefore, transactions } of story.chapters) {
      if (notBefore !== undefined) await untilHeight(notBefore());
      const sent = transactions(Math.max(tip, ...heights("/block.applied")));
      const ids = sent.map(({ id }) => id);
      const { body } = await stage.ask("POST", "/transactions", { transactions: sent });
      expect(body, title).to.deep.equal({ data: { accept: ids, broadcast: ids, excess: [], invalid: [] }, errors: {} });
      await untilApplied(ids);
      // What has been reported can be read.
      for (const id of ids) expect((await stage.portico.get(`/transactions/${id}`)).status, title).to.equal(200);
      tip = await compareWithNode(stage.node, stage.portico);
    }
  });

  it("reports what the pool refuses as the node does", async () => {
    const transactions = [story.refused];
    const [byPortico, byNode] = [
      await stage.portico.send("POST", "/transactions", { transactions }),
      await stage.node.send("POST", "/transactions", { transactions }),
    ];
    const { data, errors } = byNode.body as { data: unknown; errors: Record<string, unknown> };
    expect(byPortico.status).to.equal(200);
    expect(byPortico.body).to.deep.equal({ data, errors: { [story.refused.id]: [errors[story.refused.id]] } });
  });

  it("agrees with the node on every wallet, delegate, block, transaction, lock and round after some rounds", async () => {
    await untilHeight(Math.max(lastHeight, rewardHeight + 1));
    const { publicKey } = story.newDelegate;
    const isTheirs = (data: unknown): boolean => (data as { generatorPublicKey: string }).generatorPublicKey === publicKey;
    await stage.inbox.until(() => told(stage, "block.applied").some(isTheirs));
    await compareWithNode(stage.node, stage.portico);
  });

  it("gives approvals that the node cuts before it rounds, and the sender as recipient where a transaction names none, as the node does", async () => {
    const { username, approval } = story.quietDelegate;
    for (const served of [stage.node, stage.portico]) {
      expect(await served.data(`/delegates/${username}`)).to.have.nested.property("production.approval", approval);
    }
    for (const type of [1, 2, 3, 4, 5, 6, 7, 9, 10]) {
      for (const served of [stage.node, stage.portico]) {
        const rows = (await served.rows(`/transactions?type=${type}&typeGroup=1`)) as { sender: string; recipient: string }[];
        expect(rows, `type ${type}`).to.not.be.empty;
        for (const { sender, recipient } of rows) expect(recipient, `type ${type}`).to.equal(sender);
      }
    }
  });

  it("sends webhooks for everything that the node dispatched, in order", async () => {
    const counts = await compareWebhooks(stage, events, created);
    for (const event of dispatchedEvents) expect(counts[event], event).to.be.above(0);
    const all = heights("/block.applied");
    expect(all).to.deep.equal(all.map((_, i) => (all[0] ?? 0) + i));
  });

  it("has every block soon after the node emits it, although the node emits it before its database has it", () => {
    const applied = stage.dispatched().filter(({ name }) => name === "block.applied");
    const toldAt = new Map(applied.map(({ data, at }) => [(data as { id: string }).id, at]));
    const lags = stage.inbox.at("/block.applied").map(({ json }) => json.timestamp - (toldAt.get((json.data as { id: string }).id) ?? NaN));
    for (const lag of lags) expect(lag, "milliseconds").to.be.within(0, 3_000);
    expectQuiet(stage.log());
  });

  it("is killed with the node while a target is down", async () => {
    await createWebhook("block.applied", "/late");
    stage.inbox.refuse("/late", true);
    lateFrom = Math.max(...heights("/block.applied"));
    await untilHeight(lateFrom + 2);
    await stage.running().kill();
    stage.inbox.refuse("/late", false);
  });

  it("resumes where it was, beside a second instance that reads the whole chain from the node's database", async () => {
    await stage.start({ forging: [], peers, twice: true });
    expect(await compareWithNode(stage.node, stage.portico, { ranks: false })).to.be.at.least(lastHeight);
    await compareWithNode(stage.node, stage.again, { ranks: false });
    expect(await stage.again.rows("/delegates")).to.deep.equal(await stage.portico.rows("/delegates"));
  });

  it("delivers what the target missed", async () => {
    const missed = new Set(heights("/block.applied").filter((height) => height > lateFrom));
    expect(missed).to.not.be.empty;
    await stage.inbox.until(() => [...missed].every((height) => heights("/late").includes(height)));
    // At least once: a repeated delivery has the same id.
    const deliveries = stage.inbox.at("/late").map(({ headers, json }) => [headers["webhook-id"], (json.data as { height: number }).height] as const);
    const ids = new Map(deliveries);
    expect([...ids.values()]).to.have.lengthOf(new Set(ids.values()).size);
  });

  it("reports the node's state, settings and peers", async () => {
    const { node, portico, ports } = stage;
    expect(await portico.data("/node/status")).to.include.keys("synced", "now", "blocksCount");
    const [mine, its] = (await Promise.all([portico.data("/node/status"), node.data("/node/status")])) as Record<string, unknown>[];
    for (const name of ["synced", "now", "blocksCount"]) expect(mine?.[name], name).to.deep.equal(its?.[name]);

    const path = "/node/configuration";
    const [myConfiguration, itsConfiguration] = (await Promise.all([portico.data(path), node.data(path)])) as Record<string, unknown>[];
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
    const { node, portico } = stage;
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

  it("follows the node when it removes blocks, past the end of a round and with their transactions", async () => {
    const before = markOf(stage, events);
    const tip = await compareWithNode(stage.node, stage.portico, { ranks: false });
    const carrying = (await stage.portico.rows("/blocks")).find(({ transactions }) => Number(transactions) > 0);
    const count = tip - Number(carrying?.["height"]) + 1;
    expect(count).to.be.above(activeDelegates);
    await stage.running().removeBlocks(count);
    await stage.inbox.until(() => told(stage, "block.reverted").length === count);
    const unsure = { ranks: false, lastBlocks: false };
    expect(await compareWithNode(stage.node, stage.portico, unsure)).to.equal(tip - count);
    expect(await compareWithNode(stage.node, stage.again, unsure)).to.equal(tip - count);
    const counts = await compareWebhooks(stage, events, before);
    expect(counts["transaction.reverted"]).to.be.above(0);
    // The node returns their transactions to its pool.
    expect(await comparePools(stage.node, stage.portico)).to.have.length(counts["transaction.reverted"] ?? NaN);
    expectQuiet(stage.log());
  });

  it("stops when the node disposes of its plugins", async () => {
    await stage.running().terminate();
    expect(stage.log().filter((line) => /Disposing portico-ark-core/.test(line)), "plugins that were stopped").to.have.length(2);
    expectQuiet(stage.log());
  });

  it("follows the node onto another branch, with the same transactions in other blocks", async () => {
    const taken = told(stage, "transaction.reverted").map((data) => (data as TransactionData).id);
    const before = markOf(stage, events);
    const fork = told(stage, "block.applied").length;
    await stage.start({ forging: [...stage.secrets, story.newDelegate.passphrase] });
    const isForged = (id: string): boolean =>
      told(stage, "transaction.applied").slice(before.told["transaction.applied"]).some((data) => (data as TransactionData).id === id);
    // Up to the end of a round, where the node ranks its delegates anew.
    await stage.inbox.until(() => taken.every(isForged) && told(stage, "block.applied").length > fork + activeDelegates);
    await compareWithNode(stage.node, stage.portico);
    const left = told(stage, "block.reverted").map((data) => (data as { id: string }).id);
    for (const id of taken) expect(left).to.not.include(((await stage.portico.data(`/transactions/${id}`)) as { blockId: string }).blockId);
    await compareWebhooks(stage, ["block.applied", "block.reverted", "transaction.applied", "transaction.reverted"], before);
    expectQuiet(stage.log());
  });
});
