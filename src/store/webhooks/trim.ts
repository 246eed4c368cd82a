import { counters, type WebhookDatabases } from "./databases.js";
import type { OutboxWriter } from "./outbox.js";
import type { Tally } from "./tally.js";

type DeliveryKey = [webhookId: number, id: number];

/** Deliveries that finished before a time, oldest first. */
const finishedBefore = (db: WebhookDatabases, kind: "dead" | "done", time: number, limit: number): DeliveryKey[] =>
  [...db.finished.getKeys({ start: [kind, 0, 0, 0], end: [kind, time, 0, 0], limit })].map(([, , webhookId, id]) => [webhookId, id]);

/** Deliveries of webhooks that were removed or disabled. A webhook that has none left is forgotten for good. */
const abandoned = (db: WebhookDatabases, limit: number): DeliveryKey[] => {
  const found: DeliveryKey[] = [];
  for (const { key: webhookId, value: last } of [...db.removed.getRange({ limit })]) {
    const keys = [...db.deliveries.getKeys({ start: [webhookId, 0], end: [webhookId, last + 1], limit: limit - found.length })];
    if (keys.length === 0 && found.length < limit) db.removed.removeSync(webhookId);
    found.push(...keys);
    if (found.length >= limit) break;
  }
  return found;
};

/** Times before which deliveries must have finished to be removed. */
export interface TrimTimes {
  delivered: number;
  dead: number;
}

export const canBeTrimmed = (db: WebhookDatabases, before: TrimTimes): boolean =>
  db.removed.getKeysCount({ limit: 1 }) > 0 ||
  finishedBefore(db, "done", before.delivered, 1).length > 0 ||
  finishedBefore(db, "dead", before.dead, 1).length > 0;

/** Removes what is past its retention, up to `limit` deliveries. Returns how many. */
export const trimDeliveries = (db: WebhookDatabases, { outbox, tally }: { outbox: OutboxWriter; tally: Tally }, before: TrimTimes, limit: number): number => {
  const lists = [() => abandoned(db, limit), () => finishedBefore(db, "done", before.delivered, limit), () => finishedBefore(db, "dead", before.dead, limit)];
  let removed = 0;
  for (const list of lists) {
    if (removed >= limit) break;
    for (const key of list().slice(0, limit - removed)) {
      const row = db.deliveries.get(key);
      if (row === undefined) continue;
      // An attempt of it may be under way, which would be recorded in the row as it was.
      if (row.state === "retrying") tally.add(counters.workRevision, 1);
      outbox.removeDelivery(row);
      removed++;
    }
  }
  return removed;
};
