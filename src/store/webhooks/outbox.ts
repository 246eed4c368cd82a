import type { Database, Key } from "lmdb";
import type { DeliveryRow, WebhookStore } from "../../../types/webhook-store.js";
import { createAboutIndex } from "./about.js";
import { beyondAll, bucketSize, counters, type ListedState, type WebhookDatabases } from "./databases.js";
import type { Tally } from "./tally.js";

type Write = <K extends Key>(database: Database<true, K>, key: K) => void;

const put: Write = (database, key) => database.putSync(key, true);
const remove: Write = (database, key) => void database.removeSync(key);

/** The index entries of a delivery: all of them are derived from its row, so whatever changes the row changes them with it. */
const writeIndex = (db: WebhookDatabases, { id, webhookId, state, dueAt, finishedAt, hold }: DeliveryRow, write: Write): void => {
  write(db.states, [webhookId, state, id]);
  if (dueAt !== null) write(db.due, [webhookId, dueAt, id]);
  if (finishedAt !== null) write(db.finished, [state === "dead" ? "dead" : "done", finishedAt, webhookId, id]);
  if (hold !== null) {
    write(db.held, ["release", hold.releaseHeight, webhookId, id]);
    write(db.held, ["block", hold.blockHeight, webhookId, id]);
  }
};

/** Names of the counters of a webhook's deliveries. One transaction counts many of the same: to make their names each time takes longer than to count. */
const createNames = () => {
  const known = new Map<number, Map<ListedState, { bucket: number; inState: string; inBucket: string }>>();
  return (webhookId: number, state: ListedState, bucket: number): { inState: string; inBucket: string } => {
    const ofWebhook = known.get(webhookId) ?? new Map<ListedState, { bucket: number; inState: string; inBucket: string }>();
    known.set(webhookId, ofWebhook);
    const found = ofWebhook.get(state);
    if (found?.bucket === bucket) return found;
    const made = { bucket, inState: counters.inState(webhookId, state), inBucket: counters.inBucket(webhookId, state, bucket) };
    ofWebhook.set(state, made);
    return made;
  };
};

/** Writes of deliveries, within one transaction. */
export const createOutboxWriter = (db: WebhookDatabases, tally: Tally) => {
  const namesOf = createNames();
  const count = ({ webhookId, id }: DeliveryRow, state: ListedState, by: 1 | -1): void => {
    const { inState, inBucket } = namesOf(webhookId, state, Math.floor(id / bucketSize));
    tally.add(inState, by);
    tally.add(inBucket, by);
  };

  const about = createAboutIndex(db, tally);

  const insert = (row: DeliveryRow): void => {
    db.deliveries.putSync([row.webhookId, row.id], row);
    writeIndex(db, row, put);
    count(row, row.state, 1);
    count(row, "any", 1);
  };

  const append: WebhookStore["append"] = (message, recipients) => {
    const messageId = tally.add(counters.lastMessage, 1);
    db.messages.putSync(messageId, message);
    tally.add(counters.references(messageId), recipients.length);
    const ids = recipients.map(({ begin, ...recipient }) => {
      const id = tally.add(counters.lastDelivery, 1);
      insert({
        id,
        messageId,
        ...recipient,
        at: message.at,
        state: begin.state === "held" ? "held" : "pending",
        dueAt: begin.state === "ping" ? 0 : null,
        finishedAt: null,
        hold: begin.state === "held" ? { releaseHeight: begin.releaseHeight, blockHeight: begin.blockHeight } : null,
        failures: 0,
        attemptCount: 0,
        attempts: [],
      });
      return id;
    });
    about.add(messageId, message, recipients.map(({ webhookId }, index) => [webhookId, ids[index] ?? 0]));
    return ids;
  };

  const changeDelivery: WebhookStore["changeDelivery"] = (before, after) => {
    writeIndex(db, before, remove);
    writeIndex(db, after, put);
    db.deliveries.putSync([after.webhookId, after.id], after);
    if (before.state === after.state) return;
    count(before, before.state, -1);
    count(after, after.state, 1);
  };

  /** Removes a delivery, and its message along with the last delivery that shares it. */
  const removeDelivery = (row: DeliveryRow): void => {
    writeIndex(db, row, remove);
    db.deliveries.removeSync([row.webhookId, row.id]);
    count(row, row.state, -1);
    count(row, "any", -1);
    if (tally.add(counters.references(row.messageId), -1) > 0) return;
    about.remove(row.messageId);
    db.messages.removeSync(row.messageId);
  };

  return { append, changeDelivery, removeDelivery, supersede: about.supersede };
};

export type OutboxWriter = ReturnType<typeof createOutboxWriter>;

/** Questions about deliveries. None loads rows that it does not answer with. */
export const createOutboxReader = (db: WebhookDatabases, instance: string, countOfKey: (key: string) => number) => {
  /** Rows of layouts before 4 have no name of their own: receivers may have seen this one. */
  const named = (row: DeliveryRow): DeliveryRow => ((row.key as string | undefined) === undefined ? { ...row, key: `msg_${instance}_${row.id}_${row.at.toString(36)}` } : row);

  const delivery = (webhookId: number, id: number): DeliveryRow | undefined => {
    const row = db.deliveries.get([webhookId, id]);
    return row && named(row);
  };

  /** The bucket in which the page at an offset begins, newest first: its highest id, and how many deliveries to skip from there. */
  const seek = (webhookId: number, state: ListedState, offset: number): { highest: number; offset: number } | undefined => {
    const [newest, oldest] = [counters.inBucket(webhookId, state, Number.MAX_SAFE_INTEGER), counters.inBucket(webhookId, state, 0)];
    let left = offset;
    for (const { key, value } of db.counters.getRange({ start: newest, end: oldest, inclusiveEnd: true, reverse: true })) {
      const count = value as number;
      if (left < count) return { highest: (parseInt(key.slice(-14), 16) + 1) * bucketSize - 1, offset: left };
      left -= count;
    }
    return undefined;
  };

  const deliveries: WebhookStore["deliveries"] = (webhookId, state, page) => {
    const listed = state ?? "any";
    const total = (db.counters.get(counters.inState(webhookId, listed)) as number | undefined) ?? 0;
    const begin = seek(webhookId, listed, page.offset);
    if (begin === undefined) return { rows: [], total };
    const newestFirst = { reverse: true, offset: begin.offset, limit: page.limit };
    if (state === undefined) {
      const range = db.deliveries.getRange({ start: [webhookId, begin.highest], end: [webhookId, 0], ...newestFirst });
      return { rows: [...range].map(({ value }) => named(value)), total };
    }
    const keys = db.states.getKeys({ start: [webhookId, state, begin.highest], end: [webhookId, state, 0], ...newestFirst });
    return { rows: [...keys].map(([, , id]) => delivery(webhookId, id)).filter((row) => row !== undefined), total };
  };

  const deliveryIds: WebhookStore["deliveryIds"] = (webhookId, state, after, limit) =>
    [...db.states.getKeys({ start: [webhookId, state, after + 1], end: [webhookId, state, beyondAll], limit })].map(([, , id]) => id);

  const retries: WebhookStore["retries"] = (webhookId, limit) =>
    [...db.due.getKeys({ start: [webhookId, 0, 0], end: [webhookId, beyondAll, 0], limit })].map(([, dueAt, id]) => ({ id, dueAt }));

  const releasable: WebhookStore["releasable"] = (height, limit) =>
    [...db.held.getKeys({ start: ["release", 0, 0, 0], end: ["release", height + 1, 0, 0], limit })].map(([, , webhookId, id]) => ({ webhookId, id }));

  const heldFrom: WebhookStore["heldFrom"] = (blockHeight, limit) =>
    [...db.held.getKeys({ start: ["block", blockHeight, 0, 0], end: ["block", beyondAll, 0, 0], limit })].map(([, , webhookId, id]) => ({ webhookId, id }));

  const countOf: WebhookStore["countOf"] = (webhookId, state) => countOfKey(counters.inState(webhookId, state));

  return { countOf, message: (id: number) => db.messages.get(id), delivery, deliveries, deliveryIds, retries, releasable, heldFrom };
};
