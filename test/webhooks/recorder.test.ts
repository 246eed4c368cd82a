import { expect } from "chai";
import type { About, DeliveryRow } from "../../types/webhook-store.js";
import type { FollowEvent, Group } from "../../src/follow/index.js";
import { createRegister } from "../../src/webhooks/registry/register.js";
import { createHolding } from "../../src/webhooks/scan/record/holding.js";
import type { Plan } from "../../src/webhooks/scan/record/plan.js";
import { createRecorder } from "../../src/webhooks/scan/record/recorder.js";
import { createTimekeeper } from "../../src/webhooks/timekeeper.js";
import { createManualClock } from "./manual-clock.js";
import { useWebhookStore } from "./own-store.js";
import { webhookRow } from "./webhook-row.js";

/** What a block does, for webhook 1. */
const planOf = (kind: "applied" | "reverted", block: { height: number; id: string }): Plan => {
  const event: FollowEvent = { id: `${block.id}.${kind}.block`, event: `block.${kind}`, at: 1, block, data: { id: block.id }, json: `{"id":"${block.id}"}` };
  const group: Group = { change: undefined, events: [event], before: { block: undefined }, after: { block } };
  const about: About = { event: `block.${kind}`, id: block.id };
  return { place: { cursor: "" }, group, events: [{ event, index: 0, about, transactions: 0, ids: [1] }], last: new Map([[1, 0]]), seenTransactions: undefined };
};

describe("the recorder of what is to be delivered", () => {
  const storeNow = useWebhookStore();

  it("tells whose deliveries were taken back before they count as any others again", async () => {
    const store = storeNow();
    const time = createTimekeeper(store, createManualClock());
    const withdrawn = new Set<number>();
    const told: unknown[] = [];
    const written: DeliveryRow[] = [];
    store.transaction(() => store.addWebhook({ ...webhookRow, events: ["block.applied", "block.reverted"] }));
    const recorder = createRecorder({
      ...{ store, time, window: 10, withdrawn, register: createRegister(store), holding: createHolding({ store, time, confirmationsOf: () => 0 }) },
      ...{ mayBeAttempted: () => false, isUnderWay: () => false, hasArrived: () => false, overtake: () => undefined, onWritten: (all) => written.push(...all.flatMap(({ rows }) => rows)) },
      onChanged: (webhookIds) => told.push({ webhooks: [...webhookIds], withdrawn: [...withdrawn], state: store.delivery(1, 1)?.state }),
    });
    const record = (plan: Plan) => recorder.record([plan], new Set([1]), { isCurrent: () => true, put: () => undefined, mayBeTold: () => false, isOnRequest: false });
    await record(planOf("applied", { height: 2, id: "17" }));
    expect([told, store.delivery(1, 1)?.state]).to.deep.equal([[], "pending"]);
    expect(written).to.deep.equal([store.delivery(1, 1)]);
    await record(planOf("reverted", { height: 2, id: "17" }));
    expect(told).to.deep.equal([{ webhooks: [1], withdrawn: [1], state: "dropped" }]);
    expect([...withdrawn]).to.deep.equal([]);
  });
});
