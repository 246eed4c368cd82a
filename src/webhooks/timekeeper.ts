import type { KeptTime } from "./rows/rows.js";
import type { WebhookStore } from "./rows/store.js";
import type { FullClock } from "../async/clock.js";

/**
 * How much time passes, whatever the wall clock is set to, in this process and over all processes of a store before it. Two times are
 * kept, both as milliseconds since 1970, but told from a monotonic clock; neither ever goes back:
 *
 * - passed    what has passed for certain. Decides what must not happen too early: history is removed by it, secrets expire, and webhooks
 *             that fail are disabled.
 * - dueTime   what may have passed (`KeptTime.schedule`). Decides when retries are due, which must not be too late: if the machine was off
 *             for a day, they are due when it is on again.
 */
export interface Timekeeper {
  passed(): number;
  dueTime(): number;
  /** What the wall clock shows at a time of `dueTime`: for clients. */
  wallOfDue(time: number): number;
  /** Whether the store should be told again. */
  isStale(): boolean;
  /** Tells the store, within a transaction. */
  keep(): void;
}

/** Milliseconds after which the store is told: what a machine that fails may lose of `passed`, and a jump of its clock meanwhile costs. */
const keepInterval = 30_000;
/** Milliseconds by which what clients see may be off: clocks that are read one after the other never agree exactly. */
export const tolerance = 1_000;

/**
 * The times at the start of a process. Neither clock is to be trusted over the end of the last one: the wall clock may have been set, and
 * the monotonic one is another after the machine was started anew, or the store was moved to another machine. What has passed for
 * certain is the lesser of what the two say, and what may have passed is the greater.
 */
const timesAt = (kept: KeptTime | undefined, wall: number, monotonic: number): Pick<KeptTime, "passed" | "schedule"> => {
  if (kept === undefined) return { passed: wall, schedule: wall };
  const byWall = Math.max(0, wall - kept.wall);
  const byMonotonic = kept.monotonic === null ? 0 : Math.max(0, monotonic - kept.monotonic);
  return { passed: kept.passed + Math.min(byWall, byMonotonic), schedule: kept.schedule + Math.max(byWall, byMonotonic) };
};

/** Gives what the wall clock shows at a time, the same for as long as it is not set. */
const createWallOf = (clock: FullClock, time: () => number): ((of: number) => number) => {
  let lead: number | undefined;
  return (of) => {
    const now = clock.now() - time();
    if (lead === undefined || Math.abs(now - lead) > tolerance) lead = now;
    return of + lead;
  };
};

/** For the process that delivers: it keeps the time for others. */
export const createTimekeeper = (store: Pick<WebhookStore, "time" | "keepTime">, clock: FullClock): Timekeeper => {
  const begun = clock.monotonic();
  const start = timesAt(store.time(), clock.now(), begun);
  let [run, kept] = [0, -Infinity];

  const runTime = (): number => (run = Math.max(run, clock.monotonic() - begun));
  const passed = (): number => Math.floor(start.passed + runTime());
  const dueTime = (): number => Math.floor(start.schedule + runTime());

  return {
    passed,
    dueTime,
    wallOfDue: createWallOf(clock, dueTime),
    isStale: () => runTime() - kept >= keepInterval,
    keep: () => {
      kept = runTime();
      store.keepTime({ passed: passed(), schedule: dueTime(), wall: clock.now(), monotonic: clock.monotonic() });
    },
  };
};

/** For a process that does not deliver: the times as they were last kept. */
export const createTimeReader = (store: Pick<WebhookStore, "time">, clock: FullClock): Timekeeper => {
  const last = (): Pick<KeptTime, "passed" | "schedule" | "wall"> => {
    const wall = clock.now();
    return store.time() ?? { passed: wall, schedule: wall, wall };
  };
  return {
    passed: () => last().passed,
    dueTime: () => last().schedule,
    wallOfDue: (time) => time + last().wall - last().schedule,
    isStale: () => false,
    keep: () => undefined,
  };
};
