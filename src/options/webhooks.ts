import type { WebhookOptions } from "../../types/webhook-options.js";
import { networks, type OptionRow, shortestToken, texts, tokens, waitFrom, wholeFrom, wholes, yesOrNo } from "./checks.js";

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Every option of the webhook engine: its default, unit, meaning and check. */
export const webhookOptionTable: { readonly [Name in keyof WebhookOptions]-?: Readonly<OptionRow<NonNullable<WebhookOptions[Name]>>> } = Object.freeze({
  tokens: {
    default: [],
    unit: `texts of ${shortestToken} characters or more`,
    meaning: "Any of these authenticates a request. Default: one is generated and kept in the data folder.",
    check: tokens,
  },
  allowTargets: {
    default: [],
    unit: "addresses or CIDR",
    meaning: "Private or special addresses that targets may have.",
    check: networks,
  },
  events: { default: [], unit: "names", meaning: "Events that the host emits besides the known ones.", check: texts },
  schedule: {
    default: [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour],
    unit: "milliseconds",
    meaning: "Waits after the first, second, ... failed attempt; after the last, the delivery is dead.",
    check: wholes,
  },
  concurrencyPerTarget: { default: 4, unit: "attempts", meaning: "Concurrent attempts to one target, and to one host and port; to the latter up to 16 times as many if they take longer than 0.1 s.", check: wholeFrom(1) },
  timeout: { default: 15 * second, unit: "milliseconds", meaning: "Limit for one attempt, from name resolution to the end of the response; a status received by then counts.", check: waitFrom(1) },
  disableAfter: { default: 5 * day, unit: "milliseconds", meaning: "A webhook whose attempts all fail for this long is disabled.", check: wholeFrom(1) },
  deliveredRetention: { default: 2 * day, unit: "milliseconds", meaning: "How long delivered, dropped and superseded deliveries are kept.", check: wholeFrom(0) },
  deadRetention: { default: 90 * day, unit: "milliseconds", meaning: "How long dead deliveries are kept.", check: wholeFrom(0) },
  window: { default: 1_000, unit: "deliveries", meaning: "Open deliveries of one webhook, at most; meanwhile its cursor waits.", check: wholeFrom(1) },
  maxWebhooks: {
    default: 1_000,
    unit: "webhooks",
    meaning: "How many may be created; more get 409.",
    check: wholeFrom(1),
  },
  deliver: {
    default: true,
    unit: "true or false",
    meaning: "Whether this process records and delivers; `false` if another does so for the same `webhooks.mdb`.",
    check: yesOrNo,
  },
});

type Filled = { readonly [Name in keyof WebhookOptions]-?: NonNullable<WebhookOptions[Name]> };

export const webhookDefaults = Object.freeze(
  Object.fromEntries(Object.entries(webhookOptionTable).map(([name, row]) => [name, row.default])),
) as Filled;
