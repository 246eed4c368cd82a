import type { Clock } from "../../types/node-context.js";
import { setTimeout as delay } from "node:timers/promises";
import { performance } from "node:perf_hooks";

/** Calls back after so many milliseconds. Returns what cancels the call. */
export type After = (milliseconds: number, callback: () => void) => () => void;

/** Does not keep the process alive. */
export const systemAfter: After = (milliseconds, callback) => {
  const timer = setTimeout(callback, milliseconds);
  timer.unref();
  return () => clearTimeout(timer);
};

/** A clock with all its readings. */
export type FullClock = Required<Clock>;

/** Since the machine was started, so that the readings of one process can be compared with those of the next. */
const sinceStart = (): number => {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1_000_000;
};

/** What its clocks read now. */
export const readingsOf = (clock: FullClock): { wall: number; monotonic: number } => ({ wall: clock.now(), monotonic: clock.monotonic() });

export const systemClock: FullClock = { now: () => Date.now(), monotonic: sinceStart };

/** The host's clock, and the system's for what that does not have. */
export const fullClock = (given: Clock = systemClock): FullClock => ({
  now: () => given.now(),
  monotonic: given.monotonic === undefined ? sinceStart : given.monotonic.bind(given),
});

/**
 * What the wall clock shows, but no more than has passed since this was made: while the process runs, a clock that is set forward makes
 * nothing old. What it was set by between two processes cannot be told from the time that the machine was off.
 */
export const createAging = (clock: FullClock): (() => number) => {
  const [wall, monotonic] = [clock.now(), clock.monotonic()];
  return () => Math.min(clock.now(), wall + clock.monotonic() - monotonic);
};

/** Waits for so many milliseconds, or until the signal is aborted. Keeps no process alive. */
export const pause = (milliseconds: number, signal: AbortSignal): Promise<unknown> =>
  delay(milliseconds, undefined, { signal, ref: false }).catch(() => undefined);

export interface RetryOptions {
  /** Whether a failure may pass by itself. */
  isTransient(error: unknown): boolean;
  /** Called with the first such failure. */
  onWait?: (error: unknown) => void;
  /** Milliseconds. */
  limit?: number;
  /** Milliseconds by a clock that nobody sets. Default: the system's. */
  now?: () => number;
  /** Aborting ends the wait with an AbortError. */
  signal?: AbortSignal | undefined;
}

/** Milliseconds that a process that is just ending is given to let go of what it holds. */
const longEnoughToEnd = 5_000;

/** Milliseconds between two tries. */
const interval = 50;

/**
 * Tries until it succeeds. Rejects with the last failure once there has been no success for so long, and at once with any that will not
 * pass.
 */
export const retrying = async <T,>(
  attempt: () => T,
  { isTransient, onWait, limit = longEnoughToEnd, now = () => performance.now(), signal }: RetryOptions,
): Promise<T> => {
  const begun = now();
  for (let tries = 1; ; tries++) {
    try {
      return attempt();
    } catch (error) {
      if (!isTransient(error) || now() - begun >= limit) throw error;
      if (tries === 1) onWait?.(error);
    }
    await delay(interval, undefined, { signal });
  }
};
