import type { Clock } from "../../types/node-context.js";

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
 * What the wall clock shows, but no more than has passed since this was made: while the process runs, a clock that is set forward makes nothing
 * old. What it was set by between two processes cannot be told from the time that the machine was off.
 */
export const createAging = (clock: FullClock): (() => number) => {
  const [wall, monotonic] = [clock.now(), clock.monotonic()];
  return () => Math.min(clock.now(), wall + clock.monotonic() - monotonic);
};
