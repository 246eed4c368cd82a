import type { MaybePromise } from "../../types/chain-adapter.js";

/** Goes on with a value at once where it is there, later where it is promised. */
export const then = <T, U>(value: MaybePromise<T>, next: (value: T) => U): MaybePromise<U> =>
  value instanceof Promise ? value.then(next) : next(value);
