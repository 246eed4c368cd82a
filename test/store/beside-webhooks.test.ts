import { expect } from "chai";
import { createWebhookStore } from "../../src/store/webhooks/webhook-store.js";
import { webhookRow } from "../webhooks/webhook-row.js";
import { loadChain } from "../data/read.js";
import { closeTemporaryStores, contentsOf, openTemporaryStore } from "./temporary-store.js";

const chain = loadChain("core3-custom-c");

describe("the LMDB store beside webhooks that are written at the same time", function () {
  this.timeout(60_000);
  afterEach(closeTemporaryStores);

  it("loses nothing of either, whether they are written at once or soon", async () => {
    const { store, rules } = openTemporaryStore(chain.network);
    const webhooks = createWebhookStore(store.environment.root);
    const { id } = webhooks.transaction(() => webhooks.addWebhook(webhookRow));
    const blocks = chain.blocks.slice(0, 300).map(rules.parseBlock);
    let [writing, written] = [true, 0];
    const deliver = (): void => {
      webhooks.append({ at: written, json: `"${written}"` }, [{ webhookId: id, event: "peer.added", begin: { state: "pending" } }]);
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
    for (let from = 0; from < blocks.length; from += 7) await store.apply(blocks.slice(from, from + 7));
    for (let taken = 0; taken < 40; taken++) await store.revert();
    writing = false;
    await both;
    await webhooks.transactionSoon(() => undefined);

    expect(written).to.be.above(50);
    expect(webhooks.deliveries(id, undefined, { offset: 0, limit: 1 }).total).to.equal(written);
    const alone = openTemporaryStore(chain.network);
    await alone.store.apply(blocks.slice(0, 260));
    expect(contentsOf(store)).to.deep.equal(contentsOf(alone.store));
  });
});
