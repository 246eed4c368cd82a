/** Every option of webhooks. Defaults: `src/webhooks/options.ts`. Times are in milliseconds. */
export interface WebhookOptions {
  /** Any of these, each of 8 characters or more, authenticates a request. If there are none, one is generated and kept in the data folder. */
  tokens?: string[];
  /** Private or otherwise special addresses and networks (CIDR) that targets may have: `127.0.0.1`, `10.1.0.0/16`, `::1`. */
  allowTargets?: string[];
  /** Events that the host emits in addition to the known ones. */
  events?: string[];
  /** Waits after the first, second, ... failed attempt. When an attempt fails after the last wait, the delivery is dead. */
  schedule?: number[];
  /** Most concurrent attempts to one target, and to one host and port; of the latter, those that take longer than 0.1 s no longer count, up to 16 times as many. */
  concurrencyPerTarget?: number;
  /** Limit for one attempt, from name resolution to the end of the response. */
  timeout?: number;
  /** A webhook whose every attempt has failed for this long is disabled. */
  disableAfter?: number;
  /** How long delivered, dropped and superseded deliveries are kept. */
  deliveredRetention?: number;
  /** How long dead deliveries are kept. */
  deadRetention?: number;
  /** Deliveries of a webhook that may be unsettled at a time: while there are so many, its cursor waits. */
  window?: number;
  /** How many webhooks there may be: to create one more throws WEBHOOKS_FULL. */
  maxWebhooks?: number;
  /**
   * Whether this process records events and delivers. False if another process does so for the same store: only where the host keeps its
   * own chain (`chain`); beside Portico's own store, such a process is a reader.
   */
  deliver?: boolean;
}
