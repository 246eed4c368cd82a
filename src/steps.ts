import { performance } from "node:perf_hooks";
import { setImmediate as nextTurn } from "node:timers/promises";

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

/** Does it in turns, between which the process serves whatever else there is. */
export const inTurns = async <T>(steps: Steps<T>): Promise<T> => {
  for (;;) {
    const begun = performance.now();
    do {
      const result = steps.next();
      if (result.done === true) return result.value;
    } while (performance.now() - begun < turn);
    await nextTurn();
  }
};
