import type { Logger } from "../../../types/node-context.js";
import { messageOf, PorticoError } from "../../errors.js";
import { isUnwritable, type WriteWatch } from "../lmdb/write-watch.js";

/** Following the chain in spite of failures: each is followed by another try, sooner or later. */
export interface Retrying {
  /**
   * Does the work, which returns whether the store is where the host is then: if so, no other try is needed. What it throws is logged and
   * leads to another try; it is never thrown to the host.
   */
  attempt(work: () => Promise<boolean>): Promise<void>;
  /** Whether another try is due. */
  isDue(): boolean;
  /** Why the chain cannot be followed at present; undefined if it can, or might be again in a moment. */
  problem(): string | undefined;
  /** From then on nothing is done, tried again or logged. */
  stop(): void;
}

/** In milliseconds. */
export interface RetryPace {
  /** Between a failure and the next try: `first`, doubled each time, up to `last`. */
  first: number;
  last: number;
  /** A failure that is retried sooner than this is not a problem yet: hosts emit a block before their database has it. */
  patience: number;
}

export const retryPace: RetryPace = { first: 100, last: 60_000, patience: 2_000 };
/** Milliseconds to the next try where the store cannot be written. */
const unwritableDelay = 1_000;

/** Such as ENOENT. While the store cannot be written, those follow from it. */
const isOfSystem = (error: unknown): boolean => error instanceof Error && "syscall" in error;

interface RetryingNeeds {
  logger: Logger;
  writes: Pick<WriteWatch, "failed" | "isFailing">;
  pace?: RetryPace | undefined;
}

/** `tryAgain` is called when another try is due. */
export const createRetrying = (tryAgain: () => void, { logger, writes, pace = retryPace }: RetryingNeeds): Retrying => {
  let stopped = false;
  let problem: string | undefined;
  let delay = pace.first;
  let retry: NodeJS.Timeout | undefined;
  const isStopped = (): boolean => stopped;

  const cancelRetry = (): void => {
    clearTimeout(retry);
    retry = undefined;
  };

  const retryIn = (milliseconds: number): void => {
    retry = setTimeout(() => {
      retry = undefined;
      tryAgain();
    }, milliseconds);
    retry.unref();
  };

  const scheduleRetry = (): void => {
    retryIn(delay);
    delay = Math.min(delay * 2, pace.last);
  };

  return {
    attempt: async (work) => {
      if (stopped) return;
      try {
        if (!(await work())) return;
        problem = undefined;
        delay = pace.first;
        cancelRetry();
      } catch (error) {
        // A try that is due already stands: however many blocks fail until then, they fail for one reason.
        if (isStopped() || retry !== undefined) return;
        // Said elsewhere, once. There may be room again at any time.
        if (isUnwritable(error)) writes.failed("blocks", error);
        if (isUnwritable(error) || (isOfSystem(error) && writes.isFailing("blocks"))) {
          problem = undefined;
          return retryIn(unwritableDelay);
        }
        const message = messageOf(error);
        const told = `the chain cannot be followed: ${message}; next try in ${delay / 1000} s`;
        // A block that is not well formed will not be in a moment.
        const mayPass = !(error instanceof PorticoError && error.code === "BLOCK_INVALID") || problem === message;
        if (delay < pace.patience && mayPass) logger.debug(told);
        else {
          problem = message;
          logger.error(told);
        }
        scheduleRetry();
      }
    },
    isDue: () => retry !== undefined,
    problem: () => problem,
    stop: () => {
      stopped = true;
      cancelRetry();
    },
  };
};
