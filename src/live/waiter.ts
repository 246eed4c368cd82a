import type { After } from "../async/clock.js";
import type { Follow } from "../follow/follow.js";

/** Waits for something new. */
interface Waiter {
  /** Resolves when there may be something new since it last resolved, or after so many milliseconds, or when `signal` aborts. */
  wait(milliseconds: number): Promise<void>;
  end(): void;
}

export const createWaiter = (follow: Pick<Follow, "watch">, after: After, signal?: AbortSignal): Waiter => {
  let [isNew, wake] = [true, undefined as (() => void) | undefined];
  const changed = (): void => {
    isNew = true;
    wake?.();
  };
  const leave = follow.watch(changed);
  signal?.addEventListener("abort", changed);
  return {
    wait: async (milliseconds) => {
      if (!isNew) {
        let cancel = (): void => undefined;
        await new Promise<void>((resolve) => {
          wake = resolve;
          cancel = after(milliseconds, resolve);
        });
        cancel();
        wake = undefined;
      }
      isNew = false;
    },
    end: () => {
      leave();
      signal?.removeEventListener("abort", changed);
      wake?.();
    },
  };
};
