import type { DeliveryRow } from "../../../../types/webhook-store.js";
import { counters, type WebhookDatabases } from "../databases.js";
import { type OutboxWriter, some } from "./outbox.js";
import type { SheetReader } from "./sheets.js";
import type { Tally } from "../tally.js";

type DeliveryKey = [webhookId: number, id: number];

/** Where deliveries are. */
export interface TrimNeeds {
  db: WebhookDatabases;
  sheets: SheetReader;
}

/** Deliveries with rows of their own that finished before a time, oldest first. */
const finishedBefore = (kind: "dead" | "done", time: number, limit: number, { db }: TrimNeeds): DeliveryKey[] =>
  [...db.finished.getKeys({ start: [kind, 0, 0, 0], end: [kind, time, 0, 0], limit })].map(([, , webhookId, id]) => [webhookId, id]);

/** Those on sheets. */
const deliveredBefore = (time: number, limit: number, { sheets }: TrimNeeds): DeliveryKey[] => some(sheets.deliveredBefore(time), 0, limit);

const allOf = (webhookId: number, last: number, limit: number, { db, sheets }: TrimNeeds): DeliveryKey[] => {
  const rows = [...db.deliveries.getKeys({ start: [webhookId, 0], end: [webhookId, last + 1], limit })];
  return [...rows, ...some(sheets.idsBelow(webhookId, undefined, last), 0, limit - rows.length).map((id): DeliveryKey => [webhookId, id])];
};

/** Deliveries of webhooks that were removed or disabled. A webhook that has none left is forgotten for good. */
const abandoned = (limit: number, needs: TrimNeeds): DeliveryKey[] => {
  const { db } = needs;
  const found: DeliveryKey[] = [];
  for (const { key: webhookId, value: last } of [...db.removed.getRange({ limit })]) {
    const keys = allOf(webhookId, last, limit - found.length, needs);
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

export const canBeTrimmed = (before: TrimTimes, needs: TrimNeeds): boolean =>
  needs.db.removed.getKeysCount({ limit: 1 }) > 0 ||
  finishedBefore("done", before.delivered, 1, needs).length > 0 ||
  deliveredBefore(before.delivered, 1, needs).length > 0 ||
  finishedBefore("dead", before.dead, 1, needs).length > 0;

/** What a transaction writes by. */
interface TrimWriting {
  outbox: OutboxWriter;
  tally: Tally;
  delivery(webhookId: number, id: number): DeliveryRow | undefined;
}

/** Removes what is past its retention, up to `limit` deliveries. Returns how many. */
export const trimDeliveries = ({ outbox, tally, delivery }: TrimWriting, before: TrimTimes, limit: number, needs: TrimNeeds): number => {
  const lists = [
    () => abandoned(limit, needs),
    () => finishedBefore("done", before.delivered, limit, needs),
    () => deliveredBefore(before.delivered, limit, needs),
    () => finishedBefore("dead", before.dead, limit, needs),
  ];
  let removed = 0;
  for (const list of lists) {
    if (removed >= limit) break;
    outbox.flush();
    for (const [webhookId, id] of list().slice(0, limit - removed)) {
      const row = delivery(webhookId, id);
      if (row === undefined) continue;
      // An attempt of it may be under way, which would be recorded in the row as it was.
      if (row.state === "retrying") tally.add(counters.workRevision, 1);
      outbox.removeDelivery(row);
      removed++;
    }
  }
  return removed;
};
