/** Every option of webhooks. Times are in milliseconds. */
export interface WebhookOptions {
  /** Any of these authenticates a request; 8 characters or more each. @default [] (one is generated and kept in the data folder) */
  tokens?: string[];
  /** Private or special addresses and networks (CIDR) that targets may have. @default [] */
  allowTargets?: string[];
  /** Names of events that the host emits besides the known ones. @default [] */
  events?: string[];
  /**
   * Milliseconds to wait after the first, second, ... failed attempt; after the last, the delivery is dead.
   * @default [5000,300000,1800000,7200000,18000000,36000000,36000000] (5 s, 5 and 30 min, 2, 5, 10 and 10 h)
   */
  schedule?: number[];
  /**
   * Concurrent attempts to one target, and to one host and port; to the latter up to 16 times as many if they take longer than 0.1 s.
   * @default 4
   */
  concurrencyPerTarget?: number;
  /** Milliseconds for one attempt, from name resolution to the end of the response. @default 15000 */
  timeout?: number;
  /** A webhook whose attempts all fail for so many milliseconds is disabled. @default 432000000 (5 days) */
  disableAfter?: number;
  /** Milliseconds that delivered, dropped and superseded deliveries are kept. @default 172800000 (2 days) */
  deliveredRetention?: number;
  /** Milliseconds that dead deliveries are kept. @default 7776000000 (90 days) */
  deadRetention?: number;
  /** Open deliveries of one webhook; with as many, its cursor waits. @default 1000 */
  window?: number;
  /** Webhooks that may be created. @default 1000 */
  maxWebhooks?: number;
  /**
   * Whether this process records and delivers. `false` if another process does for the same `webhooks.mdb`, which needs a `chain` of the host's.
   * @default true
   */
  deliver?: boolean;
}
