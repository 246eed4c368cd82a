import type { Logger } from "../../types/node-context.js";
import type { DeliveryRow, WebhookRow, WebhookStore } from "../../types/webhook-store.js";
import type { Attempt } from "../../types/webhooks.js";
import type { Answer } from "./http-sender.js";
import { nextHealth, nextStep, type RetryRules } from "./retry.js";

/** An attempt that has ended. */
export interface Ended {
  webhookId: number;
  id: number;
  attempt: Attempt;
  retryAfter: string | undefined;
}

export interface SettleRules extends RetryRules {
  disableAfter: number;
}

export interface SettleNeeds {
  store: WebhookStore;
  random: () => number;
  logger: Logger;
}

/** What an attempt led to. */
export interface Settled {
  row: DeliveryRow;
  /** Undefined where the webhook is gone. */
  target: string | undefined;
  /** The webhook, where this attempt disabled it. */
  disabled: WebhookRow | undefined;
}

/** Attempts of one delivery that are kept: the last ones. */
const keptAttempts = 20;

export const attemptOf = (at: number, duration: number, { status, body, failure }: Answer): Attempt => ({
  at,
  duration: Math.round(duration),
  status,
  stage: failure?.stage ?? null,
  error: failure?.error ?? null,
  body,
});

const afterAttempt = (row: DeliveryRow, ended: Ended, now: number, random: number, rules: RetryRules): DeliveryRow => {
  const { attempt, retryAfter } = ended;
  const ok = attempt.stage === null;
  const failures = ok ? row.failures : row.failures + 1;
  const next = nextStep({ ok, status: attempt.status, retryAfter }, { failures, now, random }, rules);
  return {
    ...row,
    state: next.state,
    dueAt: next.state === "retrying" ? next.dueAt : null,
    finishedAt: next.state === "retrying" ? null : now,
    hold: null,
    failures,
    attemptCount: row.attemptCount + 1,
    attempts: [...row.attempts, attempt].slice(-keptAttempts),
  };
};

/** Writes the webhook's health where it changed. Returns the webhook where that disables it: only then does the register change. */
const settleHealth = (
  store: WebhookStore,
  webhook: WebhookRow,
  { attempt, retryAfter }: Ended,
  now: number,
  { disableAfter }: SettleRules,
): WebhookRow | undefined => {
  const result = { ok: attempt.stage === null, status: attempt.status, retryAfter };
  const { failingSince, disabledBecause } = nextHealth(webhook.failingSince, result, now, disableAfter);
  if (disabledBecause !== null && webhook.enabled) {
    const disabled = { ...webhook, enabled: false, failingSince, disabledBecause };
    store.putWebhook(disabled);
    return disabled;
  }
  if (failingSince !== webhook.failingSince) store.putHealth({ ...webhook, failingSince });
  return undefined;
};

/** Writes down what attempts came to, all in one transaction. */
export const settleAll = (ended: readonly Ended[], now: number, rules: SettleRules, { store, random }: SettleNeeds): Promise<Settled[]> =>
  store.transactionSoon(() =>
    ended.flatMap((one) => {
      const row = store.delivery(one.webhookId, one.id);
      if (row === undefined) return [];
      const after = afterAttempt(row, one, now, random(), rules);
      store.changeDelivery(row, after);
      const webhook = store.webhook(one.webhookId);
      return [{ row: after, target: webhook?.target, disabled: webhook && settleHealth(store, webhook, one, now, rules) }];
    }),
  );

const originOf = (target: string | undefined): string => (target === undefined ? "a removed webhook" : new URL(target).origin);

/** One line for each attempt. It names the target's origin only: paths and queries may carry secrets. */
export const logSettled = ({ row, target }: Settled, logger: Logger): void => {
  const attempt = row.attempts.at(-1);
  if (attempt === undefined) return;
  const outcome = attempt.error === null ? String(attempt.status) : `${attempt.stage ?? ""}: ${attempt.error}`;
  const line = `webhook ${row.webhookId} delivery ${row.id} (${row.event}) attempt ${row.attemptCount} to ${originOf(target)}: ${outcome} after ${attempt.duration} ms, ${row.state}`;
  if (row.state === "delivered") logger.debug(line);
  else logger.warn(line);
};

export const logDisabled = ({ id, target, disabledBecause }: WebhookRow, logger: Logger): void => {
  const reason = disabledBecause === "gone" ? "the target answered 410" : "every attempt failed for days";
  logger.warn(`webhook ${id} to ${originOf(target)} is disabled: ${reason}`);
};
