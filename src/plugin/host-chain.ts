import type { ChainAdapter, MaybePromise } from "../../types/chain-adapter.js";
import { andThen, isPromised } from "../async/maybe-promise.js";
import { HostGivenUp, messageOf, PorticoError } from "../errors.js";
import type { Shared } from "./webhooks.js";
import type { Logger } from "../../types/node-context.js";

/** What a host's own chain is asked, and owes: it is waited for as long as the node runs, but not as long as it likes once the node closes. */
interface HostAnswers {
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

const createHostAnswers = ({ stopTimeout, hostTimeout, logger }: HostAnswersNeeds): HostAnswers => {
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

interface Releasable {
  release?(): unknown;
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/**
 * Gives a state of the host's whose answers are given up once the node closes and they take too long, and whose `release` never throws, nor
 * rejects: what it has answered is right all the same.
 */
const createGuard = (ask: HostAnswers["ask"], failed: (error: unknown) => void) => {
  /** A host may hand out one state several times. */
  const guarded = new WeakMap<Releasable, Releasable>();

  const releaseOf = (state: Releasable) => (): void => {
    try {
      const released = state.release?.();
      if (isPromised(released)) Promise.resolve(released).catch(failed);
    } catch (error) {
      failed(error);
    }
  };

  return <State extends Releasable>(state: State | undefined): State | undefined => {
    // A late answer has nobody to tell that it is none.
    if (!isObject(state)) return state;
    const known = guarded.get(state);
    if (known !== undefined) return known as State;
    const release = releaseOf(state);
    // It may be of a class with private members, or frozen.
    const guard = new Proxy<State>({} as State, {
      get: (_, name): unknown => {
        if (name === "release") return release;
        const value: unknown = Reflect.get(state, name, state);
        return typeof value === "function" ? (...args: unknown[]): unknown => ask(() => Reflect.apply(value, state, args) as unknown) : value;
      },
      has: (_, name) => name in state,
    });
    guarded.set(state, guard);
    return guard;
  };
};

/** Milliseconds between two lines of the log: every request may meet it. */
const toldEvery = 60_000;

const createErrorLog = ({ logger, clock }: Pick<Shared, "logger" | "clock">) => {
  let at = -Infinity;
  return (error: unknown): void => {
    const now = clock.monotonic();
    if (now - at < toldEvery) return;
    at = now;
    logger.error(`a state of the host's chain could not be released: ${messageOf(error)}`);
  };
};

/** A host's own chain, as it is read. */
export interface HostChain extends Pick<ChainAdapter, "supports" | "snapshot" | "snapshotAt" | "changes"> {
  /** Resolves when it has started, or is given up. */
  start(): Promise<void>;
  /** The same for requests, which wait no longer than `hostTimeout` for each answer. @throws PorticoError HOST_SILENT */
  readonly inTime: Pick<ChainAdapter, "supports" | "snapshot" | "snapshotAt" | "changes">;
  /** Resolves when it has stopped, or has taken too long. */
  stop(): Promise<void>;
  closing: HostAnswers["closing"];
  closed: HostAnswers["closed"];
}

/** Starting and stopping, whatever the host does. */
const createHostLife = (chain: ChainAdapter, { ask, end, closing, closed }: HostAnswers): Pick<HostChain, "start" | "stop" | "closing" | "closed"> => ({
  start: async () => {
    try {
      await ask(() => chain.start?.());
    } catch (error) {
      if (!(error instanceof HostGivenUp)) throw error;
    }
  },
  stop: () => end(() => chain.stop?.()),
  closing,
  closed,
});

/** Opens states by one way of asking. What comes too late is released. */
const createStateOpener = (ask: HostAnswers["ask"], failed: (error: unknown) => void) => {
  const guard = createGuard(ask, failed);
  return <State extends Releasable>(open: () => MaybePromise<State | undefined>): MaybePromise<State | undefined> => andThen(ask(open, (late) => guard(late)?.release?.()), guard<State>);
};

const statesOf = (chain: ChainAdapter, opened: ReturnType<typeof createStateOpener>): HostChain["inTime"] => {
  const { supports, snapshotAt, changes } = chain;
  return {
    ...(supports === undefined ? {} : { supports }),
    snapshot: (bounds) => opened(() => chain.snapshot(bounds)),
    ...(snapshotAt === undefined ? {} : { snapshotAt: (height, bounds) => opened(() => snapshotAt.call(chain, height, bounds)) }),
    ...(changes === undefined ? {} : { changes: { view: () => opened(() => changes.view()), watch: (changed) => changes.watch(changed) } }),
  };
};

export const guardHostChain = (chain: ChainAdapter, { logger, clock, options }: Pick<Shared, "logger" | "clock" | "options">): HostChain => {
  const answers = createHostAnswers({ ...options, logger });
  const failed = createErrorLog({ logger, clock });
  return {
    ...statesOf(chain, createStateOpener(answers.ask, failed)),
    inTime: statesOf(chain, createStateOpener(answers.askInTime, failed)),
    ...createHostLife(chain, answers),
  };
};
