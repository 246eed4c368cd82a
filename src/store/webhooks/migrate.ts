import type { About, Message } from "../../../types/webhook-store.js";
import { createAboutIndex } from "./about.js";
import { counters, type WebhookDatabases } from "./databases.js";
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

/** By the layout that each begins from. */
const steps: Readonly<Record<number, (db: WebhookDatabases) => void>> = { 1: nameBlocks };

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
