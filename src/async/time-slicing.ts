import { performance } from "node:perf_hooks";
import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises";

/** Work that can be paused wherever it yields. */
export type Steps<T> = Generator<undefined, T>;

/** Runs all steps synchronously. */
export const atOnce = <T>(steps: Steps<T>): T => {
  for (;;) {
    const result = steps.next();
    if (result.done === true) return result.value;
  }
};

/** The steps, until they have taken `longest` milliseconds of work. */
export const atMost = function* (longest: number, steps: Steps<void>): Steps<void> {
  for (let spent = 0; spent <= longest; ) {
    const begun = performance.now();
    if (steps.next().done === true) return;
    spent += performance.now() - begun;
    yield;
  }
};

/**
 * How work gives way between turns. `hurried`: only to what waits within this process. `patient`: the process also sleeps, and so frees
 * its core; otherwise it would hold the core until preempted, some milliseconds later, while clients may be waiting for that very core.
 */
export type Pace = "patient" | "hurried";

interface Turns {
  /** Milliseconds of uninterrupted work in one turn. */
  length: number;
  pause(): Promise<unknown>;
}

const turnsAt: Record<Pace, Turns> = {
  hurried: { length: 1, pause: () => nextTurn() },
  // A timer counts from the time at which the event loop last read its clock, so that one turn begins a millisecond after another.
  patient: { length: 0.25, pause: () => delay(1) },
};

/** Runs the steps in turns, between which the process does its other work. */
export const inTurns = async <T>(steps: Steps<T>, pace: Pace = "patient"): Promise<T> => {
  const { length, pause } = turnsAt[pace];
  for (;;) {
    const begun = performance.now();
    do {
      const result = steps.next();
      if (result.done === true) return result.value;
    } while (performance.now() - begun < length);
    await pause();
  }
};
