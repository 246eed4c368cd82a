import type { MaybePromise } from "../../types/chain-adapter.js";

/** Any thenable counts: an adapter may use a promise library. */
export const isPromised = <T>(value: MaybePromise<T>): value is Promise<T> =>
  value instanceof Promise || typeof (value as { then?: unknown } | null | undefined)?.then === "function";

/** Calls `next` with the value: synchronously unless the value is a promise. */
export const andThen = <T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> =>
  isPromised(value) ? Promise.resolve(value).then(next) : next(value);
