/** Calls back after so many milliseconds. Returns what takes the call back. */
export type After = (milliseconds: number, callback: () => void) => () => void;

/** Keeps no process alive. */
export const systemAfter: After = (milliseconds, callback) => {
  const timer = setTimeout(callback, milliseconds);
  timer.unref();
  return () => clearTimeout(timer);
};
