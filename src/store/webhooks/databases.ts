import type { Database, RootDatabase } from "lmdb";
import type { About, DeliveryRow, KeptReply, KeptTime, Message, Pause, Progress, RecentEvent, WebhookRow } from "../../../types/webhook-store.js";
import type { DeliveryState } from "../../../types/webhooks.js";
import type { MessageSheet } from "./outbox/message-sheet.js";
import { rowEncoder } from "./row-encoding.js";

/** An open LMDB environment, whatever else is kept in it. */
export interface OpenEnvironment {
  /** Its file. */
  path: string;
  root: Pick<RootDatabase<never, never>, "openDB" | "transactionSync" | "childTransaction" | "getWriteTxnId">;
}

/**
 * The registry of what is kept where: databases by name, and their keys. Keys are arrays in lmdb's ordered binary form, which sort
 * element by element.
 */
export interface WebhookDatabases {
  /** Webhook id -> webhook. */
  register: Database<WebhookRow, number>;
  /** Webhook id -> where it is. Apart from the webhook, which may be large. */
  progress: Database<Progress, number>;
  /** Key of a request -> its reply. */
  replies: Database<KeptReply, string>;
  /** Revision of the register -> id of the webhook that changed with it; the last ones only. */
  changes: Database<number, number>;
  /** Message number -> a message that is on no sheet. */
  messages: Database<Message, number>;
  /** Number of the first -> messages of one block that was applied (outbox/message-sheet.ts). */
  messageSheets: Database<MessageSheet, number>;
  /** Digest of a block's id, number of the first message: the sheets of its messages. */
  blocks: Database<true, [string, number]>;
  /** Webhook id, first delivery id -> deliveries that wait for their first attempt, or were delivered by it (outbox/sheet.ts). */
  sheets: Database<Buffer, [number, number]>;
  /** Webhook id, delivery id -> any other delivery. */
  deliveries: Database<DeliveryRow, [number, number]>;
  /**
   * Webhook id, state, delivery id of those that are on no sheet: what is listed. Webhook id, "sheet", first delivery id: sheets with
   * deliveries that wait.
   */
  states: Database<true, [number, DeliveryState | "sheet", number]>;
  /** Webhook id, due time, delivery id: deliveries between attempts. */
  due: Database<true, [number, number, number]>;
  /** "release", height, webhook id, delivery id; "block", height, webhook id, delivery id: held deliveries. */
  held: Database<true, ["release" | "block", number, number, number]>;
  /**
   * What retention looks at. "dead" or "done", finish time, webhook id, delivery id; "sheet", the first finish time on it, webhook id, first
   * delivery id.
   */
  finished: Database<true, ["dead" | "done" | "sheet", number, number, number]>;
  /** Id of a webhook that may have deliveries that are to be removed -> the last of them. */
  removed: Database<number, number>;
  /** Event, digest of a block's or transaction's id, message number -> the deliveries of that message, as webhook id and delivery id. Of messages that are on no sheet. */
  about: Database<[number, number][], [About["event"], string, number]>;
  /** Event, ordinal -> one of its last payloads. */
  recent: Database<RecentEvent, [string, number]>;
  /** See `counters`. */
  counters: Database<number | string | KeptTime | Pause, string>;
}

/** A state, or all of them together. */
export type ListedState = DeliveryState | "any";

/** Ids in one bucket. */
export const bucketSize = 4_096;

/** Single values, and how many deliveries there are. */
export const counters = {
  schema: "schema",
  instance: "instance",
  lastWebhook: "last-webhook",
  lastMessage: "last-message",
  lastDelivery: "last-delivery",
  registerRevision: "register-revision",
  workRevision: "work-revision",
  journalPosition: "journal-position",
  running: "running",
  time: "time",
  /** Deliveries of a webhook in a state. */
  inState: (webhookId: number, state: ListedState) => `in-state ${webhookId} ${state}`,
  /** Deliveries of a webhook in a state, or in any, whose ids are in one bucket: how a page far down is found. */
  inBucket: (webhookId: number, state: ListedState, bucket: number) => `in-bucket ${webhookId} ${state} ${bucket.toString(16).padStart(14, "0")}`,
  /** Deliveries that share a message, or a sheet of messages, by the number of its first. */
  references: (messageId: number) => `references ${messageId}`,
  /** Messages about blocks or transactions to which this happened. */
  about: (event: About["event"]) => `about ${event}`,
  /** 1 for a message that is superseded: for all that got it, or for one webhook. */
  superseded: (messageId: number, webhookId?: number) => `superseded ${messageId}${webhookId === undefined ? "" : ` ${webhookId}`}`,
  /** How a target was paused, by the digest of its URL. */
  pause: (digest: string) => `pause ${digest}`,
  /** Payloads of an event that were ever kept. */
  remembered: (event: string) => `remembered ${event}`,
} as const;

/** Changes with every change of layout. Earlier ones are migrated (migrate.ts). */
export const schemaVersion = 7;

const names = {
  register: "webhooks-register",
  progress: "webhooks-progress",
  replies: "webhooks-replies",
  changes: "webhooks-changes",
  messages: "webhooks-messages",
  messageSheets: "webhooks-message-sheets",
  blocks: "webhooks-blocks",
  sheets: "webhooks-sheets",
  deliveries: "webhooks-deliveries",
  states: "webhooks-states",
  due: "webhooks-due",
  held: "webhooks-held",
  finished: "webhooks-finished",
  removed: "webhooks-removed",
  about: "webhooks-about",
  recent: "webhooks-recent",
  counters: "webhooks-counters",
} as const;

/** Records are self-contained, and whole numbers may have any size. */
const encoding = { encoding: "msgpack", keyEncoding: "ordered-binary", encoder: { useRecords: false, useBigIntExtension: true } } as const;

/** Whether a database holds sheets (outbox/sheet.ts). */
export const hasSheets = (name: string): boolean => name === names.sheets;

/** Whether a database has rows with a checksum of their own (row-encoding.ts). */
export const hasCheckedRows = (name: string): boolean => name === names.register || name === names.progress;

export const openWebhookDatabases = (environment: OpenEnvironment): WebhookDatabases => {
  const encodingOf = (name: string) => ({ ...encoding, ...(hasCheckedRows(name) ? { encoder: rowEncoder } : {}), ...(hasSheets(name) ? { encoding: "binary", encoder: undefined } : {}) });
  const opened = Object.entries(names).map(([room, name]) => [room, environment.root.openDB({ name, ...encodingOf(name) } as never)]);
  return Object.fromEntries(opened) as WebhookDatabases;
};

/** Above every number, in keys. */
export const beyondAll = Number.MAX_VALUE;

/** A counter: 0 where it was never set. An open transaction may have changed it (tally.ts). */
export const readNumber = ({ counters: database }: WebhookDatabases, key: string): number => (database.get(key) as number | undefined) ?? 0;
