import type { WebhookOptions } from "../../types/webhooks.js";

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Every option with its default. Times are in milliseconds. */
export const webhookDefaults: Readonly<Required<WebhookOptions>> = Object.freeze({
  tokens: [],
  allowTargets: [],
  events: [],
  schedule: [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour],
  /** A fraction: 0.2 is ±20 %. */
  jitter: 0.2,
  /** Attempts. */
  concurrency: 256,
  /** Attempts. */
  concurrencyPerTarget: 4,
  ordered: true,
  timeout: 15 * second,
  /** Bytes. */
  responseLimit: 16_384,
  disableAfter: 5 * day,
  rotationOverlap: day,
  deliveredRetention: 7 * day,
  deadRetention: 90 * day,
  /** Payloads of each event. */
  recentEvents: 100,
  deliver: true,
});
