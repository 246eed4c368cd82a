import type { Attempt } from "../../../types/webhooks.js";
import type { DeliveryRow, Failing, Pause, WebhookRow } from "../rows/rows.js";
import type { Answer } from "../send/http-sender.js";
import { tolerance } from "../timekeeper.js";

// Decisions on what follows an attempt. All pure: times (in milliseconds) and randomness are passed in.

export interface RetryRules {
  /** Waits after the first, second ... failed attempt. */
  schedule: readonly number[];
  /** Fraction by which a wait varies: 0.2 is ±20 %. */
  jitter: number;
}

/** What time it is: see `Timekeeper`. */
export interface Now {
  passed: number;
  schedule: number;
  wall: number;
}

/** How an attempt ended. */
export interface Result {
  ok: boolean;
  status: number | null;
  /** Milliseconds for which the target asked not to be sent anything; undefined where it did not. */
  asked?: number | undefined;
}

/** Where a delivery is in its schedule. */
export type Step = Pick<DeliveryRow, "failures" | "stepSince">;

export type NextStep = { state: "delivered" } | { state: "dead" } | ({ state: "retrying"; dueAt: number } & Step);

/** Status of a target that wants nothing more. */
export const gone = 410;
const tooMany = 429;
const unavailable = 503;
const second = 1_000;
const day = 86_400_000;

/** Milliseconds for which a target is paused: at first where it does not say how long, and at the most. */
const [firstPause, longestPause] = [10 * second, 3_600 * second];

/** Attempts of one delivery that are kept: the last ones. */
const keptAttempts = 20;

/** Milliseconds that a Retry-After header asks for: whole seconds, or a date. Undefined when it is neither. */
export const readRetryAfter = (header: string | undefined, now: number): number | undefined => {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d{1,10}$/.test(text)) return Number(text) * second;
  // A date has letters, for a day or month; `Date.parse` would read signed numbers as dates too.
  const date = /[A-Za-z]/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
};

/** The target's own clock if it tells it, for a date in Retry-After: this machine's may be wrong. */
const nowAtTarget = (date: string | undefined, wall: number): number => {
  const told = date === undefined ? Number.NaN : Date.parse(date);
  return Number.isNaN(told) ? wall : told;
};

/**
 * Milliseconds for which a target asks not to be sent anything; undefined if it does not. `before`: how long it was paused the last time, 0
 * if the attempt before was not answered so. Without a time, each pause is twice as long as the one before.
 */
export const pauseOf = ({ status, retryAfter, date }: Pick<Answer, "status" | "retryAfter" | "date">, wall: number, before: number): number | undefined => {
  if (status !== tooMany && status !== unavailable) return undefined;
  const asked = readRetryAfter(retryAfter, nowAtTarget(date, wall));
  if (status === unavailable && asked === undefined) return undefined;
  return Math.min(longestPause, asked ?? Math.max(firstPause, 2 * before));
};

/** What a target's answer says of its pause. */
export interface PauseAnswer {
  /** As `Result` has it. */
  asked?: number;
  /** Milliseconds for which it is paused from now on; null: it has answered otherwise; undefined: nothing changes. */
  pause?: number | null;
}

/**
 * What follows from an answer for a target that was paused for `length` the last time, of which `rest` is left. What was sent before a
 * pause began, and is answered while it lasts, neither ends it nor makes it longer, unless the answer says how long: it says nothing of
 * what the target takes after it.
 */
export const pauseAfter = (answer: Pick<Answer, "status" | "retryAfter" | "date">, wall: number, { length, rest }: { length: number; rest: number }): PauseAnswer => {
  const asked = pauseOf(answer, wall, length);
  const isPaused = length > 0 && rest > 0;
  if (asked === undefined) return isPaused || length === 0 ? {} : { pause: null };
  if (isPaused && readRetryAfter(answer.retryAfter, wall) === undefined) return { asked: rest };
  return { asked, pause: asked };
};

/** What the clocks read. */
export type Readings = Pick<Pause, "wall" | "monotonic">;

/** Milliseconds since a pause began: by the monotonic clock or, where that has begun anew with the machine, by the wall clock. */
const sincePause = (pause: Pause, { wall, monotonic }: Readings): number =>
  monotonic >= pause.monotonic ? monotonic - pause.monotonic : Math.abs(wall - pause.wall);

/** Milliseconds that are left of a pause, in another process, too. */
export const restOf = (pause: Pause, now: Readings): number => Math.max(0, pause.length - sincePause(pause, now));

/** What the wall clock will show when a pause ends, the same for as long as it is not set; null if there is none. */
export const endOf = (pause: Pause | undefined, now: Readings): number | null => {
  const rest = pause === undefined ? 0 : restOf(pause, now);
  if (pause === undefined || rest === 0) return null;
  const [end, asked] = [Math.round(now.wall + rest), pause.wall + pause.length];
  return Math.abs(end - asked) <= tolerance ? asked : end;
};

/** Whether a pause has ended so long ago that it is not kept any longer: the next one is as short as the first. */
export const isLongOver = (pause: Pause, now: Readings): boolean => sincePause(pause, now) > pause.length + longestPause;

/** The wait of a schedule's step, varied at random (`random` in 0..1). */
export const waitBefore = (step: number, jitter: number, random: number): number => Math.round(step * (1 + jitter * (2 * random - 1)));

/** The shortest time that Retry-After can name, but for none. */
const shortestPause = second;

/**
 * What follows an attempt of a delivery that was in a step of its schedule: `failures`, `stepSince`. `now`: a time of the schedule.
 *
 * Each step is one wait of the schedule. A delivery goes on to the next when the time of its step has passed: with each attempt that simply
 * fails, as it has waited for so long. Where its target asks for pauses, several attempts may be made in one step (`stepSince` is when that
 * began). The pause itself is the target's; after one of no length, the delivery waits for as long again as the step has lasted.
 */
export const nextStep = (
  { ok, status, asked }: Result,
  { failures, stepSince, now, random }: Step & { now: number; random: number },
  { schedule, jitter }: RetryRules,
): NextStep => {
  if (ok) return { state: "delivered" };
  const isInStep = stepSince !== undefined && stepSince + (schedule[failures - 1] ?? 0) > now;
  const step = isInStep ? failures : failures + 1;
  const wait = schedule[step - 1];
  if (wait === undefined || status === gone) return { state: "dead" };
  const since = isInStep ? stepSince : now;
  if (asked === undefined) return { state: "retrying", failures: step, dueAt: now + waitBefore(since + wait - now, jitter, random) };
  const rest = asked < shortestPause ? Math.max(shortestPause, now - since) : 0;
  return { state: "retrying", failures: step, stepSince: since, dueAt: now + rest };
};

export interface Health {
  failing: Failing | undefined;
  /** A cause disables the webhook. */
  disabledBecause: WebhookRow["disabledBecause"];
  /** Whether it is to be told now that it will be disabled in a day. */
  warns: boolean;
}

/** A webhook's health after an attempt. */
export const nextHealth = (
  before: Failing | undefined,
  { ok, status }: Result,
  now: Pick<Now, "wall" | "passed">,
  disableAfter: number,
): Health => {
  if (ok) return { failing: undefined, disabledBecause: null, warns: false };
  const { since, from, isAnnounced } = before ?? { since: now.wall, from: now.passed, isAnnounced: false };
  const lasts = now.passed - from;
  const isOver = lasts >= disableAfter;
  const warns = !isOver && !isAnnounced && disableAfter > day && lasts >= disableAfter - day;
  const because = isOver ? "failing" : null;
  return { failing: { since, from, isAnnounced: isAnnounced || warns }, disabledBecause: status === gone ? "gone" : because, warns };
};

export const attemptOf = (at: number, duration: number, { status, body, failure }: Answer): Attempt => ({
  at,
  duration: Math.round(duration),
  status,
  stage: failure?.stage ?? null,
  error: failure?.error ?? null,
  body,
});

export interface Chance {
  now: Now;
  random: number;
  /** A failure is not followed by another attempt: its block was reverted, say. */
  isLast: boolean;
  /** Of what was sent as a batch: its name. */
  batch: string | undefined;
}

/** A delivery after an attempt. Bodies of answers are kept for the last one only. */
export const afterAttempt = (row: DeliveryRow, attempt: Attempt, result: Result, { now, random, isLast, batch }: Chance, rules: RetryRules): DeliveryRow => {
  const { id, webhookId, messageId, key, event, at, last, reverts, onRequest, stepSince, scheduledAt, isTakenBack } = row;
  const place = { failures: row.failures, stepSince, now: now.schedule, random };
  // Made before its time, as the target answers again: if it fails, it takes nothing from the schedule.
  const isEarly = !result.ok && result.status !== gone && scheduledAt !== undefined && now.schedule < scheduledAt;
  const next: NextStep | { state: "superseded" } =
    isLast && !result.ok
      ? { state: "superseded" }
      : isEarly
        ? { state: "retrying", failures: row.failures, stepSince, dueAt: scheduledAt }
        : nextStep(result, place, event === "ping" ? { ...rules, schedule: [] } : rules);
  const failures = next.state === "retrying" ? next.failures : row.failures + (result.ok ? 0 : 1);
  const [dueAt, finishedAt] = next.state === "retrying" ? [next.dueAt, null] : [null, now.passed];
  const attempts =
    row.attempts.length === 0 ? [attempt] : [...row.attempts.map((earlier) => ({ ...earlier, body: "" })), attempt].slice(-keptAttempts);
  // Member by member: to objects into which others were spread first, V8 adds members slowly.
  const after: DeliveryRow = { id, webhookId, messageId, key, event, at, state: next.state, dueAt, finishedAt, failures, attemptCount: row.attemptCount + 1, attempts };
  if (last !== undefined) after.last = last;
  if (reverts !== undefined) after.reverts = reverts;
  if (next.state === "retrying" && onRequest !== undefined) after.onRequest = onRequest;
  if (next.state === "retrying" && batch !== undefined) after.batch = batch;
  if (next.state === "retrying" && next.stepSince !== undefined) after.stepSince = next.stepSince;
  if (isEarly && next.state === "retrying") after.scheduledAt = scheduledAt;
  if (isTakenBack !== undefined) after.isTakenBack = isTakenBack;
  return after;
};
