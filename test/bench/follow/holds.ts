import { performance } from "node:perf_hooks";
import { threadTime } from "./thread-time.js";

/** The longest hold of the event loop, in milliseconds: by the clock, and of processor time, which other processes add nothing to. */
export interface Holds {
  clock: number;
  work: number;
}

/** Watches until it is called again. */
export const watchHolds = (): (() => Holds) => {
  const longest: Holds = { clock: 0, work: 0 };
  let [clock, work, watching] = [performance.now(), threadTime(), true];
  const look = (): void => {
    const [now, used] = [performance.now(), threadTime()];
    longest.clock = Math.max(longest.clock, now - clock);
    longest.work = Math.max(longest.work, (used - work) / 1_000);
    [clock, work] = [now, used];
    if (watching) setImmediate(look);
  };
  setImmediate(look);
  return () => {
    watching = false;
    return longest;
  };
};
