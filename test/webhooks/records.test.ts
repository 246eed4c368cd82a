import { expect } from "chai";
import { createRecords, type AttemptResult, type Records } from "../../src/webhooks/deliver/write-outcomes.js";
import { createRegister } from "../../src/webhooks/register/register.js";
import { createTimekeeper } from "../../src/webhooks/timekeeper.js";
import type { WebhookStore } from "../../src/webhooks/rows/store.js";
import { createManualClock } from "./manual-clock.js";
import { createLogger } from "./stage.js";
import { useWebhookStore } from "./own-store.js";
import { webhookRow } from "./webhook-row.js";

const attempt = { at: 1, duration: 1, status: 204, stage: null, error: null, body: "" };
const noAttempts = { isUnderWay: () => false, hasArrived: () => false, overtake: () => undefined };
const rules = { schedule: [5_000], jitter: 0, disableAfter: 1_000_000 };

describe("the records of attempts", () => {
  const storeNow = useWebhookStore();

  const addDeliveries = (count: number): void => {
    const store = storeNow();
    store.transaction(() => {
      store.addWebhook(webhookRow);
      for (let n = 1; n <= count; n++) store.append({ at: n, json: "1" }, [{ webhookId: 1, event: "peer.added", key: `msg_${n}` }]);
    });
  };

  for (const [what, fails] of [
    ["what follows an outcome", { onRecorded: true }],
    ["whoever counts what is given up", { onOutcome: true }],
    ["whoever waits for it", { done: true }],
  ] as const) {
    it(`write later outcomes, too, though ${what} throws`, async () => {
      addDeliveries(3);
      const store = storeNow();
      const clock = createManualClock();
      const lines: string[] = [];
      const fail = (): never => {
        throw new Error("not today");
      };
      const records: Records = createRecords(
        { ...rules, schedule: [] },
        {
          ...{ store, clock, register: createRegister(store), time: createTimekeeper(store, clock), random: () => 0.5, logger: createLogger(lines), attempts: noAttempts },
          onOutcome: "onOutcome" in fails ? fail : undefined,
        },
        "onRecorded" in fails ? fail : () => undefined,
      );
      const ended = { webhookId: 1, target: "http://example.com", origin: "http://example.com", attempt: { ...attempt, status: 500, stage: "status" as const, error: "The target answered 500." }, isBatch: false, isPing: false };
      const add = (ids: number[], mayWait: boolean): Promise<void> =>
        new Promise((resolve) =>
          records.add({ ...ended, ids }, mayWait, () => {
            resolve();
            if ("done" in fails) fail();
          }),
        );
      await add([1], false);
      await add([2], true);
      await add([3], false);
      await records.end();
      expect(records.count()).to.equal(0);
      expect([1, 2, 3].map((id) => store.delivery(1, id)).map((row) => [row?.state, row?.attemptCount])).to.deep.equal([["dead", 1], ["dead", 1], ["dead", 1]]);
      expect(lines.filter((line) => line.startsWith("error "))).to.deep.equal(Array.from({ length: 3 }, () => "error webhooks: the outcomes of deliveries could not be passed on: not today"));
    });
  }

  it("end a webhook's failing with the next success that is written, though one before could not be", async () => {
    addDeliveries(4);
    const store = storeNow();
    let refuses = false;
    const refusing: WebhookStore = {
      ...store,
      transactionSoon: (work) =>
        store.transactionSoon(() => {
          const result = work();
          if (refuses) throw new Error("the disk is full");
          return result;
        }),
    };
    const clock = createManualClock();
    const lines: string[] = [];
    const needs = { store: refusing, clock, register: createRegister(store), time: createTimekeeper(store, clock), random: () => 0.5, logger: createLogger(lines), attempts: noAttempts };
    const records = createRecords(rules, needs, () => undefined);
    const ended = (id: number, status: number): AttemptResult => {
      const ok = status < 300;
      return { webhookId: 1, ids: [id], target: webhookRow.target, origin: "http://example.com", attempt: { ...attempt, status, stage: ok ? null : "status", error: ok ? null : "no" }, isBatch: false, isPing: false };
    };
    const add = (id: number, status: number): Promise<void> => new Promise((resolve) => records.add(ended(id, status), false, resolve));
    await add(1, 204);
    await add(2, 500);
    expect(store.progress(1).failing?.since).to.equal(clock.now());
    refuses = true;
    records.add(ended(3, 204), false, () => undefined);
    await records.end();
    expect(store.progress(1).failing?.since).to.equal(clock.now());
    refuses = false;
    await add(4, 204);
    expect(store.progress(1).failing).to.equal(undefined);
    expect([3, 4].map((id) => store.delivery(1, id)?.state)).to.deep.equal(["delivered", "delivered"]);
    expect(lines.filter((line) => line.includes("fails"))).to.have.length(2);
  });
});
