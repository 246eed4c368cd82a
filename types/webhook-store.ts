import type { Attempt, Condition, DeliveryState } from "./webhooks.js";

/** The webhook engine's durable storage. The LMDB store (`src/store/webhooks`) is one implementation. */

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
  /** Rotated tokens that still sign, each until its time (of `KeptTime.passed`). */
  olderTokens: { token: string; until: number }[];
  createdAt: number;
  failingSince: number | null;
  /** The same as a time of `KeptTime.passed`; rows of earlier versions lack it. */
  failingFrom?: number | undefined;
  disabledBecause: "gone" | "failing" | null;
}

/** A block or transaction, and what happened to it. */
export interface About {
  event: "block.applied" | "block.reverted" | "transaction.applied" | "transaction.reverted";
  id: string;
}

/** One occurrence of an event, shared by all deliveries of it. */
export interface Message {
  at: number;
  /** The payload as JSON text. */
  json: string;
  about?: About | undefined;
}

export interface DeliveryRow {
  id: number;
  webhookId: number;
  messageId: number;
  /** Name of the event, as the webhook spells it. */
  event: string;
  at: number;
  state: DeliveryState;
  /** Set while `retrying`; a time of `KeptTime.schedule`. */
  dueAt: number | null;
  /** A time of `KeptTime.passed`. Set once `delivered`, `dead`, `dropped` or `superseded`. */
  finishedAt: number | null;
  /** Set while `held`: the height at which it is released, and the height of its block. */
  hold: { releaseHeight: number; blockHeight: number } | null;
  /** Failed attempts since its schedule last began. */
  failures: number;
  attemptCount: number;
  attempts: Attempt[];
}

/** A delivery to be written with a message. */
export interface Recipient {
  webhookId: number;
  event: string;
  /** Initial state: queued for its first attempt, due at a given time outside the queue, or held. */
  begin: { state: "pending" } | { state: "retrying"; dueAt: number } | { state: "held"; releaseHeight: number; blockHeight: number };
}

/** An event of the host that is to be written to the store. */
export interface HeardEvent {
  /** Consecutive: one more than that of the previous event. */
  number: number;
  at: number;
  event: string;
  json: string;
}

/** Holds events of the host until they are in the store: an append is immediate, so that the host never waits for the disk. */
export interface EventJournal {
  /** When this returns, the event survives the end of the process. */
  append(event: HeardEvent): void;
  /** The events not yet forgotten, in order. After opening: those that the previous process left. */
  kept(): readonly HeardEvent[];
  /** Drops the events up to this number, which the store now has. */
  forget(number: number): void;
  close(): void;
}

/**
 * How much time has passed, as the process that delivers told it last, and what its clocks read then. All in milliseconds; `passed` and
 * `schedule` began as the wall clock's time. Other times of rows are the wall clock's.
 */
export interface KeptTime {
  /** Has passed for certain. */
  passed: number;
  /** May have passed. */
  schedule: number;
  wall: number;
  /** Null if it is not known. */
  monotonic: number | null;
}

export interface RecentEvent {
  at: number;
  json: string;
}

/**
 * Every method that writes, except `trim`, must be called within `transaction` or `transactionSoon`. Delivery ids ascend in the order in
 * which deliveries are written, and are never reused.
 */
export interface WebhookStore {
  /** Identifies this store; part of every message id. */
  readonly instance: string;
  /** Runs `work` as one atomic write, within the open transaction if there is one. A throw undoes all of it. */
  transaction<T>(work: () => T): T;
  /** The same, deferred and batched with other writes, so that nothing blocks on the disk. Resolves once committed. */
  transactionSoon<T>(work: () => T): Promise<T>;

  /** Increases with every change of a webhook, in whatever process. */
  registerRevision(): number;
  /** Ids of the webhooks changed since a revision; undefined if that was too many changes ago to tell. */
  changedSince(revision: number): number[] | undefined;
  /** Ascending by id, with the total number. */
  webhooks(page: { offset: number; limit: number }): { rows: WebhookRow[]; total: number };
  webhook(id: number): WebhookRow | undefined;
  addWebhook(row: Omit<WebhookRow, "id">): WebhookRow;
  putWebhook(row: WebhookRow): void;
  /** Writes a row in which only the health changed; does not count as a change of the register. */
  putHealth(row: WebhookRow): void;
  /** Its deliveries are removed later, by `trim`. */
  removeWebhook(id: number): void;

  /** Increases with `announceWork`: processes that share a store tell each other by it that deliveries became due. */
  workRevision(): number;
  announceWork(): void;

  /** Writes a message and its deliveries. Returns the delivery ids, in the order of the recipients. */
  append(message: Message, recipients: readonly Recipient[]): number[];
  message(id: number): Message | undefined;
  /** Marks every message about this as superseded, for as long as it is kept. Returns the deliveries of those that were not marked before. */
  supersede(about: About): { webhookId: number; id: number }[];
  isSuperseded(messageId: number): boolean;
  /** Whether a message about this is kept. */
  isAbout(about: About): boolean;
  delivery(webhookId: number, id: number): DeliveryRow | undefined;
  /** Replaces a delivery by its next state. */
  changeDelivery(before: DeliveryRow, after: DeliveryRow): void;
  /** Newest first, with the exact total number. */
  deliveries(webhookId: number, state: DeliveryState | undefined, page: { offset: number; limit: number }): { rows: DeliveryRow[]; total: number };
  /** Ids of the deliveries in a state, ascending, above `after`. */
  deliveryIds(webhookId: number, state: DeliveryState, after: number, limit: number): number[];
  /** The `retrying` deliveries, ascending by `dueAt`. */
  retries(webhookId: number, limit: number): { id: number; dueAt: number }[];
  /** Held deliveries with a release height of at most `height`. */
  releasable(height: number, limit: number): { webhookId: number; id: number }[];
  /** Held deliveries of blocks at `blockHeight` or above. */
  heldFrom(blockHeight: number, limit: number): { webhookId: number; id: number }[];

  /** Number of the last journal event that the store has; 0 for none. */
  journalPosition(): number;
  setJournalPosition(number: number): void;

  /** Undefined until it is kept for the first time. */
  time(): KeptTime | undefined;
  keepTime(time: KeptTime): void;

  /** Adds a payload of an event, and keeps only its last `keep`. */
  remember(event: string, recent: RecentEvent, keep: number): void;
  /** Newest first. */
  recent(event: string, limit: number): RecentEvent[];

  /**
   * Removes up to `limit` deliveries that finished before these times of `KeptTime.passed` (dropped and superseded ones count as delivered), or whose webhook is gone.
   * Returns how many. Runs a transaction of its own, and none if there is nothing to remove.
   */
  trim(before: { delivered: number; dead: number }, limit: number): number;
}
