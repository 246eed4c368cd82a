import { performance } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";

export interface Patience {
  /** Whether a failure may pass by itself. */
  mayPass(error: unknown): boolean;
  /** Called with the first such failure. */
  onWait?: (error: unknown) => void;
  /** Milliseconds. */
  patience?: number;
  /** Aborting ends the wait with an AbortError. */
  signal?: AbortSignal | undefined;
}

/** Milliseconds that a process that is just ending is given to let go of what it holds. */
const longEnoughToEnd = 5_000;

/** Milliseconds between two tries. */
const interval = 50;

/** Tries until it succeeds. Rejects with the last failure once there has been no success for so long, and at once with any that will not pass. */
export const patiently = async <T>(attempt: () => T, { mayPass, onWait, patience = longEnoughToEnd, signal }: Patience): Promise<T> => {
  const begun = performance.now();
  for (let tries = 1; ; tries++) {
    try {
      return attempt();
    } catch (error) {
      if (!mayPass(error) || performance.now() - begun >= patience) throw error;
      if (tries === 1) onWait?.(error);
    }
    await delay(interval, undefined, { signal });
  }
};
