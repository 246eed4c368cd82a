import type { About, DeliveryRow, Message, Progress, WebhookRow } from "../../../types/webhook-store.js";
import { createAboutIndex } from "./outbox/about.js";
import { beyondAll, counters, type WebhookDatabases } from "./databases.js";
import { createOutboxWriter } from "./outbox/outbox.js";
import { createTally } from "./tally.js";

/** Brings a store that an earlier version wrote to the present layout, one layout after another; within a transaction. */

const events: readonly string[] = ["block.applied", "block.reverted", "transaction.applied", "transaction.reverted"] satisfies About["event"][];

const aboutOf = (event: string, { json }: Message): About | undefined => {
  if (!events.includes(event)) return undefined;
  const payload: unknown = JSON.parse(json ?? "null");
  const id = typeof payload === "object" && payload !== null && "id" in payload ? payload.id : undefined;
  return typeof id === "string" ? { event: event as About["event"], id } : undefined;
};

/** Layout 2: messages say which block or transaction they are about, and are found by it. Those whose deliveries are all over stay as they are. */
const nameBlocks = (db: WebhookDatabases): void => {
  const tally = createTally(db);
  const index = createAboutIndex(db, tally);
  const found = new Map<number, { about: About; deliveries: [number, number][] }>();
  for (const [webhookId, state, id] of db.states.getKeys()) {
    if (state === "delivered" || state === "dropped" || state === "sheet") continue;
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
  outbox.flush();
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
    const { failingSince, createdAt } = value as unknown as Webhook3;
    if (failingSince === null || (failingSince >= createdAt && failingSince <= now)) continue;
    db.register.putSync(key, { ...value, failingSince: last === undefined ? null : now } as never);
  }
  if (last === undefined) return;
  const late = [...db.due.getKeys()].filter(([, dueAt]) => dueAt > now + day).map(([webhookId, , id]) => [webhookId, id]);
  bringDown(db, late, (row) => ({ ...row, dueAt: now + day }));
  const ended = [...db.finished.getKeys()].filter(([, finishedAt]) => finishedAt > now).map(([, , webhookId, id]) => [webhookId, id]);
  bringDown(db, ended, (row) => ({ ...row, finishedAt: now }));
  db.counters.putSync(counters.time, { passed: now, schedule: now, wall: now, monotonic: null });
};

/** A webhook of layout 3. */
type Settings4 = "events" | "confirmations" | "order" | "batch" | "rate" | "headers" | "description" | "tags" | "signature";
interface Webhook3 extends Omit<WebhookRow, Settings4> {
  event: string;
  confirmations: number;
  failingSince: number | null;
  failingFrom?: number;
}

/** What comes after the blocks of which the webhook was told. Those held for confirmations are found again from there. */
const beginning = ({ event, confirmations }: Webhook3, keepsChain: boolean): Progress["from"] => (confirmations === 0 || !keepsChain ? "tip" : { below: event === "transaction.applied" ? confirmations - 1 : confirmations });

/**
 * Layout 4: a webhook has a cursor, apart from its row; what was held is found again from there, unless the host keeps the chain.
 * Deliveries stay as they are: what they lack is derived when they are read.
 */
const giveCursors = (db: WebhookDatabases, { keepsChain }: MigrationNeeds): void => {
  for (const { key, value } of [...db.register.getRange()]) {
    const { event, failingSince, failingFrom, ...row } = value as unknown as Webhook3;
    const fresh = { order: "first", batch: null, rate: null, headers: {}, description: "", tags: [], signature: "v1" } as const;
    db.register.putSync(key, { ...row, ...fresh, tags: [], events: [event] });
    db.progress.putSync(key, { from: beginning(value as unknown as Webhook3, keepsChain), failingSince, failingFrom });
  }
  const tally = createTally(db);
  const outbox = createOutboxWriter(db, tally);
  for (const [, , webhookId, id] of keepsChain ? [...db.held.getKeys({ start: ["block", 0, 0, 0], end: ["block", beyondAll, 0, 0] })] : []) {
    const row = db.deliveries.get([webhookId, id]);
    if (row !== undefined) outbox.removeDelivery(row);
  }
  outbox.flush();
  for (const webhookId of [...db.removed.getKeys()]) db.removed.putSync(webhookId, Number.MAX_SAFE_INTEGER);
  tally.flush();
};

/** Layout 5: webhooks and their places carry checksums, and long lists are written as JSON. */
const addChecksums = (db: WebhookDatabases): void => {
  for (const { key, value } of [...db.register.getRange()]) db.register.putSync(key, value);
  for (const { key, value } of [...db.progress.getRange()]) db.progress.putSync(key, value);
};

/** Layout 6: deliveries are on sheets. Those that have rows keep them, and are listed beside the others until they go. */
const beginSheets = (): void => undefined;

/** Layout 7: messages of blocks are on sheets, too. As before, rows stay until they go. */
const beginMessageSheets = (): void => undefined;

export interface MigrationNeeds {
  /** Whether the store is beside the chain's. */
  keepsChain: boolean;
}

/** By the layout that each begins from. */
const steps: Readonly<Record<number, (db: WebhookDatabases, needs: MigrationNeeds) => void>> = { 1: nameBlocks, 2: keepTime, 3: giveCursors, 4: addChecksums, 5: beginSheets, 6: beginMessageSheets };

/** Returns the layout that it leads to: that which it was given if there is no way on from there. */
export const migrate = (db: WebhookDatabases, from: number, needs: MigrationNeeds): number => {
  let layout = from;
  for (let step = steps[layout]; step !== undefined; step = steps[layout]) {
    step(db, needs);
    layout++;
  }
  db.counters.putSync(counters.schema, layout);
  return layout;
};
