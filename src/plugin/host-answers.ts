import type { MaybePromise } from "../../types/chain-adapter.js";
import type { Logger } from "../../types/node-context.js";
import { isPromised } from "../async/maybe-promise.js";
import { HostGivenUp, PorticoError } from "../errors.js";

/** What a host's own chain is asked, and owes: it is waited for as long as the node runs, but not as long as it likes once the node closes. */
export interface HostAnswers {
  /**
   * Asks, and waits. `late` is handed an answer that comes after it was given up.
   * @throws HostGivenUp
   */
  ask<T>(call: () => MaybePromise<T>, late?: (answer: T) => void): MaybePromise<T>;
  /**
   * The same for a request, which waits no longer than `hostTimeout`.
   * @throws PorticoError HOST_SILENT; HostGivenUp
   */
  askInTime: HostAnswers["ask"];
  /** Asks the chain to stop. Resolves when it has, or has taken too long. */
  end(stop: () => MaybePromise<void>): Promise<void>;
  /** The node closes: from now on, answers may take 2 s in all, or `stopTimeout` if that is less. */
  closing(): void;
  /** The node has closed: nobody waits any more. */
  closed(): void;
}

/** Milliseconds that answers may take in all once the node closes. */
const lastPatience = 2_000;

/** Resolves to whether something ended in time. */
const inTime = async (ending: Promise<void>, milliseconds: number): Promise<boolean> => {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<false>((resolve) => (timer = setTimeout(resolve, milliseconds, false)));
  return Promise.race([ending.then(() => true), timeout]).finally(() => clearTimeout(timer));
};

const silent = (patience: number): PorticoError => new PorticoError("HOST_SILENT", `The node's chain did not answer within ${patience / 1000} s.`);

/** Counts only the time in which something is owed: a host that answers does not pay for targets of webhooks that do not. */
const createCountdown = (isOver: () => void) => {
  /** Milliseconds; undefined: as long as it takes. */
  let left: number | undefined;
  let waiting: { since: number; timer: NodeJS.Timeout } | undefined;

  const pause = (): void => {
    if (waiting === undefined) return;
    clearTimeout(waiting.timer);
    if (left !== undefined) left = Math.max(0, left - (performance.now() - waiting.since));
    waiting = undefined;
  };

  return {
    pause,
    /** Goes on with what is left, if it is not under way. */
    run: (): void => {
      if (left !== undefined) waiting ??= { since: performance.now(), timer: setTimeout(isOver, left) };
    },
    set: (milliseconds: number | undefined): void => {
      pause();
      left = milliseconds;
    },
  };
};

type Countdown = ReturnType<typeof createCountdown>;

/** Answers that are waited for. */
const createOwed = (countdown: Pick<Countdown, "run" | "pause">) => {
  /** Gives them up, one by one. */
  const owed = new Set<() => void>();

  return {
    get size() {
      return owed.size;
    },
    giveUp: (): void => {
      const all = [...owed];
      owed.clear();
      all.forEach((one) => one());
    },
    /** `patience`: milliseconds; undefined: as long as it takes. */
    wait: <T>(answer: Promise<T>, late: ((answer: T) => void) | undefined, patience: number | undefined): Promise<T> =>
      new Promise((resolve, reject) => {
        const abandon = (): void => {
          clearTimeout(timer);
          reject(new HostGivenUp());
        };
        const settled = (settle: () => void, missed?: () => void): void => {
          clearTimeout(timer);
          if (!owed.delete(abandon)) return missed?.();
          if (owed.size === 0) countdown.pause();
          settle();
        };
        const timer = patience === undefined ? undefined : setTimeout(() => settled(() => reject(silent(patience))), patience);
        owed.add(abandon);
        countdown.run();
        answer.then(
          (value) => settled(() => resolve(value), () => late?.(value)),
          (error: unknown) => settled(() => reject(error instanceof Error ? error : new Error(String(error)))),
        );
      }),
  };
};

interface HostAnswersNeeds {
  /** Milliseconds. */
  stopTimeout: number;
  /** Milliseconds that an answer may take for which a request waits. */
  hostTimeout: number;
  logger: Logger;
}

export const createHostAnswers = ({ stopTimeout, hostTimeout, logger }: HostAnswersNeeds): HostAnswers => {
  /** While the node closes: whether answers have taken too long, and whether the log was told. */
  let [isOver, wasTold] = [false, false];

  const tell = (what: string): void => {
    if (!wasTold) logger.warn(`stopping goes on without the host's chain, which has not ${what}`);
    wasTold = true;
  };

  const countdown = createCountdown(() => {
    isOver = true;
    countdown.set(undefined);
    tell(`answered ${owed.size === 1 ? "one call" : `${owed.size} calls`}: at the next start, webhooks, events and the lake go on from where they are`);
    owed.giveUp();
  });
  const owed = createOwed(countdown);

  const askWithin =
    (patience: number | undefined): HostAnswers["ask"] =>
    (call, late) => {
      if (isOver) throw new HostGivenUp();
      const answer = call();
      return isPromised(answer) ? owed.wait(Promise.resolve(answer), late, patience) : answer;
    };

  const enter = (patience: number | undefined): void => {
    [isOver, wasTold] = [false, false];
    countdown.set(patience);
  };

  return {
    ask: askWithin(undefined),
    askInTime: askWithin(hostTimeout),
    end: async (stop) => {
      // It may have much to write.
      if (!(await inTime(Promise.resolve(stop()), Math.max(stopTimeout, lastPatience)))) tell("stopped");
    },
    closing: () => {
      enter(Math.min(stopTimeout, lastPatience));
      if (owed.size > 0) countdown.run();
    },
    closed: () => {
      enter(undefined);
      owed.giveUp();
    },
  };
};
