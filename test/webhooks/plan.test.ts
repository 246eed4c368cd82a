import { expect } from "chai";
import type { WebhookStore } from "../../types/webhook-store.js";
import { createChainRules } from "../../src/chain/rules.js";
import { loadChain } from "../data/read.js";
import { createReceiver, type Receiver } from "./receiver.js";
import { createScriptedChain } from "./scripted-chain.js";
import { createStage, type Stage, type StageNeeds } from "./stage.js";

const chain = loadChain("core3-testnet-a");
const rules = createChainRules(chain.network);
const full = chain.blocks.slice(0, 300).map((block) => rules.parseBlock(block));
/** With a block of 150 transactions. */
const first = full.slice(0, 30);
/** Of the first blocks after genesis, the names and ids of what a webhook for both is told. */
const told = first.slice(1).flatMap(({ block, transactions }) => [`block.applied ${block.id}`, ...transactions.map(({ id }) => `transaction.applied ${id}`)]);

/** Does the work while no time passes: a transaction takes what can be written in two milliseconds, and how much that is would be the machine's speed. */
const withoutTime = <T>(work: () => T): T => {
  const now = performance.now();
  performance.now = () => now;
  try {
    return work();
  } finally {
    Reflect.deleteProperty(performance, "now");
  }
};

describe("what many groups bring to webhooks", () => {
  let receiver: Receiver;
  let stage: Stage;
  let transactions: number;
  /** Those in which deliveries were written. */
  let written: number;

  const open = async (window: number, needs: StageNeeds = {}): Promise<void> => {
    const count = (store: WebhookStore): WebhookStore => ({
      ...store,
      transactionSoon: (work) => {
        transactions++;
        return store.transactionSoon(() => {
          const before = store.lastMessage();
          const result = withoutTime(work);
          if (store.lastMessage() > before) written++;
          return result;
        });
      },
    });
    stage = await createStage({ window }, { ...needs, wrapStore: count });
  };
  const names = (): string[] => receiver.received.map(({ json }) => `${json.event} ${(json.data as { id: string }).id}`);

  beforeEach(async () => {
    receiver = await createReceiver();
    transactions = written = 0;
  });
  afterEach(async () => {
    await stage.close();
    await receiver.close();
  });

  it("is written together where each brings one delivery", async () => {
    await open(1_000, { changes: createScriptedChain(full, () => 1).changes });
    const webhook = { event: "block.applied", target: "http://127.0.0.1:9/", from: "1" } as const;
    stage.engine.create(webhook);
    await stage.engine.settled();
    written = 0;
    stage.engine.create(webhook);
    await stage.engine.settled();
    expect(stage.engine.list({ offset: 0, limit: 2 }).rows.map(({ id }) => stage.engine.deliveries(id, undefined, { offset: 0, limit: 1 }).total)).to.deep.equal([full.length - 1, full.length - 1]);
    expect(written).to.be.below(30);
  });

  it("is written together where a host emits one event after another", async () => {
    await open(1_000);
    stage.engine.create({ event: "peer.added", target: receiver.url });
    await stage.engine.settled();
    const ips = Array.from({ length: 300 }, (_, index) => `10.0.0.${index}`);
    for (const ip of ips) stage.events.emit("peer.added", { ip });
    const received = await receiver.until(ips.length);
    expect(received.map(({ json }) => (json.data as { ip: string }).ip)).to.deep.equal(ips);
    expect(transactions).to.be.below(150);
  });

  for (const window of [1, 3, 50]) {
    it(`arrives once, in order and whole where ${window} may be unsettled`, async () => {
      await open(window, { changes: createScriptedChain(first, () => 1).changes });
      stage.engine.create({ events: ["block.applied", "transaction.applied"], target: receiver.url, from: "1" });
      await receiver.until(told.length);
      await stage.engine.settled();
      expect(names()).to.deep.equal(told);
    });
  }
});
