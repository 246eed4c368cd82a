import { performance } from "node:perf_hooks";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Steps } from "./search.js";

/** Does work in turns of so many milliseconds, between which the process serves whatever else there is. */
export const inTurns = async <T>(steps: Steps<T>, turn: number): Promise<T> => {
  for (;;) {
    const begun = performance.now();
    do {
      const result = steps.next();
      if (result.done === true) return result.value;
    } while (performance.now() - begun < turn);
    await nextTurn();
  }
};
