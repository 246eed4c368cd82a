import type { Database, Key } from "lmdb";
import type { DeliveryRow, Message, Recipient, WebhookStore } from "../../../../types/webhook-store.js";
import type { DeliveryState } from "../../../../types/webhooks.js";
import { beyondAll, bucketSize, counters, type ListedState, readNumber, type WebhookDatabases } from "../databases.js";
import type { DeliveryName } from "./message-sheet.js";
import { createMessageReader, createMessageWriter, type MessageReader } from "./messages.js";
import { fitsOnSheet } from "./sheet.js";
import { createSheetReader, createSheetWriter, type SheetReader } from "./sheets.js";
import type { Tally } from "../tally.js";

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

/** Rows of deliveries that are on no sheet. */
const putRow = (db: WebhookDatabases, row: DeliveryRow): void => {
  db.deliveries.putSync([row.webhookId, row.id], row);
  writeIndex(db, row, put);
};

const removeRow = (db: WebhookDatabases, row: DeliveryRow): void => {
  writeIndex(db, row, remove);
  db.deliveries.removeSync([row.webhookId, row.id]);
};

/** Member by member: to objects into which others were spread first, V8 adds members slowly. */
const rowOf = ({ webhookId, event, key, last, reverts, again, onRequest, begin }: Recipient, { at }: Message, messageId: number, id: number): DeliveryRow => {
  const hold = begin.state === "held" ? { releaseHeight: begin.releaseHeight, blockHeight: begin.blockHeight } : null;
  const state = begin.state === "held" ? "held" : "pending";
  const row: DeliveryRow = { id, webhookId, messageId, key, event, at, state, dueAt: begin.state === "ping" ? 0 : null, finishedAt: null, hold, failures: 0, attemptCount: 0, attempts: [] };
  if (last !== undefined) row.last = last;
  if (reverts !== undefined) row.reverts = reverts;
  if (again !== undefined) row.again = again;
  if (onRequest !== undefined) row.onRequest = onRequest;
  return row;
};

/** What deliveries and their messages are read by. */
export interface OutboxReaders {
  sheets: SheetReader;
  messages: MessageReader;
}

export const createOutboxReaders = (db: WebhookDatabases): OutboxReaders => ({ sheets: createSheetReader(db), messages: createMessageReader(db) });

/** Writes of deliveries, within one transaction, at whose end it is to be flushed. `lastSheets`: as `createSheetWriter` takes them. */
export const createOutboxWriter = (db: WebhookDatabases, tally: Tally, readers: OutboxReaders = createOutboxReaders(db), lastSheets = new Map<number, number>()) => {
  const sheets = createSheetWriter(db, readers.sheets, lastSheets);
  const messages = createMessageWriter(db, tally, readers.messages);
  const namesOf = createNames();
  const count = ({ webhookId, id }: DeliveryRow, state: ListedState, by: 1 | -1): void => {
    const { inState, inBucket } = namesOf(webhookId, state, Math.floor(id / bucketSize));
    tally.add(inState, by);
    tally.add(inBucket, by);
  };

  const insert = (row: DeliveryRow): void => {
    if (fitsOnSheet(row)) sheets.add(row);
    else putRow(db, row);
    count(row, row.state, 1);
    count(row, "any", 1);
  };

  const append: WebhookStore["append"] = (message, recipients) => {
    const messageId = tally.add(counters.lastMessage, 1);
    const rows = recipients.map((recipient) => rowOf(recipient, message, messageId, tally.add(counters.lastDelivery, 1)));
    rows.forEach(insert);
    messages.add(messageId, message, rows.map(({ webhookId, id }): DeliveryName => [webhookId, id]));
    return rows;
  };

  const changeDelivery: WebhookStore["changeDelivery"] = (before, after) => {
    const fits = fitsOnSheet(after);
    // One that was written as a row stays one.
    const wasOnSheet = fitsOnSheet(before) && (fits ? sheets.put(after) : sheets.remove(before.webhookId, before.id));
    if (!wasOnSheet) writeIndex(db, before, remove);
    if (!wasOnSheet || !fits) putRow(db, after);
    if (before.state === after.state) return;
    count(before, before.state, -1);
    count(after, after.state, 1);
  };

  /** Removes a delivery, and its message along with the last delivery that shares it. */
  const removeDelivery = (row: DeliveryRow): void => {
    if (!fitsOnSheet(row) || !sheets.remove(row.webhookId, row.id)) removeRow(db, row);
    count(row, row.state, -1);
    count(row, "any", -1);
    messages.release(row.messageId);
  };

  const flush = (): void => {
    sheets.flush();
    messages.flush();
  };

  return { append, changeDelivery, removeDelivery, supersede: messages.supersede, flush, flushMessages: messages.flush, onSheet: sheets.delivery };
};

export type OutboxWriter = ReturnType<typeof createOutboxWriter>;

/** Two sequences as one, in the order in which each is. */
const merged = function* <T>(one: Iterable<T>, other: Iterable<T>, isBefore: (a: T, b: T) => boolean): Generator<T, void> {
  const [ones, others] = [one[Symbol.iterator](), other[Symbol.iterator]()];
  try {
    let [a, b] = [ones.next(), others.next()];
    while (a.done !== true || b.done !== true) {
      if (b.done === true || (a.done !== true && isBefore(a.value, b.value))) {
        yield (a as IteratorYieldResult<T>).value;
        a = ones.next();
      } else {
        yield b.value;
        b = others.next();
      }
    }
  } finally {
    ones.return?.();
    others.return?.();
  }
};

const ascending = (a: number, b: number): boolean => a < b;
const descending = (a: number, b: number): boolean => a > b;
const older = (a: DeliveryRow, b: DeliveryRow): boolean => a.id < b.id;

/** Some of a sequence; the rest is not asked for. */
export const some = <T>(all: Iterable<T>, offset: number, limit: number): T[] => {
  const taken: T[] = [];
  let left = offset;
  if (limit <= 0) return taken;
  for (const one of all) {
    if (left-- > 0) continue;
    taken.push(one);
    if (taken.length >= limit) break;
  }
  return taken;
};

/** Ids of deliveries that have rows of their own, in a state or in any, from the highest downwards. */
const rowIdsBelow = function* (db: WebhookDatabases, webhookId: number, state: DeliveryState | undefined, highest: number): Generator<number, void> {
  if (state === undefined) for (const [, id] of db.deliveries.getKeys({ start: [webhookId, highest], end: [webhookId, 0], reverse: true })) yield id;
  else for (const [, , id] of db.states.getKeys({ start: [webhookId, state, highest], end: [webhookId, state, 0], reverse: true })) yield id;
};

/** Ids of those in a state above an id, ascending. */
const rowIds = function* (db: WebhookDatabases, webhookId: number, state: DeliveryState, after: number): Generator<number, void> {
  for (const [, , id] of db.states.getKeys({ start: [webhookId, state, after + 1], end: [webhookId, state, beyondAll] })) yield id;
};

/** Questions about deliveries. None loads rows that it does not answer with. `writing`: what the open transaction has not written yet. */
export const createOutboxReader = (db: WebhookDatabases, instance: string, { sheets, messages, countOfKey, writing }: OutboxReaders & { countOfKey(key: string): number; writing(): OutboxWriter | undefined }) => {
  /** Rows of layouts before 4 have no name of their own: receivers may have seen this one. */
  const named = (row: DeliveryRow): DeliveryRow => ((row.key as string | undefined) === undefined ? { ...row, key: `msg_${instance}_${row.id}_${row.at.toString(36)}` } : row);

  const delivery = (webhookId: number, id: number): DeliveryRow | undefined => {
    const open = writing();
    const onSheet = open === undefined ? sheets.delivery(webhookId, id) : open.onSheet(webhookId, id);
    if (onSheet !== undefined) return onSheet;
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
    writing()?.flush();
    const listed = state ?? "any";
    const total = readNumber(db, counters.inState(webhookId, listed));
    const begin = seek(webhookId, listed, page.offset);
    if (begin === undefined) return { rows: [], total };
    const ids = some(merged(rowIdsBelow(db, webhookId, state, begin.highest), sheets.idsBelow(webhookId, state, begin.highest), descending), begin.offset, page.limit);
    return { rows: ids.map((id) => delivery(webhookId, id)).filter((row) => row !== undefined), total };
  };

  const deliveryIds: WebhookStore["deliveryIds"] = (webhookId, state, after, limit) => {
    writing()?.flush();
    return some(merged(rowIds(db, webhookId, state, after), sheets.ids(webhookId, state, after), ascending), 0, limit);
  };

  const waitingRows = function* (webhookId: number, after: number): Generator<DeliveryRow, void> {
    for (const id of rowIds(db, webhookId, "pending", after)) {
      const row = db.deliveries.get([webhookId, id]);
      if (row !== undefined) yield named(row);
    }
  };

  const waiting: WebhookStore["waiting"] = (webhookId, after, limit) => {
    writing()?.flush();
    return some(merged(waitingRows(webhookId, after), sheets.waiting(webhookId, after), older), 0, limit);
  };

  const retries: WebhookStore["retries"] = (webhookId, limit, from = 0) =>
    [...db.due.getKeys({ start: [webhookId, from, 0], end: [webhookId, beyondAll, 0], limit })].map(([, dueAt, id]) => ({ id, dueAt }));

  const releasable: WebhookStore["releasable"] = (height, limit) =>
    [...db.held.getKeys({ start: ["release", 0, 0, 0], end: ["release", height + 1, 0, 0], limit })].map(([, , webhookId, id]) => ({ webhookId, id }));

  const heldFrom: WebhookStore["heldFrom"] = (blockHeight, limit) =>
    [...db.held.getKeys({ start: ["block", blockHeight, 0, 0], end: ["block", beyondAll, 0, 0], limit })].map(([, , webhookId, id]) => ({ webhookId, id }));

  const countOf: WebhookStore["countOf"] = (webhookId, state) => countOfKey(counters.inState(webhookId, state));

  const message: WebhookStore["message"] = (id) => {
    writing()?.flushMessages();
    return messages.message(id);
  };

  const messagesAbout: WebhookStore["messagesAbout"] = (about) => {
    writing()?.flushMessages(about);
    return messages.about(about);
  };

  return { countOf, message, messagesAbout, delivery, deliveries, deliveryIds, waiting, retries, releasable, heldFrom };
};
