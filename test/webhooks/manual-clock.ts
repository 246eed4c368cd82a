import type { Clock } from "../../types/node-context.js";
import type { After } from "../../src/async/clock.js";

/** A clock that stands still until it is advanced, and the timers that depend on it. */
export interface ManualClock extends Required<Clock> {
  after: After;
  /** Advances in one step, as after a machine slept, and calls the timers that have become due. */
  advance(milliseconds: number): void;
  /** Sets the wall clock forward, or back, while no time passes. */
  set(by: number): void;
  /** As of another process on a machine that was started anew: the monotonic clock counts from now. */
  startMachine(): void;
  /** Number of timers that have not been called yet. */
  timers(): number;
}

export const createManualClock = (start = Date.UTC(2024, 0, 1)): ManualClock => {
  let [now, lead, begun] = [0, start, 0];
  let timers: { at: number; callback: () => void }[] = [];
  return {
    now: () => lead + now,
    monotonic: () => now - begun,
    set: (by) => {
      lead += by;
    },
    startMachine: () => {
      begun = now;
    },
    after: (milliseconds, callback) => {
      const timer = { at: now + milliseconds, callback };
      timers.push(timer);
      return () => {
        timers = timers.filter((one) => one !== timer);
      };
    },
    advance: (milliseconds) => {
      now += milliseconds;
      const due = timers.filter(({ at }) => at <= now).sort((a, b) => a.at - b.at);
      timers = timers.filter(({ at }) => at > now);
      for (const { callback } of due) callback();
    },
    timers: () => timers.length,
  };
};
