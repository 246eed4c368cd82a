import { expect } from "chai";
import { createLimit, createPlacing } from "../../src/webhooks/deliver/lanes/concurrency.js";
import { type Attempt, createLanes, type Lane, type Lanes, lookAgain, type Target } from "../../src/webhooks/deliver/lanes/lanes.js";
import { nextOf } from "../../src/webhooks/deliver/lanes/next.js";
import type { DeliveryRow, WebhookRow } from "../../types/webhook-store.js";
import { useWebhookStore } from "./own-store.js";
import { webhookRow } from "./webhook-row.js";

const [one, other] = ["http://a.example/1", "http://a.example/2"];
const now = { schedule: 10_000, monotonic: 500 };
const rules = { ordered: true, concurrencyPerTarget: 8, window: 1_000 };

describe("what a target is sent next", () => {
  const storeNow = useWebhookStore();
  const limit = createLimit(100, 1_000);
  let underWay: Map<number, number>;
  let withdrawn: Set<number>;
  let lanes: Lanes;

  beforeEach(() => {
    underWay = new Map<number, number>();
    withdrawn = new Set();
    lanes = createLanes({ ...rules, limit, underWay, isWithdrawn: (id) => withdrawn.has(id), pauseOf: () => ({ pausedUntil: 0, lastPause: 0 }) });
  });

  /** Makes a webhook; they are numbered from 1. */
  const addWebhook = (more: Partial<WebhookRow> = {}): Lane => {
    const store = storeNow();
    const { id } = store.transaction(() => store.addWebhook({ ...webhookRow, target: one, ...more }));
    lanes.align(id, store.webhook(id));
    return lanes.find(id) ?? expect.fail();
  };
  /** Deliveries of one event, to some webhooks. Returns their ids. */
  const append = (webhookIds: readonly number[], state: "pending" | "ping" = "pending"): number[] => {
    const store = storeNow();
    return store.transaction(() => store.append({ at: 1, json: "1" }, webhookIds.map((webhookId) => ({ webhookId, event: "peer.added", key: "msg", begin: { state } })))).map(({ id }) => id);
  };
  const row = (webhookId: number, id: number): DeliveryRow => storeNow().delivery(webhookId, id) ?? expect.fail();
  const change = (webhookId: number, id: number, more: Partial<DeliveryRow>): void => {
    const store = storeNow();
    store.transaction(() => store.changeDelivery(row(webhookId, id), { ...row(webhookId, id), ...more }));
    // As whoever changes a delivery has it do.
    lookAgain(lanes.find(webhookId) ?? expect.fail());
  };
  const retry = (webhookId: number, id: number, dueAt: number, batch?: string): void => change(webhookId, id, { state: "retrying", dueAt, failures: 1, ...(batch === undefined ? {} : { batch }) });
  const target = (url = one): Target => lanes.target(url) ?? expect.fail();
  const next = (times = now, { ordered = true, url = one } = {}): string | undefined => {
    const found = nextOf(target(url), storeNow(), { ...rules, ordered }, times);
    return found && `${found.kind} ${found.lane.webhook.id}: ${found.rows.map(({ id }) => id).join(" ")}`;
  };
  /** As if an attempt had taken them. */
  const take = (lane: Lane, ids: readonly number[], isAwaited = true): Attempt => {
    const rows = ids.map((id) => row(lane.webhook.id, id));
    const attempt: Attempt = { lane, rows, kind: "first", target: lane.target, state: "sending", at: 0, seen: { register: 0, work: 0 }, place: createPlacing().enter(lane.target.limits, 0), isAwaited, isOvertaken: false, hasArrived: false };
    lane.target.underWay.add(attempt);
    lane.open.count++;
    lane.open.taken += ids.length;
    if (isAwaited) lane.target.firsts++;
    for (const id of ids) underWay.set(id, 0);
    lane.ready = lane.ready.filter(({ id }) => !ids.includes(id));
    return attempt;
  };

  it("is nothing where nothing waits", () => {
    addWebhook();
    expect(next()).to.equal(undefined);
  });

  it("is the earliest first attempt of all its webhooks, and none of another target's", () => {
    for (const more of [{}, {}, { target: other }]) addWebhook(more);
    const [third] = append([3]);
    const [, second] = [append([2]), append([1, 2])];
    expect(third).to.equal(1);
    expect(next()).to.equal("first 2: 2");
    change(2, 2, { state: "delivered", finishedAt: 1 });
    expect(next()).to.equal(`first 1: ${second[0] ?? 0}`);
    expect(next(now, { url: other })).to.equal("first 3: 1");
  });

  it("is looked for with webhooks that may not know of an earlier one, if they have not been handed all before it", () => {
    const [first, second] = [addWebhook(), addWebhook()];
    expect(next()).to.equal(undefined);
    expect([first.more, second.more]).to.deep.equal([undefined, undefined]);
    const [one] = append([1]);
    const [two] = append([2]);
    lookAgain(second);
    expect(next()).to.equal(`first 1: ${one ?? 0}`);
    first.ready = [];
    expect(next(), "read to its end").to.equal(`first 2: ${two ?? 0}`);
    const [three] = append([1]);
    const [four] = append([2]);
    expect(three).to.equal((four ?? 0) - 1);
    lookAgain(second);
    second.passed = two ?? 0;
    lanes.handed.upTo = four ?? 0;
    expect(next(), "all was handed over").to.equal(`first 2: ${four ?? 0}`);
  });

  it("goes through a long queue, however little of it is read ahead", () => {
    const lane = addWebhook();
    for (let n = 0; n < 600; n++) append([1]);
    const told: (string | undefined)[] = [];
    for (let id = 1; id <= 600; id++) {
      told.push(next());
      take(lane, [id], false);
      expect(lane.ready.length).to.be.at.most(256);
    }
    expect(told).to.deep.equal(Array.from({ length: 600 }, (_, index) => `first 1: ${index + 1}`));
    expect(next()).to.equal(undefined);
    expect(lane.more).to.equal(undefined);
  });

  it("leaves out what is under way, taken back, or no longer waits for its first attempt", () => {
    const lane = addWebhook({ order: "none" });
    for (let n = 0; n < 5; n++) append([1]);
    take(lane, [1], false);
    expect(next()).to.equal("first 1: 2");
    withdrawn.add(2);
    change(1, 3, { state: "superseded", finishedAt: 1 });
    expect(next()).to.equal("first 1: 4");
    retry(1, 4, 20_000);
    expect(next()).to.equal("first 1: 5");
  });

  it("is nothing that was read ahead, and has been taken since as a retry", () => {
    const lane = addWebhook({ order: "none" });
    for (let n = 0; n < 3; n++) append([1]);
    expect(next()).to.equal("first 1: 1");
    underWay.set(1, 0);
    underWay.set(2, 0);
    expect(next()).to.equal("first 1: 3");
    expect(lane.ready.map(({ id }) => id)).to.deep.equal([3]);
  });

  it("waits for the first attempt that is under way there, but for a webhook without an order, and where order is switched off", () => {
    const [first] = [addWebhook(), addWebhook(), addWebhook({ order: "none" })];
    append([1]);
    append([2]);
    append([3]);
    take(first, [1]);
    expect(next()).to.equal("first 3: 3");
    expect(next(now, { ordered: false })).to.equal("first 2: 2");
  });

  it("is nothing new while an attempt of a block is under way that was reverted since", () => {
    const lane = addWebhook({ order: "none" });
    append([1]);
    append([1]);
    const attempt = take(lane, [1], false);
    expect(next()).to.equal("first 1: 2");
    attempt.isOvertaken = true;
    expect(next()).to.equal(undefined);
  });

  it("is a retry when it is due, in turn with first attempts, and says until when the store need not be asked", () => {
    const lane = addWebhook();
    for (let n = 0; n < 3; n++) append([1]);
    retry(1, 1, 10_000);
    retry(1, 2, 10_001);
    expect(target().last).to.equal("retry");
    expect(next()).to.equal("first 1: 3");
    target().last = "first";
    expect(next()).to.equal("retry 1: 1");
    change(1, 1, { state: "delivered", dueAt: null, finishedAt: 1 });
    expect(next()).to.equal("first 1: 3");
    expect([lane.nextDue, lane.skipped]).to.deep.equal([10_001, false]);
    change(1, 3, { state: "delivered", finishedAt: 1 });
    expect(next()).to.equal(undefined);
    lane.nextDue = 0;
    expect(next()).to.equal(undefined);
    expect(next({ ...now, schedule: 10_001 })).to.equal("retry 1: 2");
  });

  it("passes over retries that are under way, and notes that there were some", () => {
    const lane = addWebhook();
    for (let n = 0; n < 3; n++) append([1]);
    for (const id of [1, 2, 3]) retry(1, id, 9_000 + id);
    expect(next()).to.equal("retry 1: 1");
    expect(lane.skipped).to.equal(false);
    take(lane, [1], false);
    expect(next()).to.equal("retry 1: 2");
    expect(lane.skipped).to.equal(true);
  });

  it("waits, where the next retry is just being taken back, until that is written, which brings the lane work", () => {
    const lane = addWebhook();
    for (let n = 0; n < 2; n++) append([1]);
    for (const id of [1, 2]) retry(1, id, 9_000 + id);
    withdrawn.add(1);
    expect(next()).to.equal(undefined);
    expect([lane.nextDue, lane.skipped]).to.deep.equal([Infinity, false]);
    change(1, 1, { state: "superseded", dueAt: null, finishedAt: 1 });
    withdrawn.delete(1);
    lane.nextDue = 0;
    expect(next()).to.equal("retry 1: 2");
  });

  it("is of a webhook in strict order nothing after what is to be tried again, and nothing beside what is under way", () => {
    const lane = addWebhook({ order: "strict" });
    for (let n = 0; n < 3; n++) append([1]);
    retry(1, 2, 20_000);
    expect(next()).to.equal("first 1: 1");
    change(1, 1, { state: "delivered", finishedAt: 1 });
    expect(next()).to.equal(undefined);
    expect(next({ ...now, schedule: 20_000 })).to.equal("retry 1: 2");
    take(lane, [2], false);
    lane.nextDue = 0;
    retry(1, 3, 20_000);
    expect(next({ ...now, schedule: 20_000 })).to.equal(undefined);
    change(1, 2, { state: "delivered", dueAt: null, finishedAt: 1 });
    change(1, 3, { state: "delivered", dueAt: null, finishedAt: 1 });
    append([1]);
    lookAgain(lane);
    expect(next(now, { ordered: false })).to.equal(undefined);
    lane.open.count = 0;
    expect(next(now, { ordered: false })).to.equal("first 1: 4");
  });

  it("is of retries in strict order the earliest event, whichever is due first", () => {
    addWebhook({ order: "strict" });
    append([1]);
    append([1]);
    retry(1, 1, 30_000);
    retry(1, 2, 9_000);
    expect(next()).to.equal(undefined);
    const lane = lanes.find(1) ?? expect.fail();
    expect(lane.nextDue).to.equal(30_000);
    for (const dueAt of [9_500, 8_000]) {
      retry(1, 1, dueAt);
      lane.nextDue = 0;
      expect(next()).to.equal("retry 1: 1");
    }
  });

  it("is no retry in strict order before the first attempt of an earlier event: a client may have asked for one that was never attempted", () => {
    const lane = addWebhook({ order: "strict" });
    append([1]);
    append([1]);
    retry(1, 2, 9_000);
    expect(next()).to.equal("first 1: 1");
    take(lane, [1], false);
    lane.open.count = 1;
    expect(next()).to.equal(undefined);
  });

  it("is a batch that is as large as a window allows, which cannot become larger", () => {
    addWebhook({ batch: { size: 3, wait: 100 } });
    append([1]);
    append([1]);
    const found = nextOf(target(), storeNow(), { ...rules, window: 2 }, now);
    expect(found?.rows.map(({ id }) => id)).to.deep.equal([1, 2]);
  });

  it("is a batch when it is full, or has waited for long enough", () => {
    const lane = addWebhook({ batch: { size: 3, wait: 100 } });
    append([1]);
    append([1]);
    expect(next()).to.equal(undefined);
    expect(lane.batchSince).to.equal(10_000);
    expect(next({ ...now, schedule: 10_099 })).to.equal(undefined);
    expect(next({ ...now, schedule: 10_100 })).to.equal("first 1: 1 2");
    append([1]);
    append([1]);
    lane.more = 4;
    expect(next()).to.equal("first 1: 1 2 3");
  });

  it("is a batch again as it went out: what was sent with it and is due at the same time", () => {
    const lane = addWebhook({ batch: { size: 5, wait: 0 } });
    for (let n = 0; n < 6; n++) append([1]);
    for (const [id, dueAt, batch] of [[1, 9_000, "a"], [2, 9_000, "a"], [3, 9_000, "b"], [4, 9_001, "a"], [5, 9_000, "a"], [6, 9_000, "a"]] as const) retry(1, id, dueAt, batch);
    take(lane, [5], false);
    withdrawn.add(6);
    expect(next()).to.equal("retry 1: 1 2");
    change(1, 1, { state: "delivered", dueAt: null, finishedAt: 1 });
    change(1, 2, { state: "delivered", dueAt: null, finishedAt: 1 });
    expect(next()).to.equal("retry 1: 3");
  });

  it("is a batch again in strict order, however many that come after it are due before it", () => {
    addWebhook({ order: "strict", batch: { size: 5, wait: 0 } });
    for (let n = 0; n < 150; n++) append([1]);
    for (const id of [1, 2]) retry(1, id, 9_000, "a");
    for (let id = 3; id <= 150; id++) retry(1, id, 8_000);
    expect(next()).to.equal("retry 1: 1 2");
  });

  it("is in strict order no batch that passes what is to be tried again", () => {
    addWebhook({ order: "strict", batch: { size: 3, wait: 0 } });
    for (let n = 0; n < 3; n++) append([1]);
    retry(1, 2, 20_000);
    expect(next()).to.equal("first 1: 1");
  });

  it("waits for the rate of its webhook, first attempts and retries alike", () => {
    const lane = addWebhook({ rate: 1 });
    append([1]);
    append([1]);
    retry(1, 2, 9_000);
    lane.mayAt = 501;
    expect(next()).to.equal(undefined);
    lane.mayAt = 500;
    expect(next()).to.equal("first 1: 1");
    target().last = "first";
    expect(next()).to.equal("retry 1: 2");
  });

  it("is a ping before all else, though the target asked for a pause, which holds up everything else", () => {
    addWebhook();
    append([1]);
    append([1]);
    retry(1, 2, 9_000);
    target().pausedUntil = 10_001;
    expect(next()).to.equal(undefined);
    const [ping] = append([1], "ping");
    (lanes.find(1) ?? expect.fail()).nextDue = 0;
    expect(next()).to.equal(`ping 1: ${ping ?? 0}`);
    change(1, ping ?? 0, { state: "delivered", dueAt: null, finishedAt: 1 });
    expect(next({ ...now, schedule: 10_000 })).to.equal(undefined);
    expect(next({ ...now, schedule: 10_001 })).to.equal("first 1: 1");
  });
});
