/** How late the event loop is at present: what a request waits for before anybody looks at it. For the metrics. */
export interface LoopLag {
  /** Milliseconds: the longest of the last second, or how late the loop is already. */
  milliseconds(): number;
  start(): void;
  stop(): void;
}

/** Milliseconds between two looks at the clock. */
const interval = 50;
/** Looks that are remembered: those of one second. */
const remembered = 20;

/** `now`: milliseconds of a clock that is never set. */
export const createLoopLag = (now: () => number = () => performance.now()): LoopLag => {
  let timer: NodeJS.Timeout | undefined;
  let expected = 0;
  let at = 0;
  const lags = new Float64Array(remembered);

  const overdue = (): number => Math.max(0, now() - expected);
  const look = (): void => {
    lags[at] = overdue();
    at = (at + 1) % remembered;
    expected = now() + interval;
  };

  return {
    milliseconds: () => (timer === undefined ? 0 : Math.max(overdue(), ...lags)),
    start: () => {
      if (timer !== undefined) return;
      expected = now() + interval;
      timer = setInterval(look, interval).unref();
    },
    stop: () => {
      clearInterval(timer);
      timer = undefined;
      lags.fill(0);
    },
  };
};
