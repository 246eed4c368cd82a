import { performance } from "node:perf_hooks";
import type { MaybePromise } from "../../types/chain-adapter.js";

/** A share of each round of the event loop. */
export interface LoopShare {
  /** Does the work at once if there is still room in this round, else in a later one. Counts the time until it returns, not what it leaves for later. */
  run<T>(work: () => T): MaybePromise<T>;
}

/**
 * For work that many clients can ask for in one round: all of it together takes about `length` milliseconds of a round, so that whoever asks for
 * something else does not wait until the last of them is done. First come, first served.
 */
export const createLoopShare = (length: number): LoopShare => {
  const waiting: (() => void)[] = [];
  let used = 0;
  let planned = false;

  const timed = <T>(work: () => T): T => {
    const begun = performance.now();
    try {
      return work();
    } finally {
      used += performance.now() - begun;
      plan();
    }
  };

  const plan = (): void => {
    if (planned) return;
    planned = true;
    setImmediate(() => {
      planned = false;
      used = 0;
      while (used < length) {
        const next = waiting.shift();
        if (next === undefined) return;
        next();
      }
      plan();
    });
  };

  return {
    run: (work) => {
      if (used < length && waiting.length === 0) return timed(work);
      return new Promise((resolve, reject) => {
        waiting.push(() => {
          try {
            resolve(timed(work));
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)));
          }
        });
      });
    },
  };
};

/** For parsing bodies and for what streams read and write: the process has one event loop. */
export const loopShare = createLoopShare(5);
