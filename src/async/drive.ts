import type { MaybePromise } from "../../types/chain-adapter.js";
import { isPromised } from "./maybe-promise.js";

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
