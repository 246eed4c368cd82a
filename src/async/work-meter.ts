import { performance } from "node:perf_hooks";

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
