import { performance } from "node:perf_hooks";
import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises";

/** Work that can be interrupted wherever it yields. */
export type Steps<T> = Generator<undefined, T>;

/** Does all of it at once. */
export const atOnce = <T>(steps: Steps<T>): T => {
  for (;;) {
    const result = steps.next();
    if (result.done === true) return result.value;
  }
};

/**
 * How work in turns gives way. `hurried`: to whatever waits within the process. `patient`: the process sleeps in between, too. One that
 * does not sleep keeps its core until the system takes it away, some milliseconds later, and those who ask may be waiting for that very
 * core.
 */
export type Pace = "patient" | "hurried";

interface Turns {
  /** Milliseconds that the process is kept from all else at a time. */
  length: number;
  pause(): Promise<unknown>;
}

const turnsAt: Record<Pace, Turns> = {
  hurried: { length: 1, pause: () => nextTurn() },
  // Timers count from where the loop last looked at the clock: this is a millisecond from turn to turn.
  patient: { length: 0.5, pause: () => delay(1) },
};

/** Does it in turns, between which the process serves whatever else there is. */
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
