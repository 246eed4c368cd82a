import { performance } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";

export interface RetryOptions {
  /** Whether a failure may pass by itself. */
  isTransient(error: unknown): boolean;
  /** Called with the first such failure. */
  onWait?: (error: unknown) => void;
  /** Milliseconds. */
  limit?: number;
  /** Milliseconds by a clock that nobody sets. Default: the system's. */
  now?: () => number;
  /** Aborting ends the wait with an AbortError. */
  signal?: AbortSignal | undefined;
}

/** Milliseconds that a process that is just ending is given to let go of what it holds. */
const longEnoughToEnd = 5_000;

/** Milliseconds between two tries. */
const interval = 50;

/** Tries until it succeeds. Rejects with the last failure once there has been no success for so long, and at once with any that will not pass. */
export const retrying = async <T>(attempt: () => T, { isTransient, onWait, limit = longEnoughToEnd, now = () => performance.now(), signal }: RetryOptions): Promise<T> => {
  const begun = now();
  for (let tries = 1; ; tries++) {
    try {
      return attempt();
    } catch (error) {
      if (!isTransient(error) || now() - begun >= limit) throw error;
      if (tries === 1) onWait?.(error);
    }
    await delay(interval, undefined, { signal });
  }
};
