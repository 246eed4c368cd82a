/**
 * Webhooks, as hosts and routes see them.
 *
 * Glossary
 * - webhook    a target URL that is told of one event, whenever its conditions hold
 * - delivery   one event on its way to one webhook, with the record of how that went
 * - attempt    one request to the target
 * Times are milliseconds since 1970.
 */

export type Operator =
  | "between"
  | "contains"
  | "eq"
  | "falsy"
  | "gt"
  | "gte"
  | "lt"
  | "lte"
  | "ne"
  | "not-between"
  | "regexp"
  | "truthy";

export interface Condition {
  /** A property of the payload, or a dotted path into it, arrays by index: `asset.votes.0`. */
  key: string;
  condition: Operator;
  /**
   * What it is compared with; `{min, max}` for the two `between`; not used by `truthy` and `falsy`. Whole numbers beyond
   * 2^53 are bigints.
   */
  value?: unknown;
}

/** What a client sends to create a webhook, or to replace one. */
export interface WebhookDraft {
  event: string;
  /** http or https, without user name and password. */
  target: string;
  /** Default true. */
  enabled?: boolean | "true" | "false" | undefined;
  /** None: every event of that name matches. */
  conditions?: Condition[] | undefined;
  /** Whether one condition must hold (default), or each. */
  match?: "any" | "all" | undefined;
  /** block.applied and transaction.applied only: waits for so many confirmations, and is dropped when reverted before. */
  confirmations?: number | undefined;
}

export interface Webhook {
  /** Assigned by the node, never reused. */
  id: number;
  event: string;
  target: string;
  enabled: boolean;
  conditions: Condition[];
  match: "any" | "all";
  confirmations: number;
  createdAt: number;
  /** Since when every attempt failed; null while the last one succeeded, or none was made. */
  failingSince: number | null;
  /** Why the engine itself disabled it: the target answered 410, or failed for days. Null when it did not. */
  disabledBecause: "gone" | "failing" | null;
}

/** Shown once: when the webhook is created, and when its secret is rotated. */
export interface WebhookSecret {
  /** 64 hex digits. The first 32 go out as `Authorization`; receivers keep the rest. */
  token: string;
  /** The same 32 bytes, as Standard Webhooks libraries take them: `whsec_` and base64. */
  secret: string;
}

/**
 * - pending    its first attempt is still to come
 * - retrying   an attempt failed, or a redelivery was asked for; the next is due at `dueAt`
 * - delivered  the target answered 2xx
 * - dead       the schedule is used up, or the target answered 410; kept for redelivery
 * - held       waits for confirmations
 * - dropped    was held when its block was reverted
 */
export type DeliveryState = "pending" | "retrying" | "delivered" | "dead" | "held" | "dropped";

/** Where an attempt failed. `stopped`: the node was shut down while it waited for the answer; it will be made again. */
export type AttemptStage = "address" | "dns" | "connect" | "tls" | "timeout" | "status" | "response";

export interface Attempt {
  at: number;
  /** Milliseconds. */
  duration: number;
  /** HTTP status, or null when there was no answer. */
  status: number | null;
  /** Null when it succeeded. */
  stage: AttemptStage | null;
  /** One sentence, or null when it succeeded. */
  error: string | null;
  /** First bytes of the answer's body, as text. */
  body: string;
}

export interface Delivery {
  id: number;
  webhookId: number;
  /** The header `webhook-id`, the same on every attempt. */
  messageId: string;
  event: string;
  state: DeliveryState;
  /** When the event happened. */
  timestamp: number;
  /** When the next attempt is due; null when none is. */
  dueAt: number | null;
  /** Attempts made in all; `attempts` keeps the last twenty. */
  attemptCount: number;
  attempts: Attempt[];
}

/** How one condition of a dry run fared. */
export interface ConditionResult extends Condition {
  holds: boolean;
  /** What the payload has at `key`; absent when it has nothing there. */
  actual?: unknown;
  /** One sentence. */
  reason: string;
}

export interface DryRunRequest {
  event?: string | undefined;
  conditions: Condition[];
  match?: "any" | "all" | undefined;
  /** A sample. Not given: the last real payloads of `event`. */
  payload?: unknown;
  /** How many of those; default 10. */
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
  /** Whether webhooks of it may wait for confirmations. */
  confirmations: boolean;
  /** An example payload; null where the host declared the event. */
  example: unknown;
}

export interface PageWindow {
  offset: number;
  limit: number;
}

/** Everything there is to do with webhooks. What is refused is thrown as a PorticoError with the status that a route answers. */
export interface Webhooks {
  /** By id. */
  list(page: PageWindow): { rows: Webhook[]; total: number };
  get(id: number): Webhook;
  create(draft: WebhookDraft): Webhook & WebhookSecret;
  /** As if removed and created again; id and token stay. Deliveries under way go to the new target. */
  replace(id: number, draft: WebhookDraft): void;
  /** Its deliveries go with it. */
  remove(id: number): void;
  /** Sends a `ping` to it, whatever its event and conditions. */
  ping(id: number): Delivery;
  /** A new secret; the old one signs beside it for a day, as do up to eight before it. */
  rotate(id: number): WebhookSecret;
  /** Makes every delivery of that time that is dead or between attempts due now. Resolves with their number. */
  recover(id: number, window: { since: number; until: number }): Promise<number>;
  /** Newest first. */
  deliveries(id: number, state: DeliveryState | undefined, page: PageWindow): { rows: Delivery[]; total: number };
  delivery(id: number, deliveryId: number): Delivery & { payload: unknown };
  /** Makes it due now, with the whole retry schedule ahead of it. */
  redeliver(id: number, deliveryId: number): Delivery;
  dryRun(request: DryRunRequest): DryRunResult[];
  events(): EventDescription[];
}

/** Everything that can be set. Defaults: `src/webhooks/defaults.ts`. Times are in milliseconds. */
export interface WebhookOptions {
  /** Any of these authenticates a request. None: one is generated and kept in the data folder. */
  tokens?: string[];
  /** Addresses or CIDR that targets may have although they are special: `127.0.0.1`, `10.1.0.0/16`, `::1`. */
  allowTargets?: string[];
  /** Events that the host emits beside the known ones. */
  events?: string[];
  /** Waits after the first, second ... failed attempt; after the last of them a delivery is dead. */
  schedule?: number[];
  /** Part of a wait by which it varies at random: 0.2 is ±20 %. */
  jitter?: number;
  /** Attempts under way at once, in all. */
  concurrency?: number;
  /** Attempts under way at once to one host and port. */
  concurrencyPerTarget?: number;
  /** True: a target gets the first attempt of an event only after that of the event before has ended. False: after it has begun. */
  ordered?: boolean;
  /** Limit of one attempt, from the name's resolution to the end of the answer. */
  timeout?: number;
  /** Bytes of an answer that are read. */
  responseLimit?: number;
  /** A webhook whose every attempt failed for so long is disabled. */
  disableAfter?: number;
  /** How long the old secret signs beside a new one. */
  rotationOverlap?: number;
  /** How long delivered and dropped deliveries are kept. */
  deliveredRetention?: number;
  /** How long dead deliveries are kept. */
  deadRetention?: number;
  /** Payloads of each event that are kept for dry runs. */
  recentEvents?: number;
  /** Whether this process records events and delivers; false where another one of the same store does. */
  deliver?: boolean;
}
