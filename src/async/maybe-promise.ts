import type { MaybePromise } from "../../types/chain-adapter.js";

/** Any thenable counts: an adapter may use a promise library. */
export const isPromised = <T>(value: MaybePromise<T>): value is Promise<T> =>
  value instanceof Promise || typeof (value as { then?: unknown } | null | undefined)?.then === "function";

/** Calls `next` with the value: synchronously unless the value is a promise. */
export const andThen = <T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> =>
  isPromised(value) ? Promise.resolve(value).then(next) : next(value);

/** Work that asks for values which may be promised: `const row = (yield* ask(source.row())) `. */
export type Asking<T> = Generator<MaybePromise<unknown>, T, unknown>;

/** Gives the value of what may be a promise. */
export function* ask<T>(value: MaybePromise<T>): Asking<T> {
  if (!isPromised(value)) return value;
  return (yield value) as T;
}

const goOn = async <T>(work: Asking<T>, awaited: MaybePromise<unknown>): Promise<T> => {
  for (let promised = awaited; ; ) {
    let step: IteratorResult<MaybePromise<unknown>, T>;
    try {
      step = work.next(await promised);
    } catch (error) {
      step = work.throw(error);
    }
    if (step.done === true) return step.value;
    promised = step.value;
  }
};

/** Does the work: at once where nothing that it asks for is a promise. */
export const drive = <T>(work: Asking<T>): MaybePromise<T> => {
  const step = work.next();
  return step.done === true ? step.value : goOn(work, step.value);
};
