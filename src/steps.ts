import { performance } from "node:perf_hooks";
import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises";

/** Work that can be interrupted wherever it yields: after a millisecond or so. */
export type Steps<T> = Generator<undefined, T>;

/** Does all of it at once. */
export const atOnce = <T>(steps: Steps<T>): T => {
  for (;;) {
    const result = steps.next();
    if (result.done === true) return result.value;
  }
};

/** Milliseconds that work in turns keeps the process from all else at a time. */
const turn = 1;

/** Milliseconds from the beginning of a turn to that of the next: timers count from where the loop last looked at the clock. */
const patience = 2 * turn;

/**
 * What comes between two turns. `hurried`: whatever waits within the process. `patient`: the process sleeps for a moment, too. One
 * that does not sleep keeps its core until the system takes it away, some milliseconds later, and those who ask for something may be
 * waiting for that very core.
 */
export type Pace = "patient" | "hurried";

const pauses: Record<Pace, () => Promise<unknown>> = { patient: () => delay(patience), hurried: () => nextTurn() };

/** Does it in turns, between which the process serves whatever else there is. */
export const inTurns = async <T>(steps: Steps<T>, pace: Pace = "patient"): Promise<T> => {
  for (;;) {
    const begun = performance.now();
    do {
      const result = steps.next();
      if (result.done === true) return result.value;
    } while (performance.now() - begun < turn);
    await pauses[pace]();
  }
};
