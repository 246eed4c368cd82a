import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import fc from "fast-check";
import { open } from "lmdb";
import type { DeliveryRow, Recipient } from "../../src/webhooks/rows/rows.js";
import type { WebhookStore } from "../../src/webhooks/rows/store.js";
import type { DeliveryState } from "../../types/webhooks.js";
import { PorticoError } from "../../src/errors.js";
import { createWebhookStore, openWebhookStore, type WebhookEnvironment } from "../../src/webhooks/rows/store.js";
import { webhookRow } from "./webhook-row.js";
import { count } from "../fixtures/long.js";
import { programOf } from "../fixtures/programs.js";

const states: DeliveryState[] = ["pending", "retrying", "delivered", "dead", "dropped", "superseded"];
/** The row of a delivery in the given state, with everything that belongs to the state. */
const inState = (row: DeliveryRow, state: DeliveryState, time: number): DeliveryRow => ({
  ...row,
  state,
  dueAt: state === "retrying" ? time : null,
  finishedAt: ["delivered", "dead", "dropped", "superseded"].includes(state) ? time : null,
});

/** Of a first attempt that delivered it. */
const attemptWith = (body: string) => ({ at: 9, duration: 3, status: 200, stage: null, error: null, body });
const delivered = (row: DeliveryRow, time: number, body: string): DeliveryRow => ({ ...inState(row, "delivered", time), failures: time % 7 === 0 ? 1 : 0, attemptCount: 1, attempts: [attemptWith(body)] });

type Step =
  | { kind: "append"; recipients: { webhookId: number; begin: number; last?: true | undefined; onRequest?: true | undefined; reverts?: string | undefined }[]; times: number }
  | { kind: "change"; pick: number; state: DeliveryState; time: number }
  | { kind: "deliver"; picks: number[]; time: number; body: string }
  | { kind: "trim"; delivered: number; dead: number; limit: number }
  | { kind: "remove"; webhookId: number };

const time = fc.integer({ min: 2, max: 40 });
const marks = { last: fc.constant(true as const), onRequest: fc.constant(true as const) };
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant("append" as const),
        recipients: fc.array(
          fc.record(
            { webhookId: fc.integer({ min: 1, max: 3 }), begin: fc.constantFrom(0, 0, 0, 1), ...marks, reverts: fc.constantFrom("msg_0", "m".repeat(400)) },
            { requiredKeys: ["webhookId", "begin"] },
          ),
          { minLength: 1, maxLength: 4 },
        ),
        times: fc.constantFrom(1, 1, 3, 30),
      }),
    },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant("deliver" as const), picks: fc.array(fc.nat(), { minLength: 1, maxLength: 30 }), time, body: fc.constantFrom("", "ok", "x".repeat(100)) }) },
    { weight: 6, arbitrary: fc.record({ kind: fc.constant("change" as const), pick: fc.nat(), state: fc.constantFrom(...states), time }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("trim" as const), delivered: time, dead: time, limit: fc.integer({ min: 1, max: 20 }) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("remove" as const), webhookId: fc.integer({ min: 1, max: 3 }) }) },
  ),
  { maxLength: 40 },
);

/** How a step is written: at once, or soon; by this store, or by another that writes to the same file; after others that write nothing, or that fail. */
interface Way {
  soon: boolean;
  isLong: boolean;
  elsewhere: boolean;
  begins: "" | "fails" | "empty" | "together";
}
const ways: fc.Arbitrary<Way[]> = fc.array(
  fc.record({ soon: fc.boolean(), isLong: fc.boolean(), elsewhere: fc.constantFrom(false, false, true), begins: fc.constantFrom("", "", "fails", "empty", "together") }),
  { minLength: 1, maxLength: 40 },
);

const giveUp = (): never => {
  throw new Error("changed its mind");
};

/** A store whose transactions go another way. Nothing else is written while one is open. */
const writeIn = ({ soon, isLong, begins }: Way, store: WebhookStore, step: Step) => async (work: () => void): Promise<void> => {
  const other = begins === "together" ? store.transactionSoon(() => store.putProgress(9, { failing: { since: 9, from: 9, isAnnounced: false } })) : undefined;
  if (begins === "fails" && step.kind === "append") {
    const vain = (): never => {
      store.append({ at: 99, json: "0" }, step.recipients.map(({ begin, ...rest }) => ({ ...rest, event: "peer.added", key: "vain", isPing: begin === 1 })));
      return giveUp();
    };
    const failed = soon ? store.transactionSoon(vain).catch(() => true) : Promise.resolve().then(() => store.transaction(vain)).catch(() => true);
    expect(await failed).to.equal(true);
  }
  if (soon) await store.transactionSoon(work, { isLong });
  else store.transaction(work);
  await other;
};

/** A model of the store as a plain list. */
const createModel = () => {
  const rows: DeliveryRow[] = [];
  const removed = new Set<number>();
  let [messages, deliveries] = [0, 0];
  return {
    rows,
    apply: async (store: WebhookStore, step: Step, way: Way): Promise<void> => {
      const write = writeIn(way, store, step);
      switch (step.kind) {
        case "append": {
          // Nothing is delivered to a removed webhook, whose remaining rows may already have been trimmed.
          const present = step.recipients.filter(({ webhookId }) => !removed.has(webhookId));
          if (present.length === 0) return;
          const one = (): void => {
            messages++;
            const message = { at: messages, json: `{"n":${messages}}` };
            const recipients = present.map(({ begin, ...rest }) => ({ ...rest, event: "peer.added", key: `msg_${messages}`, isPing: begin === 1 }));
            const appended = store.append(message, recipients);
            for (const [index, { isPing, ...rest }] of recipients.entries()) {
              const row = { ...rest, id: ++deliveries, messageId: messages, at: messages, failures: 0, attemptCount: 0, attempts: [] };
              rows.push(inState({ ...row, state: "pending", dueAt: null, finishedAt: null }, "pending", 0));
              if (isPing) rows[rows.length - 1] = { ...rows.at(-1)!, dueAt: 0 };
              expect(appended[index]).to.deep.equal(rows.at(-1));
            }
          };
          await write(() => {
            for (let time = 0; time < step.times; time++) one();
          });
          return;
        }
        case "deliver":
          if (rows.length === 0) return;
          // Read within the transaction, which must see what it has written so far.
          await write(() => {
            for (const pick of step.picks) {
              const index = pick % rows.length;
              const before = rows[index]!;
              expect(store.delivery(before.webhookId, before.id)).to.deep.equal(before);
              rows[index] = delivered(before, step.time, step.body);
              store.changeDelivery(before, rows[index]);
            }
            const { webhookId } = rows[(step.picks[0] ?? 0) % rows.length]!;
            const waiting = rows.filter((row) => row.webhookId === webhookId && row.state === "pending");
            expect(store.deliveryIds(webhookId, "pending", 0, 5_000)).to.deep.equal(waiting.map(({ id }) => id));
          });
          return;
        case "change": {
          if (rows.length === 0) return;
          const index = step.pick % rows.length;
          const before = rows[index]!;
          const after = inState(before, step.state, step.time);
          await write(() => store.changeDelivery(before, after));
          rows[index] = after;
          return;
        }
        case "trim": {
          const isOver = (row: DeliveryRow): boolean =>
            removed.has(row.webhookId) || (row.finishedAt !== null && row.finishedAt < (row.state === "dead" ? step.dead : step.delivered));
          const over = rows.filter(isOver);
          expect(store.trim(step, step.limit)).to.equal(Math.min(step.limit, over.length));
          const left = rows.filter((row) => store.delivery(row.webhookId, row.id) !== undefined);
          expect(rows.filter((row) => !left.includes(row)).every(isOver)).to.equal(true);
          rows.splice(0, rows.length, ...left);
          return;
        }
        case "remove":
          await write(() => store.removeWebhook(step.webhookId));
          removed.add(step.webhookId);
      }
    },
  };
};

const compare = (store: WebhookStore, rows: readonly DeliveryRow[]): void => {
  const all = { offset: 0, limit: 5_000 };
  for (const webhookId of [1, 2, 3]) {
    const own = rows.filter((row) => row.webhookId === webhookId);
    const newestFirst = own.toReversed();
    expect(store.deliveries(webhookId, undefined, all)).to.deep.equal({ rows: newestFirst, total: own.length });
    expect(store.deliveries(webhookId, undefined, { offset: 2, limit: 3 }).rows).to.deep.equal(newestFirst.slice(2, 5));
    for (const state of states) {
      const those = newestFirst.filter((row) => row.state === state);
      expect(store.deliveries(webhookId, state, all)).to.deep.equal({ rows: those, total: those.length });
      const ids = those.map(({ id }) => id).reverse();
      expect(store.deliveryIds(webhookId, state, 0, 5_000)).to.deep.equal(ids);
      expect(store.countOf(webhookId, state)).to.equal(ids.length);
      expect(store.deliveryIds(webhookId, state, 5, 2)).to.deep.equal(ids.filter((id) => id > 5).slice(0, 2));
    }
    const due = own.filter(({ dueAt }) => dueAt !== null).map(({ id, dueAt }) => ({ id, dueAt: dueAt ?? 0 }));
    expect(store.retries(webhookId, 5_000)).to.deep.equal(due.sort((a, b) => a.dueAt - b.dueAt || a.id - b.id));
  }
  for (let messageId = 1; messageId <= Math.max(40, ...rows.map((row) => row.messageId)); messageId++) {
    expect(store.message(messageId) !== undefined, `message ${messageId}`).to.equal(rows.some((row) => row.messageId === messageId));
  }
};

describe("the webhook store", () => {
  let dataDir: string;
  let environment: WebhookEnvironment;

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "portico-webhook-store-"));
    environment = openWebhookStore(dataDir);
  });
  afterEach(async () => {
    await environment.close();
    await rm(dataDir, { recursive: true });
  });

  it("answers like a plain list of deliveries after any operations", async () => {
    let folder = 0;
    await fc.assert(
      fc.asyncProperty(steps, ways, async (list, inWays) => {
        const own = join(dataDir, String(++folder));
        const first = openWebhookStore(own);
        const model = createModel();
        // As of another process, to this one's: what it knows of its last transaction may be out of date.
        const other = createWebhookStore(first.environment);
        for (const [index, step] of list.entries()) {
          const way = inWays[index % inWays.length] ?? expect.fail();
          if (way.begins === "empty") await first.store.transactionSoon(() => first.store.lastDelivery());
          await model.apply(way.elsewhere ? other : first.store, step, way);
        }
        compare(first.store, model.rows);
        await first.close();
        const again = openWebhookStore(own);
        compare(again.store, model.rows);
        await again.close();
      }),
      { numRuns: count(12, 1_000) },
    );
  });

  it("returns the right pages, even far down and after deliveries were deleted", () => {
    const { store } = environment;
    const count = 30_000;
    for (let from = 1; from <= count; from += 1_000) {
      store.transaction(() => {
        for (let id = from; id < from + 1_000; id++) {
          store.append({ at: id, json: "1" }, [{ webhookId: (id % 3) + 1, event: "peer.added", key: "msg" }]);
        }
      });
    }
    const own = Array.from({ length: count }, (_unused, index) => count - index).filter((id) => id % 3 === 0);
    store.transaction(() => {
      for (const id of own.filter((id) => id % 5 === 0)) {
        const row = store.delivery(1, id)!;
        store.changeDelivery(row, inState(row, "delivered", 1));
      }
    });
    while (store.trim({ delivered: 2, dead: 0 }, 1_000) > 0);
    const left = own.filter((id) => id % 5 !== 0);
    for (const offset of [0, 1, 1_091, 1_092, 1_093, 4_000, 7_997, 7_999, 8_000, 9_000]) {
      for (const state of [undefined, "pending"] as const) {
        const { rows, total } = store.deliveries(1, state, { offset, limit: 3 });
        expect(rows.map(({ id }) => id), `offset ${offset}`).to.deep.equal(left.slice(offset, offset + 3));
        expect(total).to.equal(left.length);
      }
    }
  });

  it("rolls back all of a transaction that throws, including counters", () => {
    const { store } = environment;
    const recipient: Recipient = { webhookId: 1, event: "peer.added", key: "msg" };
    store.transaction(() => store.append({ at: 1, json: "1" }, [recipient]));
    const fail = (): never => {
      store.append({ at: 2, json: "2" }, [recipient, recipient]);
      store.addWebhook(webhookRow);
      store.announceWork();
      throw new Error("changed its mind");
    };
    expect(() => store.transaction(fail)).to.throw("changed its mind");
    expect(store.deliveries(1, undefined, { offset: 0, limit: 10 }).total).to.equal(1);
    expect(store.message(2)).to.equal(undefined);
    expect([...store.webhooks()]).to.deep.equal([]);
    expect(store.workRevision()).to.equal(0);
    expect(store.transaction(() => store.append({ at: 2, json: "2" }, [recipient])).map(({ id }) => id)).to.deep.equal([2]);
  });

  it("rolls back all of a queued transaction that throws, and still runs the next", async () => {
    const { store } = environment;
    const failing = store.transactionSoon(() => {
      store.addWebhook(webhookRow);
      throw new Error("changed its mind");
    });
    const other = store.transactionSoon(() => store.addWebhook(webhookRow));
    expect(await failing.catch((error: unknown) => (error as Error).message)).to.equal("changed its mind");
    expect((await other).id).to.equal(1);
    expect([...store.webhooks()]).to.have.length(1);
  });

  it("says which deliveries a transaction has changed until that is committed: they are read as they were", async () => {
    const { store } = environment;
    const [row = expect.fail()] = store.transaction(() => store.append({ at: 1, json: "{}" }, [{ webhookId: 1, key: "msg", event: "peer.added" }]));
    const written = store.transactionSoon(() => {
      store.changeDelivery(row, { ...row, state: "dropped" });
      return store.isChanging(row.id);
    });
    expect(await written).to.equal(true);
    expect(store.isChanging(row.id)).to.equal(false);
  });

  it("does no two long transactions in one turn of the event loop", async () => {
    const { store } = environment;
    let turns = 0;
    const write = (): Promise<number> =>
      store.transactionSoon(() => {
        setImmediate(() => turns++);
        return turns;
      }, { isLong: true });
    expect(await Promise.all([write(), write(), write()])).to.deep.equal([0, 1, 2]);
  });

  it("refuses writes outside a transaction", () => {
    expect(() => environment.store.append({ at: 1, json: "1" }, [])).to.throw("only within a transaction");
  });

  it("changes its revisions when webhooks change and when work is announced", () => {
    const { store } = environment;
    const revision = store.registerRevision();
    const row = store.transaction(() => store.addWebhook(webhookRow));
    expect(store.registerRevision()).to.be.above(revision);
    const before = store.registerRevision();
    store.transaction(() => store.putProgress(row.id, { cursor: "genesis", failing: { since: 5, from: 5, isAnnounced: false } }));
    expect(store.registerRevision()).to.equal(before);
    expect(store.progress(1)).to.deep.equal({ cursor: "genesis", failing: { since: 5, from: 5, isAnnounced: false } });
    const work = store.workRevision();
    store.transaction(() => store.announceWork());
    expect(store.workRevision()).to.be.above(work);
  });

  it("lists which webhooks changed since a revision, as far back as it can", () => {
    const { store } = environment;
    const start = store.registerRevision();
    const rows = [1, 2, 3].map(() => store.transaction(() => store.addWebhook(webhookRow)));
    store.transaction(() => store.putWebhook({ ...rows[0]!, enabled: false }));
    store.transaction(() => store.removeWebhook(2));
    expect(store.changedSince(start)?.sort()).to.deep.equal([1, 2, 3]);
    expect(store.changedSince(start + 3)).to.deep.equal([1, 2]);
    expect(store.changedSince(store.registerRevision())).to.deep.equal([]);
    expect([...store.webhooks()]).to.deep.equal([{ ...rows[0], enabled: false }, rows[2]]);
    store.transaction(() => {
      for (let count = 0; count < 10_001; count++) store.putWebhook(rows[2]!);
    });
    expect(store.changedSince(start)).to.equal(undefined);
    expect(store.changedSince(store.registerRevision() - 5)).to.deep.equal([3]);
  });

  it("keeps integers of any size in conditions", async () => {
    const conditions = [{ key: "a", condition: "gt" as const, value: 2n ** 200n }];
    environment.store.transaction(() => environment.store.addWebhook({ ...webhookRow, conditions }));
    await environment.close();
    environment = openWebhookStore(dataDir);
    expect(environment.store.webhook(1)?.conditions).to.deep.equal(conditions);
  });

  it("is readable only by its owner, since it holds secrets", () => {
    expect(statSync(join(dataDir, "webhooks.mdb")).mode & 0o777).to.equal(0o600);
  });

  it("has a name that never changes and that no other store has", async () => {
    const { instance } = environment.store;
    const other = openWebhookStore(join(dataDir, "other"));
    expect(other.store.instance).to.not.equal(instance);
    await other.close();
    await environment.close();
    environment = openWebhookStore(dataDir);
    expect(environment.store.instance).to.equal(instance);
  });

  it("gives the same reply for a key for a day", () => {
    const { store } = environment;
    const kept = { digest: "a", reply: "{}", at: 1_000 };
    store.transaction(() => store.keepReply("key", kept));
    expect(store.keptReply("key", 1_000 + 86_399_999)).to.deep.equal(kept);
    expect(store.keptReply("key", 1_000 + 86_400_000)).to.equal(undefined);
    expect(store.keptReply("other", 1_000)).to.equal(undefined);
  });

  it("removes replies past their day a few at a time, however many there are", () => {
    const { store } = environment;
    const keys = Array.from({ length: 300 }, (_unused, index) => `key ${String(index).padStart(3, "0")}`);
    const left = (): number => keys.filter((key) => store.keptReply(key, 1_000) !== undefined).length;
    store.transaction(() => keys.forEach((key) => store.keepReply(key, { digest: "a", reply: "{}", at: 1_000 })));
    expect(left()).to.equal(300);
    const later = { digest: "a", reply: "{}", at: 1_000 + 86_400_000 };
    store.transaction(() => store.keepReply("key 0", later));
    expect(left()).to.be.within(296, 299);
    // They are looked at in turn, those that are still kept among them.
    for (let count = 0; count < 200; count++) store.transaction(() => store.keepReply(`a key ${count}`, later));
    expect([left(), store.keptReply("key 0", later.at), store.keptReply("a key 7", later.at)]).to.deep.equal([0, later, later]);
  });

  /** Closes the store, and writes one of its counters. */
  const setCounter = async (name: string, value: number): Promise<void> => {
    await environment.close();
    const root = open<number, string>({ path: join(dataDir, "webhooks.mdb"), maxDbs: 16, noSubdir: true });
    root.openDB<number, string>({ name: "webhooks-counters", encoding: "msgpack", keyEncoding: "ordered-binary" }).putSync(name, value);
    await root.close();
  };

  it("writes no message in the place of another, though its counter was set back", async () => {
    const append = (): unknown => environment.store.transaction(() => environment.store.append({ at: 1, json: "1" }, [{ webhookId: 1, event: "peer.added", key: "msg" }]));
    for (let message = 0; message < 3; message++) append();
    await setCounter("last-message", 1);
    environment = openWebhookStore(dataDir);
    expect(append).to.throw("webhooks.mdb has messages above 2");
    expect(environment.store.lastDelivery()).to.equal(3);
  });

  it("is refused when it has the layout of another version", async () => {
    await setCounter("schema", 99);
    expect(() => openWebhookStore(dataDir))
      .to.throw(PorticoError, "layout 99")
      .with.property("code", "STORE_FOREIGN");
    await rm(join(dataDir, "webhooks.mdb"));
    environment = openWebhookStore(dataDir);
  });

  {
    it("reports a full disk, keeps what was written before, and does not crash", async () => {
      const script = programOf(new URL("full-disk-process.ts", import.meta.url));
      const { stdout } = await promisify(execFile)("sh", ["-c", `ulimit -f 4000; exec "$0" "$1" "$2"`, process.execPath, script, join(dataDir, "full")]);
      const told = JSON.parse(stdout) as { written: number; total: number; failures: string[] };
      expect(told.written).to.be.above(1);
      expect(told.total).to.equal(told.written);
      expect(told.failures).to.have.length(3);
      for (const failure of told.failures) expect(failure).to.match(/^The store cannot be written: LMDB cannot write: its disk may be full\.$/);
    });
  }

  it("is delivered from by one process at a time, and by the next after that one was killed", async () => {
    const folder = join(dataDir, "held");
    const script = programOf(new URL("holding-process.ts", import.meta.url));
    const holding = spawn(process.execPath, [script, folder], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      await once(holding.stdout, "data");
      expect(() => openWebhookStore(folder))
        .to.throw(PorticoError, `webhooks.mdb is being written by process ${holding.pid}: stop it, or start this one as a reader`)
        .with.property("code", "STORE_IN_USE");
      const managing = openWebhookStore(folder, { deliver: false });
      expect(managing.store.transaction(() => managing.store.addWebhook(webhookRow)).id).to.equal(1);
      await managing.close();
    } finally {
      const ended = once(holding, "exit");
      holding.kill("SIGKILL");
      await ended;
    }
    const next = openWebhookStore(folder);
    expect(next.store.webhook(1)?.events).to.deep.equal(webhookRow.events);
    expect(() => openWebhookStore(folder))
      .to.throw(PorticoError, "already being written by this process")
      .with.property("code", "STORE_IN_USE");
    await next.close();
    expect(readdirSync(folder).sort()).to.deep.equal(["webhooks.mdb", "webhooks.mdb-lock"]);
    await openWebhookStore(folder).close();
  });

  it("reports a damaged file, and leaves it unchanged", async () => {
    await environment.close();
    const path = join(dataDir, "webhooks.mdb");
    const whole = readFileSync(path);
    const damaged: [string, Buffer][] = [
      ["it is not an LMDB file", Buffer.from("hello world\n".repeat(5_000))],
      ["it is not an LMDB file", Buffer.from("hello")],
      ["it is not an LMDB file", Buffer.alloc(whole.length)],
      ["its second meta page is damaged", whole.subarray(0, 4_096)],
      ["it is truncated", whole.subarray(0, 2 * 4_096)],
      ["it is empty", Buffer.alloc(0)],
    ];
    for (const [fault, content] of damaged) {
      writeFileSync(path, content);
      expect(() => openWebhookStore(dataDir), fault)
        .to.throw(PorticoError, `webhooks.mdb cannot be opened: ${fault}`)
        .with.property("code", "STORE_DAMAGED");
      expect(readFileSync(path).equals(content)).to.equal(true);
    }
    writeFileSync(path, whole);
    environment = openWebhookStore(dataDir);
  });

  it("reports a lock file that cannot be one", async () => {
    await environment.close();
    const lock = join(dataDir, "webhooks.mdb-lock");
    rmSync(lock);
    mkdirSync(lock);
    expect(() => openWebhookStore(dataDir))
      .to.throw(PorticoError, "webhooks.mdb-lock is not a file")
      .with.property("code", "STORE_DAMAGED");
    rmdirSync(lock);
    environment = openWebhookStore(dataDir);
  });

  it("reports a lock file that this user may not write", async function () {
    if (process.getuid?.() === 0) this.skip();
    await environment.close();
    const lock = join(dataDir, "webhooks.mdb-lock");
    chmodSync(lock, 0o444);
    expect(() => openWebhookStore(dataDir)).to.throw(PorticoError, "webhooks.mdb-lock cannot be written, which is necessary even for reading");
    chmodSync(lock, 0o644);
    environment = openWebhookStore(dataDir);
  });

  it("reports a folder that cannot be created", () => {
    expect(() => openWebhookStore("/dev/null/folder"))
      .to.throw(PorticoError, "`dataDir` is /dev/null/folder, which cannot be made: ENOTDIR: ")
      .with.property("code", "OPTION_INVALID");
  });

  it("reports why Node's permission model lets no lock file be made", () => {
    const flag = process.allowedNodeEnvironmentFlags.has("--permission") ? "--permission" : "--experimental-permission";
    const empty = join(dataDir, "empty");
    mkdirSync(empty);
    const program = programOf(new URL("holding-process.ts", import.meta.url));
    const { stderr } = spawnSync(process.execPath, [flag, "--allow-fs-read=*", "--allow-addons", "--allow-worker", program, empty], { encoding: "utf8" });
    expect(stderr).to.match(/webhooks\.mdb.*-lock cannot be created: ERR_ACCESS_DENIED: Access to this API has been restricted/);
  });
});
