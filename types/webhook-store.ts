import type { Attempt, Condition, DeliveryState } from "./webhooks.js";

/** How the webhook engine keeps what it must not lose. The LMDB store (`src/store/webhooks`) is one implementation. */

export interface WebhookRow {
  id: number;
  event: string;
  target: string;
  enabled: boolean;
  conditions: Condition[];
  match: "any" | "all";
  confirmations: number;
  /** 64 hex digits. */
  token: string;
  /** Tokens that sign beside it, each until a time. */
  olderTokens: { token: string; until: number }[];
  createdAt: number;
  failingSince: number | null;
  disabledBecause: "gone" | "failing" | null;
}

/** What happened: shared by all deliveries of it. */
export interface Message {
  at: number;
  /** The payload as JSON text. */
  json: string;
}

export interface DeliveryRow {
  id: number;
  webhookId: number;
  /** Number of its message. */
  messageId: number;
  /** Name of the event, as the webhook calls it. */
  event: string;
  at: number;
  state: DeliveryState;
  /** While `retrying`. */
  dueAt: number | null;
  /** Once `delivered`, `dead` or `dropped`. */
  finishedAt: number | null;
  /** While `held`: the height at which it is released, and the height of the block it tells of. */
  hold: { releaseHeight: number; blockHeight: number } | null;
  /** Failed attempts since its schedule began. */
  failures: number;
  attemptCount: number;
  attempts: Attempt[];
}

/** One delivery to be written with a message. */
export interface Recipient {
  webhookId: number;
  event: string;
  /** Where it begins: waiting for its first attempt, due at a time without waiting in line, or held. */
  begin: { state: "pending" } | { state: "retrying"; dueAt: number } | { state: "held"; releaseHeight: number; blockHeight: number };
}

/** An event of the host on its way into the store. */
export interface HeardEvent {
  /** One more than that of the event before. */
  number: number;
  at: number;
  event: string;
  json: string;
}

/** Where events of the host are before the store has them: written at once, so that the host waits for no disk. */
export interface EventJournal {
  /** The event outlives the process when this returns. */
  append(event: HeardEvent): void;
  /** What is not forgotten yet, in order: at first, what the process before left. */
  kept(): readonly HeardEvent[];
  /** Up to this number the store has them. */
  forget(number: number): void;
  close(): void;
}

export interface RecentEvent {
  at: number;
  json: string;
}

/**
 * Everything that changes something, but for `trim`, is called within `transaction`. Deliveries are numbered in the order in which they were
 * written; their ids are never used again.
 */
export interface WebhookStore {
  /** Names this store among others: part of every message id. */
  readonly instance: string;
  /** Runs `work` as one atomic write, part of the transaction that is open already where one is. A throw undoes it all. */
  transaction<T>(work: () => T): T;
  /** The same, but soon, together with what else is to be written then: nobody waits for the disk. Resolves when it is committed. */
  transactionSoon<T>(work: () => T): Promise<T>;

  /** One more with every change of a webhook, in whatever process. */
  registerRevision(): number;
  /** Ids of the webhooks that changed after a revision; undefined where that was too many changes ago to tell. */
  changedSince(revision: number): number[] | undefined;
  /** By id, with the number of all. */
  webhooks(page: { offset: number; limit: number }): { rows: WebhookRow[]; total: number };
  webhook(id: number): WebhookRow | undefined;
  addWebhook(row: Omit<WebhookRow, "id">): WebhookRow;
  putWebhook(row: WebhookRow): void;
  /** Writes what is known of its health alone: no change of the register. */
  putHealth(row: WebhookRow): void;
  /** Its deliveries are taken out later, by `trim`. */
  removeWebhook(id: number): void;

  /** Changes with `announceWork`: how processes of one store tell each other of deliveries that became due. */
  workRevision(): number;
  announceWork(): void;

  /** Writes a message and its deliveries. Returns the deliveries' ids, in the order of the recipients. */
  append(message: Message, recipients: readonly Recipient[]): number[];
  message(id: number): Message | undefined;
  delivery(webhookId: number, id: number): DeliveryRow | undefined;
  /** Replaces a delivery by its next state. */
  changeDelivery(before: DeliveryRow, after: DeliveryRow): void;
  /** Newest first, with the exact number of all. */
  deliveries(webhookId: number, state: DeliveryState | undefined, page: { offset: number; limit: number }): { rows: DeliveryRow[]; total: number };
  /** Ids of those in a state, ascending, above `after`. */
  deliveryIds(webhookId: number, state: DeliveryState, after: number, limit: number): number[];
  /** Those that are `retrying`, by time. */
  retries(webhookId: number, limit: number): { id: number; dueAt: number }[];
  /** Held deliveries to be released at a height or below it. */
  releasable(height: number, limit: number): { webhookId: number; id: number }[];
  /** Held deliveries of blocks at a height or above it. */
  heldFrom(blockHeight: number, limit: number): { webhookId: number; id: number }[];

  /** Number of the last event of the journal that the store has; 0 for none. */
  journalPosition(): number;
  setJournalPosition(number: number): void;

  /** Keeps the last payloads of an event, `keep` of them. */
  remember(event: string, recent: RecentEvent, keep: number): void;
  /** Newest first. */
  recent(event: string, limit: number): RecentEvent[];

  /**
   * Takes out up to `limit` deliveries that finished before these times, or whose webhook is gone. Returns how many. A write of its
   * own, and none where there is nothing to take out.
   */
  trim(before: { delivered: number; dead: number }, limit: number): number;
}
