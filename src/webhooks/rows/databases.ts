import type { Database, RootDatabase } from "lmdb";
import type { DeliveryState } from "../../../types/webhooks.js";
import { rowEncoder } from "../../store/layout/row-encoding.js";
import type { DeliveryRow, KeptReply, KeptTime, LedgerEntry, Message, Pause, Progress, RecentEvent, WebhookRow } from "./rows.js";

/** The databases of `webhooks.mdb`, and their keys: arrays in lmdb's ordered binary form, which sort element by element. */
export interface WebhookDatabases {
  /** Webhook id -> webhook. */
  register: Database<WebhookRow, number>;
  /** Webhook id -> where it is. Apart from the webhook, which may be large. */
  progress: Database<Progress, number>;
  /** Webhook id, 1 if it was reverted and else 0, height, id -> a block of the ledger. */
  ledger: Database<LedgerEntry, [number, 0 | 1, number, string]>;
  /** Key of a request -> its reply. */
  replies: Database<KeptReply, string>;
  /** Revision of the register -> id of the webhook that changed with it; the last ones only. */
  changes: Database<number, number>;
  /** Number -> a message, and how many deliveries share it. */
  messages: Database<Message & { references: number }, number>;
  /** Webhook id, delivery id -> delivery. */
  deliveries: Database<DeliveryRow, [number, number]>;
  /** Webhook id, state, delivery id. */
  states: Database<true, [number, DeliveryState, number]>;
  /** Webhook id, due time, delivery id: deliveries between attempts, and pings. */
  due: Database<true, [number, number, number]>;
  /** "dead" or "done", finish time, webhook id, delivery id: what retention looks at. */
  finished: Database<true, ["dead" | "done", number, number, number]>;
  /** Id of a webhook that was removed, and may have deliveries. */
  removed: Database<true, number>;
  /** Event, ordinal -> one of its last payloads. */
  recent: Database<RecentEvent, [string, number]>;
  /** Single values by name, and counts of deliveries by webhook and state. */
  counters: Database<number | string | KeptTime | Pause, string>;
}

export const counters = {
  schema: "schema",
  instance: "instance",
  lastWebhook: "last-webhook",
  lastMessage: "last-message",
  lastDelivery: "last-delivery",
  registerRevision: "register-revision",
  workRevision: "work-revision",
  running: "running",
  time: "time",
  /** Deliveries of a webhook in a state. */
  inState: (webhookId: number, state: DeliveryState) => `in-state ${webhookId} ${state}`,
  /** How a target was paused, by the digest of its URL. */
  pause: (digest: string) => `pause ${digest}`,
  /** Payloads of an event that were ever kept. */
  remembered: (event: string) => `remembered ${event}`,
} as const;

/** A file of another layout is refused. */
export const layout = 1;

const names = ["register", "progress", "ledger", "replies", "changes", "messages", "deliveries", "states", "due", "finished", "removed", "recent", "counters"] as const satisfies readonly (keyof WebhookDatabases)[];

/** Records are self-contained, and whole numbers may have any size. */
const encoding = { encoding: "msgpack", keyEncoding: "ordered-binary", encoder: { useRecords: false, useBigIntExtension: true } } as const;

/** Rows that say where requests go, and what has been sent, have a checksum. They are few; rows of deliveries are many, and have none. */
const checked = new Set(["register", "progress", "ledger"]);

export const openDatabases = (root: Pick<RootDatabase<never, never>, "openDB">): WebhookDatabases =>
  Object.fromEntries(names.map((name) => [name, root.openDB({ name: `webhooks-${name}`, ...encoding, ...(checked.has(name) ? { encoder: rowEncoder } : {}) } as never)])) as unknown as WebhookDatabases;

/** Above every number, in keys. */
export const beyondAll = Number.MAX_VALUE;

/** A counter: 0 where it was never set. */
export const readNumber = (db: Pick<WebhookDatabases, "counters">, key: string): number => (db.counters.get(key) as number | undefined) ?? 0;
