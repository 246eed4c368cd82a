import type { DeliveryState } from "../../../types/webhooks.js";
import { beyondAll, counters, type Transactions, type WebhookDatabases } from "./transactions.js";
import { type DeliveryRow, type Message, openStates, type Recipient } from "./rows.js";

type DeliveryKey = [webhookId: number, id: number];

const allStates: readonly DeliveryState[] = ["pending", "retrying", "delivered", "dead", "dropped", "superseded"];

/** Times before which deliveries must have finished to be removed. */
export interface TrimTimes {
  delivered: number;
  dead: number;
}

/** Writes the index entries of a delivery. */
const putIndex = (db: WebhookDatabases, { id, webhookId, state, dueAt, finishedAt }: DeliveryRow): void => {
  db.states.putSync([webhookId, state, id], true);
  if (dueAt !== null) db.due.putSync([webhookId, dueAt, id], true);
  if (finishedAt !== null) db.finished.putSync([state === "dead" ? "dead" : "done", finishedAt, webhookId, id], true);
};

/** Removes them. */
const removeIndex = (db: WebhookDatabases, { id, webhookId, state, dueAt, finishedAt }: DeliveryRow): void => {
  db.states.removeSync([webhookId, state, id]);
  if (dueAt !== null) db.due.removeSync([webhookId, dueAt, id]);
  if (finishedAt !== null) db.finished.removeSync([state === "dead" ? "dead" : "done", finishedAt, webhookId, id]);
};

/** Member by member: to objects into which others were spread first, V8 adds members slowly. */
const rowOf = ({ webhookId, event, key, last, reverts, onRequest, isPing }: Recipient, at: number, messageId: number, id: number): DeliveryRow => {
  const row: DeliveryRow = { id, webhookId, messageId, key, event, at, state: "pending", dueAt: isPing === true ? 0 : null, finishedAt: null, failures: 0, attemptCount: 0, attempts: [] };
  if (last !== undefined) row.last = last;
  if (reverts !== undefined) row.reverts = reverts;
  if (onRequest !== undefined) row.onRequest = onRequest;
  return row;
};

/** Messages: within a transaction. */
const createMessages = (db: WebhookDatabases, { tally }: Transactions) => ({
  /** `known`: a message that was written before, by its number. Returns the number. */
  share: (message: Message, count: number, known: number | undefined): number => {
    const kept = known === undefined ? undefined : db.messages.get(known);
    const id = known ?? tally().add(counters.lastMessage, 1);
    // The number of a new one is above all others: with `append`, LMDB begins a new page and does not divide a full one in two.
    // What lmdb-js returns, against its type: false where the number is not.
    const isPut: unknown = db.messages.putSync(id, { ...message, references: (kept?.references ?? 0) + count }, { append: known === undefined });
    if (isPut === false) throw new Error(`webhooks.mdb has messages above ${id}, the number of the next one`);
    return id;
  },
  release: (id: number): void => {
    const kept = db.messages.get(id);
    if (kept === undefined) return;
    if (kept.references <= 1) db.messages.removeSync(id);
    else db.messages.putSync(id, { ...kept, references: kept.references - 1 });
  },
});

const createTrim = (db: WebhookDatabases, { transaction }: Transactions, removeDelivery: (row: DeliveryRow) => void) => {
  const finishedBefore = (kind: "dead" | "done", time: number, limit: number): DeliveryKey[] =>
    [...db.finished.getKeys({ start: [kind, 0, 0, 0], end: [kind, time, 0, 0], limit })].map(([, , webhookId, id]) => [webhookId, id]);

  /** Deliveries of webhooks that were removed. A webhook that has none left is forgotten for good. */
  const ofRemoved = (limit: number): DeliveryKey[] => {
    const found: DeliveryKey[] = [];
    for (const { key: webhookId, value: last } of [...db.removed.getRange({ limit })]) {
      const keys = [...db.deliveries.getKeys({ start: [webhookId, 0], end: [webhookId, last + 1], limit: limit - found.length })];
      if (keys.length === 0) db.removed.removeSync(webhookId);
      found.push(...keys);
      if (found.length >= limit) break;
    }
    return found;
  };

  const hasAny = (before: TrimTimes): boolean =>
    db.removed.getKeysCount({ limit: 1 }) > 0 ||
    finishedBefore("done", before.delivered, 1).length > 0 ||
    finishedBefore("dead", before.dead, 1).length > 0;

  return (before: TrimTimes, limit: number, removing: (row: DeliveryRow) => void = () => undefined): number => {
    if (!hasAny(before)) return 0;
    return transaction(() => {
      let count = 0;
      for (const find of [ofRemoved, (most: number) => finishedBefore("done", before.delivered, most), (most: number) => finishedBefore("dead", before.dead, most)]) {
        const keys = count < limit ? find(limit - count) : [];
        count += keys.length;
        for (const key of keys) {
          const row = db.deliveries.get(key);
          if (row === undefined) continue;
          removing(row);
          removeDelivery(row);
        }
      }
      return count;
    });
  };
};

/** Deliveries and their messages. What writes is called within a transaction, but for `trim`. */
export const createDeliveryRows = (db: WebhookDatabases, transactions: Transactions) => {
  const { tally, count, noteChanged } = transactions;
  const messages = createMessages(db, transactions);

  const delivery = (webhookId: number, id: number): DeliveryRow | undefined => db.deliveries.get([webhookId, id]);
  const countOf = (webhookId: number, state: DeliveryState): number => count(counters.inState(webhookId, state));
  const add = ({ webhookId, state }: DeliveryRow, by: 1 | -1): void => void tally().add(counters.inState(webhookId, state), by);

  const removeDelivery = (row: DeliveryRow): void => {
    noteChanged(row.id);
    removeIndex(db, row);
    db.deliveries.removeSync([row.webhookId, row.id]);
    add(row, -1);
    messages.release(row.messageId);
  };

  /** Ids of a webhook's deliveries in a state, or in any, newest first. */
  const idsOfPage = (webhookId: number, state: DeliveryState | undefined, { offset, limit }: { offset: number; limit: number }): number[] =>
    state === undefined
      ? [...db.deliveries.getKeys({ start: [webhookId, beyondAll], end: [webhookId, 0], reverse: true, offset, limit })].map(([, id]) => id)
      : [...db.states.getKeys({ start: [webhookId, state, beyondAll], end: [webhookId, state, 0], reverse: true, offset, limit })].map(
          ([, , id]) => id,
        );

  return {
    /**
     * Writes a message and its deliveries. `messageId`: of the message, where that was written before. Returns the deliveries, in the order
     * of the recipients. Their ids ascend.
     */
    append: (message: Message, recipients: readonly Recipient[], messageId?: number): DeliveryRow[] => {
      const shared = messages.share(message, recipients.length, messageId);
      return recipients.map((recipient) => {
        const row = rowOf(recipient, message.at, shared, tally().add(counters.lastDelivery, 1));
        db.deliveries.putSync([row.webhookId, row.id], row);
        putIndex(db, row);
        add(row, 1);
        return row;
      });
    },
    /** Replaces a delivery by its next state. */
    changeDelivery: (before: DeliveryRow, after: DeliveryRow): void => {
      noteChanged(after.id);
      db.deliveries.putSync([after.webhookId, after.id], after);
      if (before.state === after.state && before.dueAt === after.dueAt && before.finishedAt === after.finishedAt) return;
      removeIndex(db, before);
      putIndex(db, after);
      add(before, -1);
      add(after, 1);
    },
    /** Removes a delivery, and its message along with the last that shares it. */
    removeDelivery,
    message: (id: number): Message | undefined => db.messages.get(id),
    delivery,
    /** Newest first, with the exact total number. */
    deliveries: (webhookId: number, state: DeliveryState | undefined, page: { offset: number; limit: number }): { rows: DeliveryRow[]; total: number } => {
      const total = (state === undefined ? allStates : [state]).reduce((sum, one) => sum + countOf(webhookId, one), 0);
      const ids = page.limit > 0 && page.offset < total ? idsOfPage(webhookId, state, page) : [];
      return { rows: ids.map((id) => delivery(webhookId, id)).filter((row) => row !== undefined), total };
    },
    /** Ids of the deliveries in a state, ascending, above `after`. */
    deliveryIds: (webhookId: number, state: DeliveryState, after: number, limit: number): number[] =>
      [...db.states.getKeys({ start: [webhookId, state, after + 1], end: [webhookId, state, beyondAll], limit })].map(([, , id]) => id),
    /** How many deliveries of a webhook are in a state. */
    countOf,
    /** How many deliveries of a webhook are not settled. */
    countOpen: (webhookId: number): number => openStates.reduce((sum, state) => sum + countOf(webhookId, state), 0),
    /** The `retrying` deliveries and the pings, ascending by `dueAt`, which is `from` or later. */
    retries: (webhookId: number, limit: number, from = 0): { id: number; dueAt: number }[] =>
      [...db.due.getKeys({ start: [webhookId, from, 0], end: [webhookId, beyondAll, 0], limit })].map(([, dueAt, id]) => ({ id, dueAt })),
    /** Id of the last delivery. */
    lastDelivery: (): number => count(counters.lastDelivery),
    /**
     * Removes up to `limit` deliveries that finished before these times of `KeptTime.passed` (dropped and superseded ones count as
     * delivered), or whose webhook is gone. Returns how many, after it has told `removing` of each. Runs a transaction of its own, and none
     * if there is nothing to remove.
     */
    trim: createTrim(db, transactions, removeDelivery),
  };
};
