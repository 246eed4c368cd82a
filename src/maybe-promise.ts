import type { MaybePromise } from "../types/chain-adapter.js";

/** Promises of libraries too: an adapter's may be none of the language's own. */
const isPromised = <T>(value: MaybePromise<T>): value is Promise<T> =>
  value instanceof Promise || typeof (value as { then?: unknown } | null | undefined)?.then === "function";

/** Goes on with a value at once where it is there, later where it is promised. */
export const then = <T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> =>
  isPromised(value) ? Promise.resolve(value).then(next) : next(value);
