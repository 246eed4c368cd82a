import { performance } from "node:perf_hooks";

/** How long the event loop is held at the most, in milliseconds, until this is called again. */
export const watchHolds = (): (() => number) => {
  let [last, longest, watching] = [performance.now(), 0, true];
  const look = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (watching) setImmediate(look);
  };
  setImmediate(look);
  return () => {
    watching = false;
    return longest;
  };
};
