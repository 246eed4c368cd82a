import type { EventDescription } from "../../types/webhooks.js";
import type { WebhookOptions } from "../../types/webhook-options.js";
import { describeEvents } from "../follow/event-catalogue.js";
import { networks, type OptionRow, part, shortestToken, texts, tokens, waitFrom, wholeFrom, wholes, yesOrNo } from "../options/checks.js";

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Every option of the webhook engine: its default, unit, meaning and check. */
export const webhookOptionTable: { readonly [Name in keyof WebhookOptions]-?: Readonly<OptionRow<NonNullable<WebhookOptions[Name]>>> } = Object.freeze({
  tokens: {
    default: [],
    unit: `texts of ${shortestToken} characters or more`,
    meaning: "Any of these authenticates a request. If there are none, one is generated and kept in the data folder.",
    check: tokens,
  },
  allowTargets: {
    default: [],
    unit: "addresses or CIDR",
    meaning: "Private or otherwise special addresses and networks that targets may have.",
    check: networks,
  },
  events: { default: [], unit: "names", meaning: "Events that the host emits in addition to the known ones.", check: texts },
  schedule: {
    default: [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour],
    unit: "milliseconds",
    meaning: "Waits after the first, second, ... failed attempt. When an attempt fails after the last wait, the delivery is dead.",
    check: wholes,
  },
  jitter: { default: 0.2, unit: "a fraction", meaning: "By how much each wait varies at random: 0.2 is ±20 %.", check: part },
  concurrency: { default: 256, unit: "attempts", meaning: "Most concurrent attempts in all. Those that take longer than 0.1 s no longer count, up to four times as many.", check: wholeFrom(1) },
  concurrencyPerTarget: { default: 4, unit: "attempts", meaning: "Most concurrent attempts to one target, and to one host and port; of the latter, those that take longer than 0.1 s no longer count, up to 16 times as many.", check: wholeFrom(1) },
  ordered: {
    default: true,
    unit: "true or false",
    meaning: "Whether a target's first attempt for an event waits until that for the previous event has ended, or only until it has begun.",
    check: yesOrNo,
  },
  timeout: { default: 15 * second, unit: "milliseconds", meaning: "Limit for one attempt, from name resolution to the end of the response; if there is a status by then, it counts.", check: waitFrom(1) },
  responseLimit: { default: 16_384, unit: "bytes", meaning: "How much of a response is read.", check: wholeFrom(0) },
  disableAfter: { default: 5 * day, unit: "milliseconds", meaning: "A webhook whose every attempt has failed for this long is disabled.", check: wholeFrom(1) },
  rotationOverlap: { default: day, unit: "milliseconds", meaning: "How long an old secret still signs after a rotation.", check: wholeFrom(0) },
  deliveredRetention: { default: 7 * day, unit: "milliseconds", meaning: "How long delivered, dropped and superseded deliveries are kept.", check: wholeFrom(0) },
  deadRetention: { default: 90 * day, unit: "milliseconds", meaning: "How long dead deliveries are kept.", check: wholeFrom(0) },
  window: { default: 1_000, unit: "deliveries", meaning: "How many of a webhook may be unsettled at a time: while there are so many, its cursor waits.", check: wholeFrom(1) },
  maxWebhooks: {
    default: 1_000,
    unit: "webhooks",
    meaning: "How many there may be: creating one more is answered 409. Those that exist are kept, whatever the number.",
    check: wholeFrom(1),
  },
  deliver: {
    default: true,
    unit: "true or false",
    meaning: "Whether this process records events and delivers; `false` if another process does so for the same `webhooks.mdb`.",
    check: yesOrNo,
  },
});

type Filled = { readonly [Name in keyof WebhookOptions]-?: NonNullable<WebhookOptions[Name]> };

export const webhookDefaults = Object.freeze(
  Object.fromEntries(Object.entries(webhookOptionTable).map(([name, row]) => [name, row.default])),
) as Filled;

const own: EventDescription[] = [
  { event: "webhook.disabled", description: "A webhook was disabled: its target answered 410, or every attempt failed for too long.", example: { webhook: 1, reason: "the target answered 410" } },
  { event: "webhook.failing", description: "A webhook whose every attempt fails will be disabled in a day.", example: { webhook: 1, reason: "every attempt fails; it will be disabled in a day" } },
  { event: "webhook.enabled", description: "A webhook was enabled again.", example: { webhook: 1, reason: "a client enabled it" } },
  {
    event: "delivery.dead",
    description: "A delivery was given up.",
    example: { webhook: 1, delivery: 12, event: "block.applied", reason: "The target answered 500." },
  },
].map((one) => ({ ...one, source: "webhooks", confirmations: false }));

/** The events that a webhook of this node can listen to: those that can be followed, and those about webhooks themselves. */
export const describeWebhookEvents = (declared: readonly string[], keepsChain: boolean): EventDescription[] => [...describeEvents(declared, keepsChain), ...own];
