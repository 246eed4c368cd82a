import type { After } from "../async/clock.js";
import type { Follow } from "../follow/follow.js";

/** Waits for something new. */
interface Waiter {
  /** Resolves when there may be something new since it last resolved, or after so many milliseconds, or when a signal aborts. */
  wait(milliseconds: number): Promise<void>;
  end(): void;
}

export const createWaiter = (follow: Pick<Follow, "watch">, after: After, ...signals: (AbortSignal | undefined)[]): Waiter => {
  let [isNew, wake] = [true, undefined as (() => void) | undefined];
  const changed = (): void => {
    isNew = true;
    wake?.();
  };
  const leave = follow.watch(changed);
  signals.forEach((signal) => signal?.addEventListener("abort", changed));
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
      signals.forEach((signal) => signal?.removeEventListener("abort", changed));
      wake?.();
    },
  };
};
