import type { Attempt, BatchRule, Condition, DeliveryOrder, DeliveryState } from "../../../types/webhooks.js";

// What is kept in `webhooks.mdb`. Each row stands for itself: one query reads it, and nothing is packed.

export interface WebhookRow {
  id: number;
  /** Names it in `webhook-id`s: its number may be another webhook's after a backup is restored. */
  uid: string;
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

/** Where a reader is. */
export interface Position {
  /** Everything up to and including this has been looked at. */
  cursor: string;
  /**
   * Set where only a part of a group is taken, since there was no room for the rest: the change of a block whose parent the cursor names.
   */
  part?: Part | undefined;
}

export interface Part {
  /** Cursor of the block. */
  block: string;
  /** Whether it is the block's reversal. */
  isReversal: boolean;
  /** Place of the next event of the group. */
  taken: number;
}

/** Heights that are sent again. */
export interface Replay extends Position {
  /** Among those of the webhook. */
  id: number;
  /** The last height, included. */
  to: number;
}

/** What changes as a webhook is worked on, apart from what a client gave: it may have a list of 100,000 addresses. */
export interface Progress {
  /** See `Position`. Undefined until the chain can be read. */
  cursor?: string | undefined;
  part?: Part | undefined;
  /** Where it is to begin, as long as there is no cursor: as clients write it. */
  from?: string | undefined;
  /** Height up to which blocks that the ledger does not have count as sent: before the webhook began, or final since. */
  floor?: number | undefined;
  /** Whether the ledger may have blocks other than the cursor's block and its ancestors. */
  isBeyond?: boolean | undefined;
  replays?: Replay[] | undefined;
  /** Changes when a client moves the cursor. Readers of the old one stop. */
  epoch?: number | undefined;
  /** Set while every attempt fails. */
  failing?: Failing | undefined;
}

/** A run of failed attempts. */
export interface Failing {
  /** When it began: by the wall clock, and as a time of `KeptTime.passed`. */
  since: number;
  from: number;
  /** Whether others were told that the webhook is about to be disabled. */
  isAnnounced: boolean;
}

/** A block of which a webhook was sent events, and which is not final; for a host's own chain without changes, a block or transaction. */
export interface LedgerEntry {
  height: number;
  /** The block's id, or `transaction ID`. */
  id: string;
  /** Whether it was taken back since, as it was reverted. */
  isReverted: boolean;
  /** Ids of the deliveries of it, ascending. */
  deliveries: number[];
  sent: Sent[];
}

/**
 * What was sent by a delivery that is no longer kept, or with another block: subject (see `Message`), `webhook-id`, whether it has
 * certainly arrived, and the id of that delivery, or of the last one when it was noted.
 */
export type Sent = [subject: string, key: string, isCertain?: boolean, delivery?: number];

/** One occurrence of an event, shared by all deliveries of it. */
export interface Message {
  at: number;
  /** Id of the event. Absent for pings. */
  eventId?: string | undefined;
  /** Its canonical name. */
  event?: string | undefined;
  /** Its block; absent for events of the host. */
  block?: { height: number; id: string } | undefined;
  /** Cursors before and after its group. */
  before?: string | undefined;
  after?: string | undefined;
  /** The payload as JSON text. */
  json: string;
  /** What was applied or reverted: `block ID`, `transaction ID` or `booking ADDRESS ID`. */
  subject?: string | undefined;
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
  /** Whether it is the last of its group that the webhook is sent. */
  last?: boolean | undefined;
  /** Only in a reversal: the `webhook-id` of the delivery that it undoes. */
  reverts?: string | undefined;
  /** Set once the chain has taken back what it tells: it is attempted no more. */
  isTakenBack?: true | undefined;
  /** Set where it may have been sent although no attempt is recorded: its process was killed. */
  maybeSent?: true | undefined;
  /**
   * Set where a client asked for it (a replay, or after it had ended): a webhook that is disabled does not go back to it. Not of a
   * reversal, which others wait for.
   */
  onRequest?: true | undefined;
  /** Deliveries that went out in one request, and were not delivered, have the same. */
  batch?: string | undefined;
  /** How many steps of its schedule have begun: with each failed attempt one, but where its target asks for pauses. */
  failures: number;
  /**
   * When the step that it is in began, a time of `KeptTime.schedule`. Set while `retrying`, where its target says when it is to be asked
   * again; means nothing in other states.
   */
  stepSince?: number | undefined;
  /**
   * When it was due by its schedule, where its target has answered again before: an attempt before that time counts as none. Set until that
   * time.
   */
  scheduledAt?: number | undefined;
  attemptCount: number;
  attempts: Attempt[];
}

/** A delivery to be written with a message: queued for its first attempt or, a ping, to be sent at once outside the queue. */
export interface Recipient extends Pick<DeliveryRow, "webhookId" | "event" | "key" | "last" | "reverts" | "onRequest"> {
  isPing?: boolean;
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

/** States of deliveries that are not settled. */
export const openStates = ["pending", "retrying"] as const satisfies readonly DeliveryState[];

export const isOpen = ({ state }: DeliveryRow): boolean => state === "pending" || state === "retrying";

/** The event of a ping. No webhook listens to it. */
export const pingEvent = "ping";

/** Whether an event is about webhooks themselves. */
export const isOwnEvent = (event: string): boolean => /^(?:webhook|delivery)\./.test(event);
