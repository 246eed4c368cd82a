import { statSync } from "node:fs";
import { expect } from "chai";
import { createWebhookStore } from "../../src/store/webhooks/webhook-store.js";
import { webhookRow } from "../webhooks/webhook-row.js";
import { loadChain } from "../data/read.js";
import { closeTemporaryStores, contentsOf, openStoreAt } from "./temporary-store.js";

const name = "core3-custom-c";
const chain = loadChain(name);

describe("the LMDB store, with webhooks written concurrently", () => {
  afterEach(closeTemporaryStores);

  it("loses neither blocks nor deliveries, whether a webhook transaction runs at once or is queued", async () => {
    const { store, rules } = await openStoreAt(name, 60);
    const webhooks = createWebhookStore(store.environment);
    const { id } = webhooks.transaction(() => webhooks.addWebhook(webhookRow));
    const blocks = chain.blocks.slice(60, 130).map(rules.parseBlock);
    let [writing, written] = [true, 0];
    const deliver = (): void => {
      webhooks.append({ at: written, json: `"${written}"` }, [{ webhookId: id, event: "peer.added", key: "msg", begin: { state: "pending" } }]);
      written++;
    };
    const beside = async (): Promise<void> => {
      for (let turn = 0; writing; turn++) {
        if (turn % 3 === 0) webhooks.transaction(deliver);
        else if (turn % 3 === 1) await webhooks.transactionSoon(deliver);
        else void webhooks.transactionSoon(deliver);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const both = beside();
    for (let from = 0; from < blocks.length; from += 5) await store.apply(blocks.slice(from, from + 5));
    for (let taken = 0; taken < 20; taken++) await store.revert();
    writing = false;
    await both;
    await webhooks.transactionSoon(() => undefined);

    expect(written).to.be.above(50);
    expect(webhooks.deliveries(id, undefined, { offset: 0, limit: 1 }).total).to.equal(written);
    const alone = await openStoreAt(name, 60);
    await alone.store.apply(blocks.slice(0, 50));
    expect(contentsOf(store)).to.deep.equal(contentsOf(alone.store));
  });

  it("does not let webhook writes grow the file between blocks once pages are freed", async () => {
    const { store } = await openStoreAt(name, 60);
    const webhooks = createWebhookStore(store.environment);
    const before = store.snapshot()!;
    const size = (): number => statSync(store.environment.path).size;
    const write = (times: number): void => {
      for (let time = 0; time < times; time++) webhooks.transaction(() => webhooks.setJournalPosition(time));
    };
    const grown = (times: number): number => {
      const from = size();
      write(times);
      return size() - from;
    };
    const held = grown(200);
    store.freePages();
    before.release?.();
    store.freePages();
    expect(held, "while what was held before cannot be written over").to.be.above(1_000_000);
    expect(grown(100)).to.equal(0);
    expect(store.tip()).to.deep.equal(before.tip);
  });

  it("leaves snapshots and the visible state unchanged when pages are freed", async () => {
    const shown: (number | undefined)[] = [];
    // Committed but not visible yet: freeing pages must not make it visible.
    const prewarm = async (): Promise<void> => {
      store.freePages();
      await new Promise((resolve) => setImmediate(resolve));
      shown.push(store.tip()?.height);
    };
    const { store, rules } = await openStoreAt(name, 60, {}, { prewarm });
    store.markComplete();
    const snapshot = store.snapshot()!;
    store.freePages();
    await store.apply(chain.blocks.slice(60, 61).map(rules.parseBlock));
    expect(shown).to.deep.equal([60]);
    expect(store.tip()?.height).to.equal(61);
    expect(snapshot.block({ height: 60 })).to.not.equal(undefined);
    expect(snapshot.block({ height: 61 })).to.equal(undefined);
    snapshot.release?.();
  });
});
