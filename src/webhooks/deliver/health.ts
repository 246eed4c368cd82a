import type { Clock, Logger } from "../../../types/node-context.js";
import type { Attempt } from "../../../types/webhooks.js";
import { createMatcher, type Matcher } from "../conditions/matcher.js";
import { type Attempts, letGo } from "../read/ledger.js";
import { asMatched, type Register } from "../register/register.js";
import type { DeliveryRow, WebhookRow } from "../rows/rows.js";
import type { WebhookStore } from "../rows/store.js";
import type { OnOutcome } from "../send/http-sender.js";
import type { Timekeeper } from "../timekeeper.js";
import { nextHealth, type Now, type RetryRules } from "./outcome.js";
import { keyOf } from "./request.js";

/** An event about webhooks themselves. */
export interface OwnEvent {
  event: "webhook.disabled" | "webhook.failing" | "webhook.enabled" | "delivery.dead";
  data: { webhook: number; delivery?: number; event?: string; reason: string };
}

/** Whether an event is one of these: its own deliveries that die are not announced. */
export const isOwnEvent = (event: string): boolean => /^(?:webhook|delivery)\./.test(event);

const listenersAmong = (matcher: Matcher, { event, data }: OwnEvent): number[] => (matcher.listens(event) ? matcher.match(event, data).ids : []);

/** A webhook that is changed within the open transaction: the register has it as it was. */
const matcherOf = (webhook: WebhookRow): Matcher => {
  const matcher = createMatcher();
  matcher.put(webhook.id, asMatched(webhook));
  return matcher;
};

/** Writes an event for the webhooks that ask for it; within a transaction, which may have changed one of them. Returns which they are. */
export const announce = (store: WebhookStore, register: Register, at: number, own: OwnEvent, changed?: WebhookRow): number[] => {
  const { event, data } = own;
  const others = listenersAmong(register.matcher(), own).filter((id) => id !== changed?.id);
  const all = changed === undefined ? others : [...others, ...listenersAmong(matcherOf(changed), own)].sort((a, b) => a - b);
  const ids = all.filter((id) => id !== data.webhook || event === "webhook.enabled" || event === "delivery.dead");
  if (ids.length === 0) return [];
  const eventId = `${store.instance}.${event}.${data.webhook}.${data.delivery ?? 0}.${at.toString(36)}`;
  const recipients = ids.flatMap((webhookId) => {
    const webhook = webhookId === changed?.id ? changed : register.find(webhookId);
    return webhook === undefined ? [] : [{ webhookId, event, key: keyOf(webhook, eventId) }];
  });
  store.append({ at, eventId, event, json: JSON.stringify(data) }, recipients);
  return ids;
};

export interface RecordRules extends RetryRules {
  disableAfter: number;
}

export interface RecordNeeds {
  store: WebhookStore;
  register: Register;
  clock: Clock;
  time: Timekeeper;
  random: () => number;
  logger: Logger;
  attempts: Attempts;
  /** Is told of deliveries that are given up. */
  onOutcome?: OnOutcome | undefined;
}

/** What a transaction has recorded. */
export interface Recorded {
  rows: { row: DeliveryRow; origin: string }[];
  webhookIds: Set<number>;
  /** Webhooks that were disabled. */
  changed: Set<number>;
  /** Webhooks that got an event about others. */
  announced: Set<number>;
  /** What is logged of webhooks as a whole: that one begins to fail, no longer does, or is disabled. */
  warnings: string[];
  /** Deliveries that were given up, by their states. */
  givenUp: ("dead" | "superseded")[];
  /** Webhooks that were not failing when this was last looked at. */
  healthy: Set<number>;
}

const originOf = (target: string): string => new URL(target).origin;

/** What came of an attempt, in a few words. */
export const resultOf = ({ error, status, stage }: Attempt): string => (error === null ? String(status) : `${stage ?? ""}: ${error}`);

const sentenceOf = ({ id, target }: WebhookRow, what: string): string => `webhook ${id} to ${originOf(target)} ${what}`;

const whyDisabled = ({ disabledBecause }: WebhookRow, failingSince: number | null): string => {
  const since = failingSince === null ? "" : ` since ${new Date(failingSince).toISOString()}`;
  return `is disabled: ${disabledBecause === "gone" ? "the target answered 410" : `every attempt${since} failed`}`;
};

/** That a webhook begins to fail, or no longer does; undefined while nothing changes. */
const turnOf = (before: number | null, after: number | null, attempt: Attempt): string | undefined => {
  if (before === null && after !== null) return `fails: ${resultOf(attempt)}`;
  if (before !== null && after === null) return `no longer fails, as it did since ${new Date(before).toISOString()}`;
  return undefined;
};

/** What an outcome says about its webhook: whether it is failing, and is to be disabled. */
export const createHealth = (rules: RecordRules, needs: RecordNeeds) => {
  const { store, register, clock } = needs;
  const tell = (recorded: Recorded, event: Parameters<typeof announce>[3]): void => {
    for (const id of announce(store, register, clock.now(), event)) recorded.announced.add(id);
  };

  const disable = (recorded: Recorded, webhook: WebhookRow, because: "gone" | "failing", failingSince: number | null): void => {
    const disabled = { ...webhook, enabled: false, disabledBecause: because };
    letGo(needs, webhook.id);
    store.putWebhook(disabled);
    recorded.changed.add(webhook.id);
    recorded.warnings.push(sentenceOf(disabled, whyDisabled(disabled, failingSince)));
    tell(recorded, { event: "webhook.disabled", data: { webhook: webhook.id, reason: because === "gone" ? "the target answered 410" : "every attempt failed" } });
  };

  /** Webhooks that do not fail, as is written. Whatever is recorded of them goes through here, so that they need not be read for each that is delivered. */
  const sound = new Set<number>();

  const recordHealth = (recorded: Recorded, webhook: WebhookRow, { attempt, result }: { attempt: Attempt; result: { ok: boolean; status: number | null } }, now: Now): void => {
    if (result.ok && (sound.has(webhook.id) || recorded.healthy.has(webhook.id))) return;
    const progress = store.progress(webhook.id);
    if (result.ok) recorded.healthy.add(webhook.id);
    else for (const known of [sound, recorded.healthy]) known.delete(webhook.id);
    const { disabledBecause, warns, ...health } = nextHealth(progress, result, now, rules.disableAfter);
    if (health.failingSince !== progress.failingSince || health.warned !== progress.warned) store.putProgress(webhook.id, { ...progress, ...health });
    const turn = turnOf(progress.failingSince, health.failingSince, attempt);
    if (turn !== undefined) recorded.warnings.push(sentenceOf(webhook, turn));
    if (warns) tell(recorded, { event: "webhook.failing", data: { webhook: webhook.id, reason: "every attempt fails; it will be disabled in a day" } });
    if (disabledBecause !== null && webhook.enabled) disable(recorded, webhook, disabledBecause, health.failingSince);
  };

  /** What was recorded is written. */
  const written = ({ healthy }: Recorded): void => {
    for (const id of healthy) sound.add(id);
  };

  return { tell, recordHealth, written };
};
