import type { Attempt, BatchRule, Condition, DeliveryOrder, DeliveryState } from "./webhooks.js";

/** The webhook engine's durable storage. The LMDB store (`src/store/webhooks`) is one implementation. */

export interface WebhookRow {
  id: number;
  /** What its values of `webhook-id` are made from, as a store that is restored may give its number to another. Absent in rows of earlier versions: the number. */
  uid?: string;
  /** Names and patterns, as the client spelt them. */
  events: string[];
  target: string;
  enabled: boolean;
  conditions: Condition[];
  match: "any" | "all";
  confirmations: number | "final";
  order: DeliveryOrder;
  batch: BatchRule | null;
  rate: number | null;
  headers: Record<string, string>;
  description: string;
  tags: string[];
  signature: "v1" | "v1a";
  /** 64 hex digits. */
  token: string;
  /** Rotated tokens that still sign, each until its time (of `KeptTime.passed`). */
  olderTokens: { token: string; until: number }[];
  createdAt: number;
  disabledBecause: "gone" | "failing" | null;
}

/** A place in the group of a block of which some events are taken: those after it wait for room. */
export interface PartOfGroup {
  /** Where a reader was before the group. */
  before: string;
  /** How many of its events are taken. */
  taken: number;
  /** How many of its transactions have been looked at. */
  transactions: number;
}

/** Where a reader is. */
export interface Place {
  cursor: string;
  /** Set where only a part of the group before the cursor is taken. */
  part?: PartOfGroup | undefined;
}

/** Heights that are sent again. */
export interface Replay extends Place {
  /** Among those of the webhook. */
  id: number;
  /** The last height, included. */
  to: number;
}

/** What changes as a webhook is worked on, apart from what a client gave: it may have a list of 100,000 addresses. */
export interface Progress {
  /** Everything up to and including this has been looked at, except for what `part` leaves. Undefined until the chain can be read. */
  cursor?: string | undefined;
  part?: PartOfGroup | undefined;
  /** Where it is to begin, as long as there is no cursor: as clients write it, or so many blocks below the tip. */
  from?: string | { below: number } | undefined;
  /**
   * How far it had been told when its cursor went back, until that is there again: what the chain loses of it meanwhile is reverted. Several places, where
   * it had been told of several branches. Of an earlier version: one.
   */
  told?: readonly Place[] | Place | undefined;
  replays?: Replay[] | undefined;
  /** Changes where the cursor is set from outside: whoever reads from it begins anew. */
  epoch?: number | undefined;
  /** When the run of failed attempts began: by the wall clock, and as a time of `KeptTime.passed`. */
  failingSince: number | null;
  failingFrom?: number | undefined;
  /** Whether others were told that it is about to be disabled. */
  warned?: boolean | undefined;
}

/** A block or transaction, and what happened to it. */
export interface About {
  event: "block.applied" | "block.reverted" | "transaction.applied" | "transaction.reverted";
  /** Its id; that of a transaction that is applied is followed by that of its block, where that is known. */
  id: string;
}

/** One occurrence of an event, shared by all deliveries of it. */
export interface Message {
  at: number;
  /** Id of the event. Absent for pings, and in rows of earlier versions. */
  eventId?: string | undefined;
  /** Its name. */
  event?: string | undefined;
  /** Its block; absent for events of the host. */
  block?: { height: number; id: string } | undefined;
  /** Cursors before and after its group. */
  before?: string | undefined;
  after?: string | undefined;
  /** The payload as JSON text; absent where it is made from the chain. */
  json?: string | undefined;
  about?: About | undefined;
}

export interface DeliveryRow {
  id: number;
  webhookId: number;
  messageId: number;
  /** Value of the header `webhook-id`. */
  key: string;
  /** Name of the event, as the webhook spells it. */
  event: string;
  at: number;
  state: DeliveryState;
  /** Set while `retrying`, a time of `KeptTime.schedule`; 0 for a ping. A pause of its target holds it up for longer. */
  dueAt: number | null;
  /** A time of `KeptTime.passed`. Set once `delivered`, `dead`, `dropped` or `superseded`. */
  finishedAt: number | null;
  /** Set while `held`: the height at which it is released, and the height of its block. */
  hold: { releaseHeight: number; blockHeight: number } | null;
  /** Whether it is the last of its group that the webhook is sent. */
  last?: boolean | undefined;
  /** Of a reversal: the `webhook-id` of what it takes back. */
  reverts?: string | undefined;
  /** Set while it waits for its first attempt, where its receiver may have been told of it nevertheless: before its webhook was disabled, or before it was reverted. */
  again?: true | undefined;
  /** Set where a client asked for it (a replay, or after it had ended): a webhook that is disabled does not go back to it. Not of a reversal, which others wait for. */
  onRequest?: true | undefined;
  /** Deliveries that went out in one request, and were not delivered, have the same. */
  batch?: string | undefined;
  /** How many steps of its schedule have begun: with each failed attempt one, but where its target asks for pauses. */
  failures: number;
  /** When the step that it is in began, a time of `KeptTime.schedule`. Set while `retrying`, where its target says when it is to be asked again; means nothing in other states. */
  stepSince?: number | undefined;
  attemptCount: number;
  attempts: Attempt[];
}

/** A delivery to be written with a message. */
export interface Recipient extends Pick<DeliveryRow, "webhookId" | "event" | "key" | "last" | "reverts" | "again" | "onRequest"> {
  /** Initial state: queued for its first attempt, to be made at once outside the queue, or held. */
  begin: { state: "pending" } | { state: "ping" } | { state: "held"; releaseHeight: number; blockHeight: number };
}

/** A reply that is given again for the same key. */
export interface KeptReply {
  /** SHA-256 of the request. */
  digest: string;
  /** As JSON text. */
  reply: string;
  /** A time of `KeptTime.passed`. */
  at: number;
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

/** That a target asked not to be sent anything for a while. */
export interface Pause {
  /** Milliseconds, from when it began. */
  length: number;
  /** What the clocks read then. */
  wall: number;
  monotonic: number;
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
  /**
   * The same, deferred and batched with other writes, so that nothing blocks on the disk. Resolves once committed. `isLong`: it takes milliseconds. No two of
   * these are in one batch, which is written in one turn of the event loop: everybody else waits for all of it.
   */
  transactionSoon<T>(work: () => T, options?: { isLong?: boolean }): Promise<T>;

  /** Increases with every change of a webhook, in whatever process. */
  registerRevision(): number;
  /** Ids of the webhooks changed since a revision; undefined if that was too many changes ago to tell. */
  changedSince(revision: number): number[] | undefined;
  /** All, ascending by id, each read when it is asked for: it may be large. */
  webhooks(): Iterable<WebhookRow>;
  webhook(id: number): WebhookRow | undefined;
  addWebhook(row: Omit<WebhookRow, "id">): WebhookRow;
  putWebhook(row: WebhookRow): void;
  /** Its deliveries are removed later, by `trim`. */
  removeWebhook(id: number): void;
  /** Does not count as a change of the register. */
  progress(id: number): Progress;
  putProgress(id: number, progress: Progress): void;
  /** Removes what is not settled of a webhook. */
  dropOpen(webhookId: number): void;
  /** The same, and leaves its other deliveries to `trim`. */
  forgetDeliveries(webhookId: number): void;
  /** Id of the last delivery of a webhook that was left so, as long as there are such; else 0. */
  forgottenUpTo(webhookId: number): number;

  /** Undefined for one that is past its time. */
  keptReply(key: string, now: number): KeptReply | undefined;
  keepReply(key: string, kept: KeptReply): void;

  /** Increases with `announceWork`: processes that share a store tell each other by it that deliveries became due. */
  workRevision(): number;
  announceWork(): void;

  /** Writes a message and its deliveries. Returns these, in the order of the recipients. */
  append(message: Message, recipients: readonly Recipient[]): DeliveryRow[];
  message(id: number): Message | undefined;
  /** Id of the last message: within a transaction, of that written last. */
  lastMessage(): number;
  /** The messages about this, each with the deliveries that it was written with. Some or, for a while, all of these may be gone. */
  messagesAbout(about: About): { messageId: number; deliveries: { webhookId: number; id: number }[] }[];
  /** Marks a message as superseded, for as long as it is kept: for some of the webhooks that share it, or for all. */
  supersede(messageId: number, webhookIds?: readonly number[]): void;
  isSuperseded(messageId: number, webhookId: number): boolean;
  /** Whether there may be messages about anything to which this happened. */
  hasAbout(event: About["event"]): boolean;
  delivery(webhookId: number, id: number): DeliveryRow | undefined;
  /** Replaces a delivery by its next state. */
  changeDelivery(before: DeliveryRow, after: DeliveryRow): void;
  /** Newest first, with the exact total number. */
  deliveries(webhookId: number, state: DeliveryState | undefined, page: { offset: number; limit: number }): { rows: DeliveryRow[]; total: number };
  /** Deliveries that wait for their first attempt, ascending by id, above `after`; pings among them. */
  waiting(webhookId: number, after: number, limit: number): DeliveryRow[];
  /** Ids of the deliveries in a state, ascending, above `after`. */
  deliveryIds(webhookId: number, state: DeliveryState, after: number, limit: number): number[];
  /** How many deliveries of a webhook are in a state. */
  countOf(webhookId: number, state: DeliveryState): number;
  /** The `retrying` deliveries and the pings, ascending by `dueAt`, which is `from` or later. */
  retries(webhookId: number, limit: number, from?: number): { id: number; dueAt: number }[];
  /** Held deliveries with a release height of at most `height`. */
  releasable(height: number, limit: number): { webhookId: number; id: number }[];
  /** Held deliveries of blocks at `blockHeight` or above. */
  heldFrom(blockHeight: number, limit: number): { webhookId: number; id: number }[];

  /** Number of the last journal event that the store of an earlier version has; 0 for none. */
  journalPosition(): number;
  setJournalPosition(number: number): void;
  /** Id of the last delivery. */
  lastDelivery(): number;
  /** Whether the process before ended without notice: attempts may have been made of which nothing is known. */
  wasKilled(): boolean;
  /** Notes that attempts may be under way, or that none is. */
  noteRunning(running: boolean): void;

  /** Undefined until it is kept for the first time. */
  time(): KeptTime | undefined;
  keepTime(time: KeptTime): void;

  /** How a target (its URL) was paused last, unless it has answered otherwise since. */
  pause(target: string): Pause | undefined;
  /** Null: it has answered otherwise. */
  putPause(target: string, pause: Pause | null): void;
  /** Forgets the pauses of which this says so. */
  dropPauses(isOver: (pause: Pause) => boolean): void;

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
