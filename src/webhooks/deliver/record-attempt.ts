import type { Logger } from "../../../types/node-context.js";
import type { DeliveryRow, WebhookRow, WebhookStore } from "../../../types/webhook-store.js";
import type { Attempt } from "../../../types/webhooks.js";
import type { Answer } from "../send/http-sender.js";
import { type AttemptResult, nextHealth, nextStep, type RetryRules } from "./retry.js";

/** An attempt that has ended. */
export interface Ended {
  webhookId: number;
  id: number;
  /** Where it went: the webhook may have another target by now. */
  target: string;
  attempt: Attempt;
  retryAfter: string | undefined;
  date: string | undefined;
}

/** What time it is: see `Timekeeper`. */
export interface Now {
  passed: number;
  schedule: number;
  wall: number;
}

export interface SettleRules extends RetryRules {
  disableAfter: number;
}

export interface SettleNeeds {
  store: WebhookStore;
  random: () => number;
}

/** What an attempt led to. */
export interface Settled {
  row: DeliveryRow;
  /** Where the attempt went. */
  target: string;
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

/** The result of an attempt for its webhook. The status and Retry-After of a target that the webhook no longer has do not count. */
const resultOf = ({ target, attempt, retryAfter, date }: Ended, webhook: WebhookRow | undefined): AttemptResult => {
  const ok = attempt.stage === null;
  return webhook?.target === target ? { ok, status: attempt.status, retryAfter, date } : { ok, status: null, retryAfter: undefined };
};

/** `isLast`: a failure is not followed by another attempt. */
interface Chance {
  now: Now;
  random: number;
  isLast: boolean;
}

const afterAttempt = (row: DeliveryRow, attempt: Attempt, result: AttemptResult, { now, random, isLast }: Chance, rules: RetryRules): DeliveryRow => {
  const failures = result.ok ? row.failures : row.failures + 1;
  const next = isLast && !result.ok ? ({ state: "superseded" } as const) : nextStep(result, { failures, now: now.schedule, wall: now.wall, random }, rules);
  return {
    ...row,
    state: next.state,
    dueAt: next.state === "retrying" ? next.dueAt : null,
    finishedAt: next.state === "retrying" ? null : now.passed,
    hold: null,
    failures,
    attemptCount: row.attemptCount + 1,
    attempts: [...row.attempts, attempt].slice(-keptAttempts),
  };
};

/** Writes the webhook's health if it changed. Returns the webhook if that disables it: only then does the register change. */
const settleHealth = (
  store: WebhookStore,
  webhook: WebhookRow,
  result: AttemptResult,
  now: Now,
  { disableAfter }: SettleRules,
): WebhookRow | undefined => {
  const { disabledBecause, ...failing } = nextHealth(webhook, result, now, disableAfter);
  if (disabledBecause !== null && webhook.enabled) {
    const disabled = { ...webhook, ...failing, enabled: false, disabledBecause };
    store.putWebhook(disabled);
    return disabled;
  }
  if (failing.failingSince !== webhook.failingSince) store.putHealth({ ...webhook, ...failing });
  return undefined;
};

/** Records the outcomes of attempts, all in one transaction. */
export const settleAll = (ended: readonly Ended[], now: Now, rules: SettleRules, { store, random }: SettleNeeds): Promise<Settled[]> =>
  store.transactionSoon(() =>
    ended.flatMap((one) => {
      const row = store.delivery(one.webhookId, one.id);
      if (row === undefined) return [];
      const webhook = store.webhook(one.webhookId);
      const result = resultOf(one, webhook);
      // Its block may have been reverted while the attempt was under way.
      const after = afterAttempt(row, one.attempt, result, { now, random: random(), isLast: store.isSuperseded(row.messageId) }, rules);
      store.changeDelivery(row, after);
      const disabled = webhook?.target === one.target ? settleHealth(store, webhook, result, now, rules) : undefined;
      return [{ row: after, target: one.target, disabled }];
    }),
  );

const originOf = (target: string): string => new URL(target).origin;

/** One line for each attempt. It names the target's origin only: paths and queries may carry secrets. */
export const logSettled = ({ row, target }: Settled, logger: Logger): void => {
  const attempt = row.attempts.at(-1);
  if (attempt === undefined) return;
  const outcome = attempt.error === null ? String(attempt.status) : `${attempt.stage ?? ""}: ${attempt.error}`;
  const line = `webhook ${row.webhookId} delivery ${row.id} (${row.event}) attempt ${row.attemptCount} to ${originOf(target)}: ${outcome} after ${attempt.duration} ms, ${row.state}`;
  if (row.state === "delivered") logger.debug(line);
  else logger.warn(line);
};

export const logDisabled = ({ id, target, disabledBecause, failingSince }: WebhookRow, logger: Logger): void => {
  const since = failingSince === null ? "" : ` since ${new Date(failingSince).toISOString()}`;
  const reason = disabledBecause === "gone" ? "the target answered 410" : `every attempt${since} failed`;
  logger.warn(`webhook ${id} to ${originOf(target)} is disabled: ${reason}`);
};
