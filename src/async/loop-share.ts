import { performance } from "node:perf_hooks";
import type { MaybePromise } from "../../types/chain-adapter.js";
import { isPromised } from "./maybe-promise.js";
import type { Sliced } from "./time-slicing.js";

/** Counts the milliseconds for which somebody's work has held the event loop. */
export interface WorkMeter {
  worked: number;
}

let current: WorkMeter | undefined;

/** That of the work which is being done now. */
export const currentMeter = (): WorkMeter | undefined => current;

/** Does a piece of work, whose time counts for `meter` and for nobody else. Not what it leaves for later: that is another piece. */
export const metered = <T>(meter: WorkMeter | undefined, work: () => T): T => {
  if (meter === undefined || meter === current) return work();
  const outer = current;
  const begun = performance.now();
  current = meter;
  try {
    return work();
  } finally {
    const worked = performance.now() - begun;
    meter.worked += worked;
    current = outer;
    if (outer !== undefined) outer.worked -= worked;
  }
};

/** A share of each round of the event loop. */
export interface LoopShare {
  /**
   * Does the work at once if there is still room in this round, else in a later one. Counts the time until it returns, not what it leaves
   * for later.
   */
  run<T>(work: () => MaybePromise<T>): MaybePromise<T>;
  /** Whether there is still room in this round. Work that can be paused asks for it on its way. */
  hasRoom(): boolean;
}

/**
 * For work that many clients can ask for in one round: all of it together takes about `length` milliseconds of a round, so that whoever
 * asks for something else does not wait until the last of them is done. First come, first served.
 */
export const createLoopShare = (length: number): LoopShare => {
  const waiting: (() => void)[] = [];
  /** Milliseconds, without those since `begun`. */
  let used = 0;
  let begun: number | undefined;
  let planned = false;

  const hasRoom = (): boolean => used + (begun === undefined ? 0 : performance.now() - begun) < length;

  const timed = <T>(work: () => T): T => {
    const start = performance.now();
    begun = start;
    try {
      return work();
    } finally {
      used += performance.now() - start;
      begun = undefined;
      plan();
    }
  };

  const plan = (): void => {
    if (planned) return;
    planned = true;
    setImmediate(() => {
      planned = false;
      used = 0;
      // At least one: what waits goes on, however short the share is.
      do {
        const next = waiting.shift();
        if (next === undefined) return;
        next();
      } while (hasRoom());
      plan();
    });
  };

  return {
    hasRoom,
    run: (work) => {
      if (hasRoom() && waiting.length === 0) return timed(work);
      return new Promise((resolve, reject) => {
        waiting.push(() => {
          try {
            resolve(timed(work));
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)));
          }
        });
        plan();
      });
    },
  };
};

/** Does work in slices, each in what is left of a round's share. It counts for whoever begins it. */
export const runShared = <T>(work: Sliced<T>, share: LoopShare): MaybePromise<T> => {
  const meter = currentMeter();
  const goOn = (): IteratorResult<undefined, T> => {
    for (;;) {
      const result = work.next();
      if (result.done === true || !share.hasRoom()) return result;
    }
  };
  const turn = () => share.run(() => metered(meter, goOn));
  const finish = async (first: ReturnType<typeof turn>): Promise<T> => {
    let result = await first;
    while (result.done !== true) result = await turn();
    return result.value;
  };
  const first = turn();
  return !isPromised(first) && first.done === true ? first.value : finish(first);
};

/** For bodies, what is answered to them, and for what streams read and write: the process has one event loop. */
export const loopShare = createLoopShare(5);

/** For what may take seconds: a request of others needs several rounds, and should not notice. */
export const longShare = createLoopShare(1);
