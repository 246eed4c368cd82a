import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { type Key, open } from "lmdb";
import type { About, Message, WebhookStore } from "../../types/webhook-store.js";
import { openWebhookDatabases } from "../../src/store/webhooks/databases.js";
import { createMessageReader } from "../../src/store/webhooks/outbox/messages.js";
import { openWebhookStore } from "../../src/store/webhooks/webhook-store.js";
import { count } from "../fixtures/long.js";

interface Given {
  message: Message;
  webhookIds: number[];
}

/** A message, and its deliveries, of which some may be gone. With all of them gone, it may be kept for as long as others of its sheet are. */
interface Kept {
  id: number;
  message: Message;
  written: { webhookId: number; id: number }[];
  left: Set<number>;
  supersededFor: Set<number>;
}

const idOf = (kind: string, n: number): string => Buffer.from(`${kind} ${n}`.padEnd(32, ".")).toString("hex");

/** Events of a few blocks as they are told of, and some that are unlike them in one thing or another. */
const message: fc.Arbitrary<Message> = fc
  .record({ height: fc.integer({ min: 1, max: 3 }), place: fc.nat(4), kind: fc.constantFrom("block", "transaction", "transaction", "transaction", "round", "vote"), unlike: fc.constantFrom(...Array<undefined>(12).fill(undefined), "json", "reverted", "plain", "times", "log", "late", "long", "number", "spaced", "own", "bare") })
  .map(({ height, place, kind, unlike }): Message => {
    const block = { height, id: unlike === "number" ? String(height).padStart(19, "7") : unlike === "spaced" ? `block ${height}` : idOf("block", height) };
    const transaction = unlike === "number" ? `${place}` : idOf("transaction", place);
    const isTransaction = kind === "transaction" || kind === "vote";
    const about: About = isTransaction ? { event: "transaction.applied", id: `${transaction} ${block.id}` } : { event: "block.applied", id: block.id };
    const chain: Message = { at: 8 * height, eventId: `${block.id}.applied.${place}`, event: kind === "vote" ? "wallet.vote" : `${kind}.applied`, block, before: `${height - 1}-${idOf("block", height - 1)}`, after: `${height}-${block.id}`, about };
    switch (unlike) {
      case "json":
        return { at: chain.at, eventId: "host.1", event: "peer.added", json: "{}" };
      case "reverted":
        return { ...chain, eventId: `${block.id}.reverted.${place}`, event: `${isTransaction ? "transaction" : "block"}.reverted`, about: isTransaction ? { event: "transaction.reverted", id: transaction } : { event: "block.reverted", id: block.id } };
      case "plain":
        return { ...chain, about: { event: "transaction.applied", id: transaction } };
      case "times":
        return { ...chain, eventId: `${block.id}.applied.${place}.2` };
      case "log":
        return { ...chain, after: `${height}-${block.id}~a1b2.${place}` };
      case "late":
        return { ...chain, at: 100 + place };
      case "long":
        return { ...chain, eventId: `${block.id}.applied.${"9".repeat(700)}` };
      case "own":
        return { ...chain, eventId: `strange.id.${place}` };
      case "bare": {
        const { about: _, ...rest } = chain;
        return rest;
      }
      case "number":
      case "spaced":
      case undefined:
        return chain;
    }
  });

const given: fc.Arbitrary<Given> = fc.record({ message, webhookIds: fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 12 }) });

type Step = { kind: "append"; all: Given[]; times: number; fails: boolean } | { kind: "deliver"; picks: number[] } | { kind: "trim"; limit: number } | { kind: "forget"; webhookId: number } | { kind: "supersede"; pick: number };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ kind: fc.constant("append" as const), all: fc.array(given, { minLength: 1, maxLength: 6 }), times: fc.constantFrom(1, 1, 40), fails: fc.constantFrom(false, false, false, true) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("deliver" as const), picks: fc.array(fc.nat(), { minLength: 1, maxLength: 60 }) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("trim" as const), limit: fc.integer({ min: 1, max: 80 }) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("forget" as const), webhookId: fc.integer({ min: 1, max: 12 }) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("supersede" as const), pick: fc.nat() }) },
  ),
  { maxLength: 20 },
);

const recipientsOf = ({ message: { event = "" }, webhookIds }: Given) => webhookIds.map((webhookId) => ({ webhookId, event, key: `msg_${webhookId}`, begin: { state: "pending" as const } }));

const subjects: readonly About[] = [1, 2, 3].flatMap((height) =>
  [idOf("block", height), String(height).padStart(19, "7"), `block ${height}`].flatMap((block): About[] => [
    { event: "block.applied", id: block },
    { event: "block.reverted", id: block },
    ...[0, 1, 2, 3, 4].flatMap((place) => [idOf("transaction", place), `${place}`]).flatMap((id): About[] => [
      { event: "transaction.applied", id: `${id} ${block}` },
      { event: "transaction.applied", id },
      { event: "transaction.reverted", id },
    ]),
  ]),
);

/** A model of the messages as a plain list. */
const createModel = (store: WebhookStore, kept: Kept[], last: { message: number; delivery: number }) => {
  const isAbout = ({ message: { about } }: Kept, { event, id }: About): boolean => about?.event === event && about.id === id;

  const compare = (): void => {
    const isThere = ({ id, left, message: { json } }: Kept): boolean => left.size > 0 || (json === undefined && store.message(id) !== undefined);
    const there = kept.filter(isThere);
    for (let id = 1; id <= last.message + 1; id++) expect(store.message(id), `message ${id}`).to.deep.equal(there.find((one) => one.id === id)?.message);
    for (const about of subjects) {
      const those = there.filter((one) => isAbout(one, about));
      expect(store.messagesAbout(about), JSON.stringify(about)).to.deep.equal(those.map(({ id, written }) => ({ messageId: id, deliveries: written })));
      if (those.length > 0) expect(store.hasAbout(about.event)).to.equal(true);
    }
    for (const { id, written, supersededFor } of there) for (const { webhookId } of written) expect(store.isSuperseded(id, webhookId), `${id} ${webhookId}`).to.equal(supersededFor.has(webhookId));
  };

  const drop = (webhookId: number, id: number): void => {
    for (const one of kept) if (one.written.some((delivery) => delivery.id === id && delivery.webhookId === webhookId)) one.left.delete(id);
  };

  const appendOne = (one: Given): Kept => {
    const ids = store.append(one.message, recipientsOf(one)).map((row) => row.id);
    const id = store.lastMessage();
    if (id % 3 === 0 && one.message.about !== undefined) expect(store.messagesAbout(one.message.about).at(-1)?.messageId).to.equal(id);
    if (id % 5 === 0) expect(store.message(id)).to.deep.equal(one.message);
    return { id, message: one.message, written: one.webhookIds.map((webhookId, index) => ({ webhookId, id: ids[index] ?? 0 })), left: new Set(ids), supersededFor: new Set() };
  };

  const append = ({ all, times, fails }: Extract<Step, { kind: "append" }>): void => {
    const before = { all: [...kept], last: { ...last } };
    const work = (): void => {
      for (let time = 0; time < times; time++) {
        for (const one of all) {
          const added = appendOne(one);
          kept.push(added);
          last.message = added.id;
        }
      }
      // Within the transaction, what it has written is there.
      compare();
      if (fails) throw new Error("not this time");
    };
    if (!fails) return void store.transaction(work);
    expect(() => store.transaction(work)).to.throw("not this time");
    kept.splice(0, kept.length, ...before.all);
    Object.assign(last, before.last);
  };

  const apply = (step: Step): void => {
    const all = kept.flatMap(({ written, left }) => written.filter(({ id }) => left.has(id)));
    switch (step.kind) {
      case "append":
        return append(step);
      case "deliver":
        return void store.transaction(() => {
          for (const pick of step.picks) {
            const { webhookId, id } = all[pick % all.length] ?? { webhookId: 0, id: 0 };
            const row = store.delivery(webhookId, id);
            if (row !== undefined) store.changeDelivery(row, { ...row, state: "delivered", finishedAt: 1, attemptCount: 1, attempts: [{ at: 1, duration: 1, status: 200, stage: null, error: null, body: "" }] });
          }
        });
      case "trim":
        store.trim({ delivered: 2, dead: 0 }, step.limit);
        for (const { webhookId, id } of all) if (store.delivery(webhookId, id) === undefined) drop(webhookId, id);
        return;
      case "forget":
        store.transaction(() => store.forgetDeliveries(step.webhookId));
        for (const { webhookId, id } of all) if (store.delivery(webhookId, id) === undefined) drop(webhookId, id);
        return;
      case "supersede": {
        const about = kept.filter(({ message: one, left }) => one.about !== undefined && left.size > 0);
        const one = about[step.pick % about.length];
        if (one === undefined) return;
        const all = one.written.map(({ webhookId }) => webhookId);
        const some = step.pick % 2 === 0 ? all : all.slice(0, 1);
        store.transaction(() => (some === all ? store.supersede(one.id) : store.supersede(one.id, some)));
        for (const webhookId of some) one.supersededFor.add(webhookId);
      }
    }
  };
  return { apply, compare };
};

const databases = ["messages", "message-sheets", "blocks", "about", "sheets", "deliveries", "states", "finished"] as const;

/** What a store has in its databases, and which of its counters are about messages. */
const entriesIn = async (path: string): Promise<Record<string, number> & { counters: number }> => {
  const root = open<never, never>({ path, maxDbs: 32, noSubdir: true });
  const opened = (name: string) => root.openDB<unknown, Key>({ name: `webhooks-${name}`, keyEncoding: "ordered-binary" } as object as { name: string });
  const counts = Object.fromEntries(databases.map((name) => [name, opened(name).getKeysCount()]));
  const counters = [...opened("counters").getKeys()].filter((key) => /^(?:references|about|superseded) /.test(String(key))).length;
  await root.close();
  return { ...counts, counters };
};

/** Messages as layout 6 wrote them: each in a row, with an entry for what it is about. */
const writeLayout6 = async (path: string, all: readonly Given[], digestOf: (id: string) => string): Promise<Kept[]> => {
  const root = open<never, never>({ path, maxDbs: 32, noSubdir: true });
  const put = (name: string, key: Key, value: unknown): void => {
    const encoding = { encoding: "msgpack", keyEncoding: "ordered-binary", encoder: { useRecords: false, useBigIntExtension: true } };
    root.openDB<unknown, Key>({ name: `webhooks-${name}`, ...encoding } as object as { name: string }).putSync(key, value);
  };
  const counted = new Map<string, number>();
  const add = (name: string): void => void counted.set(name, (counted.get(name) ?? 0) + 1);
  let lastDelivery = 0;
  const kept = all.map(({ message: one, webhookIds }, index): Kept => {
    const id = index + 1;
    const written = webhookIds.map((webhookId) => ({ webhookId, id: ++lastDelivery }));
    put("messages", id, one);
    if (one.about !== undefined) {
      put("about", [one.about.event, digestOf(one.about.id), id], written.map((delivery) => [delivery.webhookId, delivery.id]));
      add(`about ${one.about.event}`);
    }
    for (const delivery of written) {
      put("deliveries", [delivery.webhookId, delivery.id], { ...delivery, messageId: id, key: `msg_${delivery.webhookId}`, event: one.event, at: one.at, state: "pending", dueAt: null, finishedAt: null, hold: null, failures: 0, attemptCount: 0, attempts: [] });
      put("states", [delivery.webhookId, "pending", delivery.id], true);
      for (const name of [`references ${id}`, ...["pending", "any"].flatMap((listed) => [`in-state ${delivery.webhookId} ${listed}`, `in-bucket ${delivery.webhookId} ${listed} ${"0".repeat(14)}`])]) add(name);
    }
    return { id, message: one, written, left: new Set(written.map((delivery) => delivery.id)), supersededFor: new Set() };
  });
  for (const [name, value] of counted) put("counters", name, value);
  for (const [name, value] of Object.entries({ schema: 6, instance: "0123456789ab", "last-message": all.length, "last-delivery": lastDelivery })) put("counters", name, value);
  await root.close();
  return kept;
};

describe("messages of webhooks", function () {
  this.timeout(120_000);
  let dataDir: string;
  beforeEach(async () => void (dataDir = await mkdtemp(join(tmpdir(), "portico-messages-"))));
  afterEach(() => rm(dataDir, { recursive: true }));

  it("are found by number and by what they are about like those of a plain list, after any operations, in a store of layout 6 and a fresh one", async () => {
    const { textDigest } = await import("../../src/store/layout/keys.js");
    let folder = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(given, { maxLength: 4 }), steps, async (old, list) => {
        const own = join(dataDir, String(++folder));
        await openWebhookStore(own).close();
        const path = join(own, "webhooks.mdb");
        const kept = old.length === 0 ? [] : await writeLayout6(path, old, (id) => textDigest(id).toString("hex"));
        const first = openWebhookStore(own);
        const last = { message: kept.length, delivery: 0 };
        const model = createModel(first.store, kept, last);
        model.compare();
        for (const step of list) model.apply(step);
        model.compare();
        await first.close();
        const again = openWebhookStore(own);
        const after = createModel(again.store, kept, last);
        after.compare();
        for (let webhookId = 1; webhookId <= 12; webhookId++) after.apply({ kind: "forget", webhookId });
        while (again.store.trim({ delivered: 2, dead: 0 }, 1_000) > 0);
        await again.close();
        expect(await entriesIn(path)).to.deep.equal({ ...Object.fromEntries(databases.map((name) => [name, 0])), counters: 0 });
      }),
      { numRuns: count(12, 1_000) },
    );
  });

  it("of a block stand many to a value where they have few deliveries, and in rows where they have more, though each is asked whether it was reverted before", async () => {
    const environment = openWebhookStore(dataDir);
    const append = (height: number, webhookIds: number[]): void => {
      const block = { height, id: idOf("block", height) };
      environment.store.transaction(() => {
        for (let place = 1; place <= 150; place++) {
          const one: Message = { at: 8 * height, eventId: `${block.id}.applied.${place}`, event: "transaction.applied", block, before: `${height - 1}-${idOf("block", height - 1)}`, after: `${height}-${block.id}`, about: { event: "transaction.applied", id: `${idOf(`of ${height}`, place)} ${block.id}` } };
          expect(environment.store.messagesAbout({ event: "transaction.reverted", id: idOf(`of ${height}`, place) })).to.deep.equal([]);
          environment.store.append(one, recipientsOf({ message: one, webhookIds }));
        }
      });
    };
    for (let height = 1; height <= 20; height++) append(height, [1]);
    append(21, Array.from({ length: 9 }, (_, index) => index + 2));
    await environment.close();
    const { messages, about, blocks, ...counts } = await entriesIn(join(dataDir, "webhooks.mdb"));
    expect({ messages, about }).to.deep.equal({ messages: 150, about: 150 });
    expect(counts["message-sheets"]).to.equal(blocks);
    // 3,000 messages.
    expect(blocks).to.be.within(40, 60);
  });

  it("of a block with a hundred sheets are found without reading a sheet twice, as many times as they are asked for", async () => {
    const { store, environment, close } = openWebhookStore(dataDir);
    const block = { height: 9, id: idOf("block", 9) };
    const subjectOf = (place: number): About => ({ event: "transaction.applied", id: `${idOf("transaction", place)} ${block.id}` });
    store.transaction(() => {
      for (let place = 1; place <= 150; place++) {
        const one: Message = { at: 72, eventId: `${block.id}.applied.${place}`, event: "transaction.applied", block, before: `8-${idOf("block", 8)}`, after: `9-${block.id}`, about: subjectOf(place) };
        for (let chunk = 0; chunk < 20; chunk++) store.append(one, recipientsOf({ message: one, webhookIds: [1, 2, 3, 4, 5, 6, 7, 8].map((id) => 50 * chunk + id) }));
      }
    });
    const db = openWebhookDatabases(environment);
    let reads = 0;
    const messageSheets = Object.assign(Object.create(db.messageSheets) as typeof db.messageSheets, { get: (key: number) => (reads++, db.messageSheets.get(key)) });
    const reader = createMessageReader({ ...db, messageSheets });
    for (let time = 0; time < 2; time++) for (let place = 1; place <= 150; place++) expect(reader.about(subjectOf(place)).length).to.equal(20);
    expect(reads).to.equal(db.messageSheets.getKeysCount()).and.be.above(100);
    await close();
  });
});
