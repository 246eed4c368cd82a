import type { About, DeliveryRow, Message } from "../../../types/webhook-store.js";
import { createAboutIndex } from "./about.js";
import { counters, type WebhookDatabases } from "./databases.js";
import { createOutboxWriter } from "./outbox.js";
import { createTally } from "./tally.js";

/** Brings a store that an earlier version wrote to the present layout, one layout after another; within a transaction. */

const events: readonly string[] = ["block.applied", "block.reverted", "transaction.applied", "transaction.reverted"] satisfies About["event"][];

const aboutOf = (event: string, { json }: Message): About | undefined => {
  if (!events.includes(event)) return undefined;
  const payload: unknown = JSON.parse(json);
  const id = typeof payload === "object" && payload !== null && "id" in payload ? payload.id : undefined;
  return typeof id === "string" ? { event: event as About["event"], id } : undefined;
};

/** Layout 2: messages say which block or transaction they are about, and are found by it. Those whose deliveries are all over stay as they are. */
const nameBlocks = (db: WebhookDatabases): void => {
  const tally = createTally(db);
  const index = createAboutIndex(db, tally);
  const found = new Map<number, { about: About; deliveries: [number, number][] }>();
  for (const [webhookId, state, id] of db.states.getKeys()) {
    if (state === "delivered" || state === "dropped") continue;
    const row = db.deliveries.get([webhookId, id]);
    const message = row && db.messages.get(row.messageId);
    if (row === undefined || message === undefined) continue;
    const about = aboutOf(row.event, message);
    if (about === undefined) continue;
    const entry = found.get(row.messageId) ?? { about, deliveries: [] };
    entry.deliveries.push([webhookId, id]);
    found.set(row.messageId, entry);
  }
  for (const [messageId, { about, deliveries }] of found) {
    const message = db.messages.get(messageId);
    if (message === undefined) continue;
    db.messages.putSync(messageId, { ...message, about });
    index.add(messageId, { ...message, about }, deliveries);
  }
  tally.flush();
};

const day = 86_400_000;

/** Replaces rows of deliveries whose entries in an index are above a key. */
const bringDown = (db: WebhookDatabases, keys: readonly (readonly number[])[], change: (row: DeliveryRow) => DeliveryRow): void => {
  const tally = createTally(db);
  const outbox = createOutboxWriter(db, tally);
  for (const [webhookId = 0, id = 0] of keys) {
    const row = db.deliveries.get([webhookId, id]);
    if (row !== undefined) outbox.changeDelivery(row, change(row));
  }
  tally.flush();
};

/**
 * Layout 3: how much time has passed is kept, whatever the wall clock says. It begins when the last message was written, which is what is
 * known for certain. Times after it, or from before a webhook was created, are of a clock that was wrong. No wait of a schedule is over a day.
 */
const keepTime = (db: WebhookDatabases): void => {
  const [last] = [...db.messages.getRange({ reverse: true, limit: 1 })];
  const now = last?.value.at ?? 0;
  for (const { key, value } of [...db.register.getRange()]) {
    const { failingSince, createdAt } = value;
    if (failingSince === null || (failingSince >= createdAt && failingSince <= now)) continue;
    db.register.putSync(key, { ...value, failingSince: last === undefined ? null : now });
  }
  if (last === undefined) return;
  const late = [...db.due.getKeys()].filter(([, dueAt]) => dueAt > now + day).map(([webhookId, , id]) => [webhookId, id]);
  bringDown(db, late, (row) => ({ ...row, dueAt: now + day }));
  const ended = [...db.finished.getKeys()].filter(([, finishedAt]) => finishedAt > now).map(([, , webhookId, id]) => [webhookId, id]);
  bringDown(db, ended, (row) => ({ ...row, finishedAt: now }));
  db.counters.putSync(counters.time, { passed: now, schedule: now, wall: now, monotonic: null });
};

/** By the layout that each begins from. */
const steps: Readonly<Record<number, (db: WebhookDatabases) => void>> = { 1: nameBlocks, 2: keepTime };

/** Returns the layout that it leads to: that which it was given if there is no way on from there. */
export const migrate = (db: WebhookDatabases, from: number): number => {
  let layout = from;
  for (let step = steps[layout]; step !== undefined; step = steps[layout]) {
    step(db);
    layout++;
  }
  db.counters.putSync(counters.schema, layout);
  return layout;
};
