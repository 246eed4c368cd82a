import { performance } from "node:perf_hooks";
import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises";

/** Work that can be paused wherever it yields. */
export type Sliced<T> = Generator<undefined, T>;

/** Does all the work synchronously. */
export const atOnce = <T>(work: Sliced<T>): T => {
  for (;;) {
    const result = work.next();
    if (result.done === true) return result.value;
  }
};

/**
 * How work gives way between turns. `cooperative`: only to what waits within this process. `background`: the process also sleeps, and so
 * frees its core; otherwise it would hold the core until preempted, some milliseconds later, while clients may be waiting for that very
 * core.
 */
export type Pace = "background" | "cooperative";

interface Turns {
  /** Milliseconds of uninterrupted work in one turn. */
  length: number;
  pause(): Promise<unknown>;
}

const turnsAt: Record<Pace, Turns> = {
  cooperative: { length: 1, pause: () => nextTurn() },
  // A timer counts from the time at which the event loop last read its clock, so that one turn begins a millisecond after another.
  background: { length: 0.25, pause: () => delay(1) },
};

/** Whether background work sleeps. Tests switch it off where they are not about that: they would sleep for longer than they work. */
export const background = { sleeps: true };

/** Does the work in slices, between which the process does its other work. */
export const runSliced = async <T>(work: Sliced<T>, pace: Pace = "background"): Promise<T> => {
  const { length, pause } = turnsAt[background.sleeps ? pace : "cooperative"];
  for (;;) {
    const begun = performance.now();
    do {
      const result = work.next();
      if (result.done === true) return result.value;
    } while (performance.now() - begun < length);
    await pause();
  }
};
