import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { type Key, open } from "lmdb";
import { openWebhookStore } from "../../src/store/webhooks/webhook-store.js";
import { createReceiver, type Receiver } from "./receiver.js";
import { createStage, eventually, type Stage } from "./stage.js";

const instance = "0123456789ab";
const start = Date.UTC(2024, 0, 1);
const token = "ab".repeat(32);

/** Rows as layout 3 wrote them. */
const webhook = (id: number, target: string, more: object = {}): object => ({
  ...{ id, event: "peer.added", target, enabled: true, conditions: [], match: "any", confirmations: 0, token, olderTokens: [], createdAt: start },
  ...{ failingSince: null, disabledBecause: null },
  ...more,
});
const delivery = (id: number, webhookId: number, more: object): object => ({
  ...{ id, webhookId, messageId: id, event: "peer.added", at: start + id, state: "pending", dueAt: null, finishedAt: null, hold: null },
  ...{ failures: 0, attemptCount: 0, attempts: [] },
  ...more,
});
const attempt = { at: start, duration: 1, status: 500, stage: "status", error: "The target answered 500.", body: "no" };

/** Writes a store of layout 3: three webhooks, with a delivery that waits, one that is retried, one that is dead and one that is held. */
const writeLayout3 = async (path: string, target: string): Promise<void> => {
  const root = open<never, never>({ path, maxDbs: 16, noSubdir: true });
  const put = (name: string, key: Key, value: unknown): void => {
    const encoding = { encoding: "msgpack", keyEncoding: "ordered-binary", encoder: { useRecords: false, useBigIntExtension: true } };
    root.openDB<unknown, Key>({ name: `webhooks-${name}`, ...encoding } as object as { name: string }).putSync(key, value);
  };
  const rows = [
    delivery(1, 1, { state: "retrying", dueAt: start + 60_000, failures: 1, attemptCount: 1, attempts: [attempt] }),
    delivery(2, 1, {}),
    delivery(3, 1, { state: "dead", finishedAt: start, failures: 1, attemptCount: 1, attempts: [attempt] }),
    delivery(4, 3, { event: "block.applied", state: "held", hold: { releaseHeight: 12, blockHeight: 10 } }),
  ] as { id: number; webhookId: number; state: string; dueAt: number | null; finishedAt: number | null; hold: { releaseHeight: number; blockHeight: number } | null }[];
  put("register", 1, webhook(1, target, { failingSince: start, failingFrom: start }));
  put("register", 2, webhook(2, target, { enabled: false, disabledBecause: "gone" }));
  put("register", 3, webhook(3, target, { event: "block.applied", confirmations: 2 }));
  for (const row of rows) {
    const { id, webhookId, state, dueAt, finishedAt, hold } = row;
    put("deliveries", [webhookId, id], row);
    put("messages", id, { at: start + id, json: `{"n":${id}}`, ...(id === 4 ? { about: { event: "block.applied", id: "b" } } : {}) });
    put("states", [webhookId, state, id], true);
    if (dueAt !== null) put("due", [webhookId, dueAt, id], true);
    if (finishedAt !== null) put("finished", [state, finishedAt, webhookId, id], true);
    if (hold !== null) {
      put("held", ["release", hold.releaseHeight, webhookId, id], true);
      put("held", ["block", hold.blockHeight, webhookId, id], true);
    }
    put("counters", `references ${id}`, 1);
    for (const listed of [state, "any"]) {
      const mine = rows.filter((other) => other.webhookId === webhookId && (listed === "any" || other.state === listed)).length;
      put("counters", `in-state ${webhookId} ${listed}`, mine);
      put("counters", `in-bucket ${webhookId} ${listed} ${"0".repeat(14)}`, mine);
    }
  }
  for (const [key, value] of Object.entries({ schema: 3, instance, "last-webhook": 3, webhooks: 3, "last-message": 4, "last-delivery": 4, "register-revision": 3 })) put("counters", key, value);
  put("counters", "time", { passed: start, schedule: start, wall: start, monotonic: null });
  await root.close();
};

describe("a webhook store of an earlier layout", () => {
  let receiver: Receiver;
  let stage: Stage;
  const old = async (): Promise<void> => writeLayout3(join(stage.dataDir, "webhooks.mdb"), receiver.url);

  beforeEach(async () => {
    receiver = await createReceiver();
    stage = await createStage();
    await stage.restart({}, async () => {
      await rm(join(stage.dataDir, "webhooks.mdb"));
      await rm(join(stage.dataDir, "webhooks.mdb-lock"), { force: true });
      await old();
    });
  });
  afterEach(async () => {
    await stage.close();
    await receiver.close();
  });

  it("keeps its webhooks and their secrets", () => {
    const { rows } = stage.engine.list({ offset: 0, limit: 9 });
    expect(rows.map(({ id, event, events, enabled, confirmations, failingSince, disabledBecause }) => ({ id, event, events, enabled, confirmations, failingSince, disabledBecause }))).to.deep.equal([
      { id: 1, event: "peer.added", events: ["peer.added"], enabled: true, confirmations: 0, failingSince: start, disabledBecause: null },
      { id: 2, event: "peer.added", events: ["peer.added"], enabled: false, confirmations: 0, failingSince: null, disabledBecause: "gone" },
      { id: 3, event: "block.applied", events: ["block.applied"], enabled: true, confirmations: 2, failingSince: null, disabledBecause: null },
    ]);
    expect(rows[0]).to.include({ order: "first", batch: null, rate: null, description: "", signature: "v1" });
    expect(stage.environment.store.webhook(1)?.token).to.equal(token);
    expect(stage.environment.store.instance).to.equal(instance);
  });

  it("delivers what was not settled, with its payload and under the name that it had, then what happens from now on", async () => {
    await stage.reaches(1, 2, "delivered");
    stage.clock.advance(60_000);
    await stage.reaches(1, 1, "delivered");
    stage.events.emit("peer.added", { n: 5 });
    await stage.reaches(1, 5, "delivered");
    expect(receiver.received.map(({ json }) => (json.data as { n: number }).n)).to.deep.equal([2, 1, 5]);
    expect(receiver.received.map(({ headers }) => headers["webhook-id"])).to.deep.equal([
      `msg_${instance}_2_${(start + 2).toString(36)}`,
      `msg_${instance}_1_${(start + 1).toString(36)}`,
      stage.engine.delivery(1, 5).messageId,
    ]);
    expect(receiver.received[0]?.json).to.deep.equal({ timestamp: start + 2, data: { n: 2 }, event: "peer.added" });
  });

  it("keeps what is held where the host keeps the chain, and releases it as before", async () => {
    expect(stage.engine.deliveries(3, "held", { offset: 0, limit: 9 }).total).to.equal(1);
    for (const height of [11, 12]) stage.events.emit("block.applied", { id: `block ${height}`, height });
    await stage.reaches(3, 4, "delivered");
    expect(await eventually(() => (stage.engine.deliveries(3, "held", { offset: 0, limit: 9 }).total === 2 ? 2 : undefined))).to.equal(2);
  });

  it("delivers a dead one again on request", async () => {
    stage.engine.redeliver(1, 3);
    const { messageId } = await stage.reaches(1, 3, "delivered");
    expect(messageId).to.equal(`msg_${instance}_3_${(start + 3).toString(36)}`);
  });
});

describe("a webhook store beside the chain, of an earlier layout", () => {
  it("gives a webhook that waits for confirmations a cursor so many blocks below the tip, and drops what was held", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "portico-migration-"));
    await writeLayout3(join(dataDir, "webhooks.mdb"), "http://127.0.0.1:1");
    const { createWebhookStore } = await import("../../src/store/webhooks/webhook-store.js");
    const path = join(dataDir, "webhooks.mdb");
    const root = open<never, never>({ path, maxDbs: 32, noSubdir: true });
    const store = createWebhookStore({ path, root }, { keepsChain: true });
    expect([1, 2, 3].map((id) => store.progress(id).from)).to.deep.equal(["tip", "tip", { below: 2 }]);
    expect([store.delivery(3, 4), store.countOf(3, "held"), store.message(4)]).to.deep.equal([undefined, 0, undefined]);
    expect(store.countOf(1, "retrying")).to.equal(1);
    await root.close();
    const again = openWebhookStore(dataDir);
    expect([...again.store.webhooks()]).to.have.length(3);
    await again.close();
    await rm(dataDir, { recursive: true });
  });
});
