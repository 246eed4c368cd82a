import type { WebhookRow } from "../../../types/webhook-store.js";

/** Decisions on what follows an attempt. All pure: times (in milliseconds) and randomness are passed in. */

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
  /** The answer's Date header. */
  date?: string | undefined;
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

/** The target's own clock if it tells it, for a date in Retry-After: this machine's may be wrong. */
const nowAtTarget = ({ date }: AttemptResult, wall: number): number => {
  const told = date === undefined ? Number.NaN : Date.parse(date);
  return Number.isNaN(told) ? wall : told;
};

/** `failures`: failed attempts of this schedule, including this one. `now`: by the time in which retries are due; `wall`: by the wall clock. */
export const nextStep = (
  result: AttemptResult,
  { failures, now, wall, random }: { failures: number; now: number; wall: number; random: number },
  { schedule, jitter }: RetryRules,
): NextStep => {
  if (result.ok) return { state: "delivered" };
  const step = schedule[failures - 1];
  if (step === undefined || result.status === gone) return { state: "dead" };
  return { state: "retrying", dueAt: now + waitBefore(step, jitter, random, readRetryAfter(result.retryAfter, nowAtTarget(result, wall))) };
};

export interface Health extends Pick<WebhookRow, "failingSince" | "failingFrom"> {
  disabledBecause: "gone" | "failing" | null;
}

/** A webhook's health after an attempt. A cause in `disabledBecause` disables it. */
export const nextHealth = (
  { failingSince, failingFrom }: Pick<WebhookRow, "failingSince" | "failingFrom">,
  { ok, status }: AttemptResult,
  now: { wall: number; passed: number },
  disableAfter: number,
): Health => {
  if (ok) return { failingSince: null, failingFrom: undefined, disabledBecause: null };
  const from = failingSince === null ? now.passed : (failingFrom ?? failingSince);
  const because = now.passed - from >= disableAfter ? "failing" : null;
  return { failingSince: failingSince ?? now.wall, failingFrom: from, disabledBecause: status === gone ? "gone" : because };
};
