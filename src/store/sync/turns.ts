import type { Logger } from "../../../types/node-context.js";
import { messageOf, PorticoError } from "../../errors.js";
import type { Store } from "../state/store.js";
import type { FillProgress } from "../write/account-indexes.js";
import { isUnwritable, type WriteWatch } from "../lmdb/environment.js";

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

/** One thing at a time, in order of arrival. */
export const createTurns = () => {
  let queue: Promise<void> = Promise.resolve();
  /** How many things wait in it. */
  let waiting = 0;

  const add = (work: () => Promise<void>): void => {
    waiting++;
    queue = queue.then(work).finally(() => waiting--);
  };

  return {
    add,
    /** For work that is nobody's concern: it makes others wait for their turn, but does not count as under way. */
    aside: (work: () => Promise<void>): void => void (queue = queue.then(work)),
    /** For a caller that waits for the work and is told if it fails. */
    done: (work: () => Promise<void>): Promise<void> => {
      const done = queue.then(work);
      add(() => done.catch(() => undefined));
      return done;
    },
    isIdle: () => waiting === 0,
    /** Resolves when all that is in it now is done. */
    last: () => queue,
    settled: async (): Promise<void> => {
      let last: Promise<void> | undefined;
      while (last !== queue) {
        last = queue;
        await last;
      }
    },
  };
};

const percentOf = ({ filled, total }: FillProgress): number => Math.min(100, Math.floor((100 * filled) / Math.max(1, total)));

export const fillingText = (progress: FillProgress | undefined): string | undefined =>
  progress && `an index of wallets is being filled (${percentOf(progress)} %): until then lists by it may be refused`;

/** Logs the beginning, every tenth and the end of a filling, and each cause of a failure once. */
const createFillLog = (logger: Logger) => {
  let [tenth, failure] = [undefined as number | undefined, undefined as string | undefined];
  return {
    progress: (progress: FillProgress | undefined): void => {
      if (progress === undefined) failure = undefined;
      const next = progress && Math.floor(percentOf(progress) / 10);
      if (next === tenth) return;
      if (progress === undefined) logger.info("the index of wallets is filled");
      else logger.info(`an index of wallets is being filled: ${percentOf(progress)} % of ${progress.total} wallets`);
      tenth = next;
    },
    failed: (error: unknown): void => {
      const message = messageOf(error);
      // That the store cannot be written is said elsewhere.
      if (message !== failure && !isUnwritable(error)) logger.warn(`an index of wallets cannot be filled at present: ${message}`);
      failure = message;
    },
  };
};

/** Fills the sets that the store lacks, a part at a time, between the host's blocks. What fails is tried again when called again. */
export const createFilling = (
  store: Store,
  turns: Pick<ReturnType<typeof createTurns>, "aside">,
  { logger, isStopped }: { logger: Logger; isStopped(): boolean },
) => {
  const log = createFillLog(logger);
  let isDue = false;
  const fillSome = async (): Promise<void> => {
    isDue = false;
    if (isStopped() || !store.isComplete()) return;
    try {
      const progress = store.filling();
      log.progress(progress);
      // Mostly: this is asked after every block.
      if (progress === undefined) return;
      if (await store.fillSets()) goOn();
      log.progress(store.filling());
    } catch (error) {
      log.failed(error);
    }
  };
  const goOn = (): void => {
    if (isDue) return;
    isDue = true;
    setImmediate(() => turns.aside(fillSome));
  };
  return goOn;
};
