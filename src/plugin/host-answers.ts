import type { MaybePromise } from "../../types/chain-adapter.js";
import type { Logger } from "../../types/node-context.js";
import { isPromised } from "../async/maybe-promise.js";
import { HostGivenUp } from "../errors.js";

/** What a host's own chain is asked, and owes: it is waited for as long as the node runs, but not as long as it likes once the node closes. */
export interface HostAnswers {
  /**
   * Asks, and waits. `late` is handed an answer that comes after it was given up.
   * @throws HostGivenUp
   */
  ask<T>(call: () => MaybePromise<T>, late?: (answer: T) => void): MaybePromise<T>;
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

export const createHostAnswers = ({ stopTimeout, logger }: { stopTimeout: number; logger: Logger }): HostAnswers => {
  /** Gives up what is owed, one by one. */
  const owed = new Set<() => void>();
  /** While the node closes: whether answers have taken too long, and whether the log was told. */
  let [isOver, wasTold] = [false, false];

  const tell = (what: string): void => {
    if (!wasTold) logger.warn(`stopping goes on without the host's chain, which has not ${what}`);
    wasTold = true;
  };

  const giveUp = (): void => {
    const all = [...owed];
    owed.clear();
    all.forEach((one) => one());
  };

  const countdown = createCountdown(() => {
    isOver = true;
    countdown.set(undefined);
    tell(`answered ${owed.size === 1 ? "one call" : `${owed.size} calls`}: at the next start, webhooks, events and the lake go on from where they are`);
    giveUp();
  });

  const wait = <T>(answer: Promise<T>, late?: (answer: T) => void): Promise<T> =>
    new Promise((resolve, reject) => {
      const abandon = (): void => reject(new HostGivenUp());
      owed.add(abandon);
      countdown.run();
      const answered = (settle: () => void, missed?: () => void): void => {
        if (!owed.delete(abandon)) return missed?.();
        if (owed.size === 0) countdown.pause();
        settle();
      };
      answer.then(
        (value) => answered(() => resolve(value), () => late?.(value)),
        (error: unknown) => answered(() => reject(error instanceof Error ? error : new Error(String(error)))),
      );
    });

  const enter = (patience: number | undefined): void => {
    [isOver, wasTold] = [false, false];
    countdown.set(patience);
  };

  return {
    ask: (call, late) => {
      if (isOver) throw new HostGivenUp();
      const answer = call();
      return isPromised(answer) ? wait(Promise.resolve(answer), late) : answer;
    },
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
      giveUp();
    },
  };
};
