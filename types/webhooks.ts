/**
 * Webhooks, as hosts and routes see them.
 *
 * Glossary
 * - webhook    a target URL that is notified of one event, whenever its conditions hold
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
   * What the payload's value is compared with: `{ min, max }` for `between` and `not-between`; a list of at most 100,000 numbers and texts
   * for `in`; not used by `truthy` and `falsy`. Whole numbers beyond 2^53 are bigints. Those of a webhook, without lists of `in`, have at
   * most 50,000 characters together, as JSON, and the lists 8 Mi; a pattern has at most 1,000, and the patterns of a webhook compile to at
   * most 10,000 instructions together.
   */
  value?: unknown;
}

/** What a client sends to create a webhook, or to replace one. */
export interface WebhookDraft {
  event: string;
  /** http or https URL without user name and password. */
  target: string;
  /** Default true. */
  enabled?: boolean | "true" | "false" | undefined;
  /** Without conditions, every event of that name matches. */
  conditions?: Condition[] | undefined;
  /** Whether any one condition must hold (default), or all. */
  match?: "any" | "all" | undefined;
  /** For block.applied and transaction.applied only: a delivery waits for this many confirmations, and is dropped if its block is reverted first. */
  confirmations?: number | undefined;
}

export interface Webhook {
  /** Assigned by the node; never reused. */
  id: number;
  event: string;
  target: string;
  enabled: boolean;
  conditions: Condition[];
  match: "any" | "all";
  confirmations: number;
  createdAt: number;
  /** When the current run of failed attempts began; null if the last attempt succeeded or none was made. */
  failingSince: number | null;
  /** Why the engine disabled it: the target answered 410, or every attempt failed for `disableAfter`. Null if the engine did not. */
  disabledBecause: "gone" | "failing" | null;
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
 * - retrying   an attempt is due at `dueAt`: the last one failed, a redelivery was requested, or it is a ping
 * - delivered  the target answered 2xx
 * - dead       the schedule is exhausted, or the target answered 410; kept for redelivery
 * - held       waiting for confirmations
 * - dropped    its block was reverted before the first attempt
 * - superseded its block was reverted after an attempt that failed (of a reversal: was applied again); it is attempted no more
 */
export type DeliveryState = "pending" | "retrying" | "delivered" | "dead" | "held" | "dropped" | "superseded";

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
  /** First bytes of the response body, at most 1,024, as text. */
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
  /** When the next attempt is due while `retrying`; otherwise null. */
  dueAt: number | null;
  /** Number of attempts made; `attempts` holds the last twenty. */
  attemptCount: number;
  attempts: Attempt[];
}

/** The result of one condition in a dry run. */
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
  /** `chain`: sent when a block is committed or reverted; `host`: sent as the node emits it. */
  source: "chain" | "host";
  /** Whether webhooks for it may wait for confirmations. */
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
  /** Ascending by id. */
  list(page: PageWindow): { rows: Webhook[]; total: number };
  get(id: number): Webhook;
  create(draft: WebhookDraft): Webhook & WebhookSecret;
  /** Replaces the whole draft; id, `createdAt` and secret are kept, and the failure record is cleared. Open deliveries go to the new target. */
  replace(id: number, draft: WebhookDraft): void;
  /** Also removes its deliveries. */
  remove(id: number): void;
  /** Sends a `ping`, whatever the webhook's event and conditions. Throws BAD_REQUEST if the webhook is disabled. */
  ping(id: number): Delivery;
  /** Makes a new secret. For `rotationOverlap`, the old one, and up to eight rotated shortly before it, also sign. */
  rotate(id: number): WebhookSecret;
  /**
   * Makes due now every dead or retrying delivery whose event happened in the window, bounds included, except those whose block was
   * reverted since. Resolves with their number.
   */
  recover(id: number, window: { since: number; until: number }): Promise<number>;
  /** Newest first. */
  deliveries(id: number, state: DeliveryState | undefined, page: PageWindow): { rows: Delivery[]; total: number };
  delivery(id: number, deliveryId: number): Delivery & { payload: unknown };
  /** Makes a delivery in any state due now, with a fresh retry schedule; with none if its block was reverted since. */
  redeliver(id: number, deliveryId: number): Delivery;
  dryRun(request: DryRunRequest): DryRunResult[];
  events(): EventDescription[];
}

/** Every option. Defaults: `src/webhooks/options.ts`. Times are in milliseconds. */
export interface WebhookOptions {
  /** Any of these, each of 8 characters or more, authenticates a request. If there are none, one is generated and kept in the data folder. */
  tokens?: string[];
  /** Private or otherwise special addresses and networks (CIDR) that targets may have: `127.0.0.1`, `10.1.0.0/16`, `::1`. */
  allowTargets?: string[];
  /** Events that the host emits in addition to the known ones. */
  events?: string[];
  /** Waits after the first, second, ... failed attempt. When an attempt fails after the last wait, the delivery is dead. */
  schedule?: number[];
  /** Fraction by which each wait varies at random: 0.2 is ±20 %. */
  jitter?: number;
  /** Most concurrent attempts in all. */
  concurrency?: number;
  /** Most concurrent attempts to one host and port. */
  concurrencyPerTarget?: number;
  /** Whether a target's first attempt for an event waits until that for the previous event has ended, or (false) only until it has begun. */
  ordered?: boolean;
  /** Limit for one attempt, from name resolution to the end of the response. */
  timeout?: number;
  /** Bytes of a response that are read. */
  responseLimit?: number;
  /** A webhook whose every attempt has failed for this long is disabled. */
  disableAfter?: number;
  /** How long an old secret still signs after a rotation. */
  rotationOverlap?: number;
  /** How long delivered, dropped and superseded deliveries are kept. */
  deliveredRetention?: number;
  /** How long dead deliveries are kept. */
  deadRetention?: number;
  /** Payloads of each event kept for dry runs. */
  recentEvents?: number;
  /** How many webhooks there may be: to create one more throws WEBHOOKS_FULL. */
  maxWebhooks?: number;
  /**
   * Whether this process records events and delivers. False if another process does so for the same store: only where the host keeps its
   * own chain (`chain`); beside Portico's own store, such a process is a reader.
   */
  deliver?: boolean;
}
