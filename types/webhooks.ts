/**
 * Webhooks, as hosts and routes see them.
 *
 * Glossary
 * - webhook    a cursor in the chain, conditions, and a target URL that is notified of the events after the cursor for which they hold
 * - delivery   the notification of one webhook about one occurrence of an event, with a record of the attempts
 * - attempt    one request to the target
 *
 * Times are milliseconds since 1970.
 */

export type Operator =
  | "between"
  | "contains"
  | "eq"
  | "falsy"
  | "gt"
  | "gte"
  | "in"
  | "lt"
  | "lte"
  | "ne"
  | "not-between"
  | "regexp"
  | "truthy";

export interface Condition {
  /** A member of the payload, or a dotted path into it, with arrays by index, or `*` for any element: `asset.votes.0`, `asset.payments.*.recipientId`. */
  key: string;
  condition: Operator;
  /**
   * What the payload's value is compared with: `{ min, max }` for `between` and `not-between`; a list of at most 100,000 numbers and
   * strings for `in`; not used by `truthy` and `falsy`. Whole numbers beyond 2^53 are bigints. All values of a webhook together have at
   * most 50,000 characters as JSON, without the lists for `in`, which may have 8 Mi more. A pattern has at most 1,000 characters, and the
   * patterns of a webhook compile to at most 10,000 instructions together.
   */
  value?: unknown;
}

/**
 * Which attempts wait for which.
 *
 * - first   first attempts are made in the order of events, those of all webhooks of a target one after another; retries come in between
 * - strict  the next event is sent only after the one before was delivered or is dead
 * - none    as many at once as the target may have
 */
export type DeliveryOrder = "first" | "strict" | "none";

/** Several events in one request. */
export interface BatchRule {
  /** 1..100 events. */
  size: number;
  /** Milliseconds, 0..60,000, that a batch waits until it has that many. */
  wait: number;
}

/** What a client sends to create a webhook, or to replace one. */
export interface WebhookDraft {
  /** One event; `events` wins where both are given. */
  event?: string | undefined;
  /** Names, and patterns such as `transaction.*`. */
  events?: string[] | undefined;
  /** http or https URL without user name and password. */
  target: string;
  /** Default true. */
  enabled?: boolean | "true" | "false" | undefined;
  /** Without conditions, every event of that name matches. */
  conditions?: Condition[] | undefined;
  /** Whether any one condition must hold (default), or all. */
  match?: "any" | "all" | undefined;
  /** How many blocks it stays behind the tip; `final`: as many as the option `finality`. A block that is reverted before that is never sent. Default 0. */
  confirmations?: number | "final" | undefined;
  /** Where it begins, or continues if it is replaced or patched: `tip` (default of a new one), `genesis`, a height (what comes after its block) or a cursor. */
  from?: string | number | undefined;
  /** Default `first`. */
  order?: DeliveryOrder | undefined;
  batch?: BatchRule | null | undefined;
  /** Deliveries per second, at most. */
  rate?: number | null | undefined;
  /** Additional headers of its requests. */
  headers?: Record<string, string> | undefined;
  description?: string | undefined;
  tags?: string[] | undefined;
  /** How requests are signed: `v1` with the webhook's secret (default), `v1a` with the node's key. */
  signature?: "v1" | "v1a" | undefined;
}

export interface Webhook {
  /** Assigned by the node; never reused. */
  id: number;
  /** The first of `events`. */
  event: string;
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
  /** Its position: everything up to and including this has been matched. Null until the chain can be read. */
  cursor: string | null;
  /** Blocks from there to the tip; null until the chain can be read. */
  behind: number | null;
  createdAt: number;
  /** When the current run of failed attempts began; null if the last attempt succeeded or none was made. */
  failingSince: number | null;
  /** Why the engine disabled it: the target answered 410, or every attempt failed for `disableAfter`. Null if the engine did not. */
  disabledBecause: "gone" | "failing" | null;
  /**
   * Wall-clock time until which only pings are sent to its target (URL), which answered 429, or 503 with `Retry-After`. Null if it is not
   * paused. `patch` ends the pause.
   */
  pausedUntil: number | null;
}

/** What `patch` takes. */
export interface WebhookChanges extends Partial<WebhookDraft> {
  /** Null ends the pause of its target, for all webhooks with that target. No other value is accepted. */
  pausedUntil?: null | undefined;
}

/** Shown only when the webhook is created and when its secret is rotated. */
export interface WebhookSecret {
  /** 64 hex digits. The first 32 go out as `Authorization`; receivers keep the rest. */
  token: string;
  /** The same 32 bytes as Standard Webhooks libraries take them: `whsec_` followed by base64. */
  secret: string;
}

/**
 * - pending    the first attempt is still to come
 * - retrying   an attempt is due at `dueAt`: the last one failed, or a redelivery was requested
 * - delivered  the target answered 2xx
 * - dead       the schedule is exhausted; kept for redelivery
 * - dropped    its block was reverted before the first attempt
 * - superseded its block was reverted after an attempt that failed (of a reversal: was applied again); it is attempted no more
 */
export type DeliveryState = "pending" | "retrying" | "delivered" | "dead" | "dropped" | "superseded";

/** Where an attempt failed. */
export type AttemptStage = "address" | "dns" | "connect" | "tls" | "timeout" | "status" | "response";

export interface Attempt {
  at: number;
  /** Milliseconds. */
  duration: number;
  /** HTTP status, or null if there was no response. */
  status: number | null;
  /** Null if it succeeded. */
  stage: AttemptStage | null;
  /** One line of at most some 200 characters, or null if it succeeded. */
  error: string | null;
  /** First bytes of the response body, at most 1,024, as text; kept for the last attempt only. */
  body: string;
}

export interface Delivery {
  id: number;
  webhookId: number;
  /** Value of the header `webhook-id`, the same on every attempt. */
  messageId: string;
  event: string;
  state: DeliveryState;
  /** When the event happened. */
  timestamp: number;
  /** When the next attempt is due while `retrying`, not before the pause of its target ends; otherwise null. */
  dueAt: number | null;
  /** Number of attempts made; `attempts` holds the last twenty. */
  attemptCount: number;
  attempts: Attempt[];
}

/** The result of one condition in a dry run, without a `value` that is a list of more than 200. */
export interface ConditionResult extends Condition {
  holds: boolean;
  /** The payload's value at `key`; absent if it has none, or one of more than 200 characters as JSON. */
  actual?: unknown;
  /** One sentence. It shows the first 200 characters of a longer value. */
  reason: string;
}

export interface DryRunRequest {
  /** Required without `payload`. */
  event?: string | undefined;
  conditions: Condition[];
  match?: "any" | "all" | undefined;
  /** A sample of at most 65,536 characters as JSON. Default: the last real payloads of `event`. */
  payload?: unknown;
  /** How many real payloads; default 10. */
  last?: number | undefined;
}

export interface DryRunResult {
  matches: boolean;
  /** When the event happened; null for a sample. */
  timestamp: number | null;
  payload: unknown;
  conditions: ConditionResult[];
}

export interface EventDescription {
  event: string;
  description: string;
  /** `chain`: sent when a block is committed or reverted; `host`: sent as the node emits it; `webhooks`: about webhooks themselves. */
  source: "chain" | "host" | "webhooks";
  /** Whether it waits for the confirmations of a webhook. */
  confirmations: boolean;
  /** An example payload; null for an event declared by the host. */
  example: unknown;
}

export interface PageWindow {
  offset: number;
  limit: number;
}

/**
 * The webhooks of a node. Errors are thrown as a PorticoError, whose status is the one that the routes reply with: BAD_REQUEST for
 * invalid input, WEBHOOK_NOT_FOUND and DELIVERY_NOT_FOUND for unknown ids, WEBHOOKS_FULL where there are `maxWebhooks`.
 */
export interface Webhooks {
  /** Ascending by id; with `tag`, those that have it. */
  list(page: PageWindow & { tag?: string | undefined }): { rows: Webhook[]; total: number };
  get(id: number): Webhook;
  /** `key`: for a day, the same key and draft get the same reply; the same key with another draft throws IDEMPOTENCY_CONFLICT. */
  create(draft: WebhookDraft, key?: string): Webhook & WebhookSecret;
  /**
   * Replaces the whole draft; id, `createdAt`, cursor and secret are kept. The failure record is cleared if the target changes or the webhook
   * was disabled. Open deliveries go to the new target. The value that `get` returns is accepted, too.
   */
  replace(id: number, draft: WebhookDraft): void;
  /** Changes the given members and keeps the others. `from` moves the cursor and drops open deliveries. `pausedUntil: null` ends the pause of its target at once. */
  patch(id: number, changes: WebhookChanges): Webhook;
  /** Also removes its deliveries. */
  remove(id: number): void;
  /** Sends the events of these heights, both included, again, beside the live ones. */
  replay(id: number, heights: { from: number; to: number }): void;
  /** The node's public keys, with which receivers verify `v1a` signatures. */
  keys(): { type: "v1a"; key: string }[];
  /** Sends a `ping`: one attempt, at once, whatever the webhook's events and conditions. Throws BAD_REQUEST if the webhook is disabled. */
  ping(id: number): Delivery;
  /** Makes a new secret. For a day, the old one, and up to eight rotated shortly before it, also sign. */
  rotate(id: number): WebhookSecret;
  /**
   * Makes due now every dead or retrying delivery whose event happened in the window, bounds included, except those whose block was
   * reverted since. Resolves with their number.
   */
  recover(id: number, window: { since: number; until: number }): Promise<number>;
  /** Newest first. */
  deliveries(id: number, state: DeliveryState | undefined, page: PageWindow): { rows: Delivery[]; total: number };
  delivery(id: number, deliveryId: number): Delivery & { payload: unknown };
  /**
   * Makes a delivery in any state due now, with a fresh retry schedule. Throws BAD_REQUEST if its block was reverted since. A ping is sent
   * as `ping` sends it: one attempt, and only while the webhook is enabled.
   */
  redeliver(id: number, deliveryId: number): Delivery;
  /**
   * All webhooks as JSON text. It has their secrets, so keep it from others. Each webhook continues before its first delivery that has not
   * arrived; another node sends that under the same `webhook-id`.
   */
  export(): string;
  /** Adds the webhooks of an export under their ids. Returns how many. Throws BAD_REQUEST where one of them is in use. */
  import(text: string): number;
  dryRun(request: DryRunRequest): Promise<DryRunResult[]>;
  events(): EventDescription[];
}

/** A request of a webhook, signed and ready to be sent. */
export interface OutgoingDelivery {
  target: string;
  headers: Record<string, string>;
  body: string;
}

/** How a request of a webhook ended, failures included. */
export interface DeliveryAnswer {
  status: number | null;
  retryAfter: string | undefined;
  /** The target's own time, where `retryAfter` is given. */
  date: string | undefined;
  /** First bytes of the body, as text. */
  body: string;
  /** Null when the answer is 2xx. */
  failure: { stage: AttemptStage; error: string } | null;
}
