/** Calls back after so many milliseconds. Returns what cancels the call. */
export type After = (milliseconds: number, callback: () => void) => () => void;

/** Does not keep the process alive. */
export const systemAfter: After = (milliseconds, callback) => {
  const timer = setTimeout(callback, milliseconds);
  timer.unref();
  return () => clearTimeout(timer);
};
