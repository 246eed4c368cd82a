import { expect } from "chai";
import type { DeliveryRow } from "../../src/webhooks/rows/rows.js";
import { createDeliveries } from "../../src/webhooks/deliver/deliveries.js";
import { createTimeReader } from "../../src/webhooks/timekeeper.js";
import { createManualClock } from "./manual-clock.js";
import { useWebhookStore } from "./own-store.js";
import { webhookRow } from "./webhook-row.js";

describe("deliveries, as clients use them", () => {
  const storeNow = useWebhookStore();

  const retrying = (row: DeliveryRow, dueAt: number): DeliveryRow => ({ ...row, state: "retrying", dueAt, failures: row.failures + 1, attemptCount: row.attemptCount + 1 });

  it("redelivers from the latest committed state when an attempt has just changed the delivery", () => {
    const store = storeNow();
    const change = (to: (row: DeliveryRow) => DeliveryRow): void => {
      const row = store.delivery(1, 1)!;
      store.transaction(() => store.changeDelivery(row, to(row)));
    };
    store.transaction(() => {
      store.addWebhook(webhookRow);
      store.append({ at: 1, json: "1" }, [{ webhookId: 1, event: "peer.added", key: "msg_1" }]);
    });
    change((row) => retrying(row, 5_000));
    const clock = createManualClock();
    const transaction: typeof store.transaction = (work) => {
      change((row) => retrying(row, 7_000));
      return store.transaction(work);
    };
    const deliveries = createDeliveries({ store: { ...store, transaction }, clock, time: createTimeReader(store, clock), onWork: () => undefined });
    expect(deliveries.redeliver(1, 1)).to.deep.include({ id: 1, state: "retrying", dueAt: clock.now(), attemptCount: 2 });

    expect(store.retries(1, 10)).to.deep.equal([{ id: 1, dueAt: clock.now() }]);
    change((row) => ({ ...row, state: "delivered", dueAt: null, finishedAt: clock.now() }));
    expect(store.retries(1, 10)).to.deep.equal([]);
    expect(store.deliveries(1, "retrying", { offset: 0, limit: 10 })).to.deep.equal({ rows: [], total: 0 });
    expect(store.deliveries(1, "delivered", { offset: 0, limit: 10 }).total).to.equal(1);
  });
});
