import { readFileSync } from "node:fs";

/** Milliseconds of processor time that this thread has taken, without those that LMDB and V8 have for themselves. Linux only. */
const threadTime = (): number => Number(readFileSync("/proc/thread-self/schedstat", "utf8").split(" ")[0]) / 1e6;

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
    longest.work = Math.max(longest.work, used - work);
    [clock, work] = [now, used];
    if (watching) setImmediate(look);
  };
  setImmediate(look);
  return () => {
    watching = false;
    return longest;
  };
};
