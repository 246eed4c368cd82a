import type { WebhookRow } from "../../../types/webhook-store.js";

/** Decisions on what follows an attempt. All pure: time and randomness are passed in. Times are in milliseconds. */

export interface RetryRules {
  /** Waits after the first, second ... failed attempt. */
  schedule: readonly number[];
  /** Fraction by which a wait varies: 0.2 is ±20 %. */
  jitter: number;
}

/** The result of an attempt. */
export interface AttemptResult {
  ok: boolean;
  /** The answer's status, null without one. */
  status: number | null;
  /** The answer's Retry-After header. */
  retryAfter: string | undefined;
}

export type NextStep = { state: "delivered" } | { state: "dead" } | { state: "retrying"; dueAt: number };

const gone = 410;

/** Milliseconds that a Retry-After header asks for: whole seconds, or a date. Undefined when it is neither. */
export const readRetryAfter = (header: string | undefined, now: number): number | undefined => {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000;
  // A date has letters, for a day or month; `Date.parse` would read signed numbers as dates too.
  const date = /[A-Za-z]/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
};

/** The wait of a schedule's step, varied at random (`random` in 0..1); longer if Retry-After asks for it, up to twice the step. */
export const waitBefore = (step: number, jitter: number, random: number, retryAfter: number | undefined): number => {
  const varied = step * (1 + jitter * (2 * random - 1));
  return Math.round(Math.max(varied, Math.min(retryAfter ?? 0, 2 * step)));
};

/** `failures`: failed attempts of this schedule, including this one. */
export const nextStep = (
  result: AttemptResult,
  { failures, now, random }: { failures: number; now: number; random: number },
  { schedule, jitter }: RetryRules,
): NextStep => {
  if (result.ok) return { state: "delivered" };
  const step = schedule[failures - 1];
  if (step === undefined || result.status === gone) return { state: "dead" };
  return { state: "retrying", dueAt: now + waitBefore(step, jitter, random, readRetryAfter(result.retryAfter, now)) };
};

export interface Health {
  failingSince: number | null;
  disabledBecause: "gone" | "failing" | null;
}

/**
 * A webhook's health after an attempt. A cause in `disabledBecause` disables it. A time before the webhook was created is of a clock that
 * was wrong, as that of a machine without a battery is at first.
 */
export const nextHealth = (
  { failingSince, createdAt }: Pick<WebhookRow, "failingSince" | "createdAt">,
  { ok, status }: AttemptResult,
  now: number,
  disableAfter: number,
): Health => {
  if (ok) return { failingSince: null, disabledBecause: null };
  const since = failingSince !== null && failingSince >= createdAt ? failingSince : now;
  if (status === gone) return { failingSince: since, disabledBecause: "gone" };
  return { failingSince: since, disabledBecause: now - since >= disableAfter ? "failing" : null };
};
