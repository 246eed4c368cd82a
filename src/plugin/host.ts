import type { ChainAdapter, MaybePromise } from "../../types/chain-adapter.js";
import { createSharedAbort } from "../async/close-all.js";
import { deadline, Overdue } from "../async/deadline.js";
import { andThen, isPromised } from "../async/maybe-promise.js";
import { HostGivenUp, PorticoError } from "../errors.js";
import { isObject } from "../options/checks.js";
import { createErrorLog } from "../operate/problems.js";
import type { Shared } from "./webhooks.js";

// Every call of the host goes through a door. It limits the time of each answer. Once the node is stopping and this part has answered
// nothing for 2 s, open calls reject and new ones are refused.

/** Milliseconds for which a stopping node waits for the next answer. */
const lastPatience = 2_000;

export interface DoorNeeds {
  /** Aborted when the node stops; another signal after the next start. */
  stopping(): AbortSignal;
  /** Milliseconds that a stopping node waits for open requests. */
  stopTimeout: number;
  /** Is told how many answers are owed when the part is given up. */
  givenUp?(owed: number): void;
}

interface Door {
  /**
   * Asks. `within`: milliseconds that the answer may take, Infinity for as long as it takes. `late` is handed an answer that came too late.
   * @throws PorticoError HOST_SILENT; HostGivenUp
   */
  ask<T>(call: () => MaybePromise<T>, within: number, late?: (answer: T) => void): MaybePromise<T>;
  /** Lets go of what is still owed: nobody waits for it any more. */
  close(): void;
}

/** What is asked between a start and the next. */
interface Run {
  readonly stopping: AbortSignal;
  /** Aborted when the part is given up. */
  readonly over: AbortController;
  owed: number;
  timer: NodeJS.Timeout | undefined;
}

/** `what`: the part, as the message of HOST_SILENT calls it. */
export const createDoor = (what: string, { stopping, stopTimeout, givenUp }: DoorNeeds): Door => {
  let last: Run | undefined;

  const watch = (run: Run): void => {
    if (!run.stopping.aborted || run.over.signal.aborted || run.owed === 0) return;
    run.timer ??= setTimeout(() => {
      givenUp?.(run.owed);
      run.over.abort(new HostGivenUp());
    }, Math.min(stopTimeout, lastPatience));
  };

  const current = (): Run => {
    const signal = stopping();
    if (last?.stopping === signal) return last;
    const run: Run = (last = { stopping: signal, over: createSharedAbort(), owed: 0, timer: undefined });
    signal.addEventListener("abort", () => watch(run), { once: true });
    return run;
  };

  const wait = async <T>(run: Run, answer: Promise<T>, within: number, late: ((answer: T) => void) | undefined): Promise<T> => {
    run.owed++;
    watch(run);
    try {
      return await deadline(answer, within, run.over.signal);
    } catch (error) {
      if (!(error instanceof Overdue || error instanceof HostGivenUp)) throw error;
      answer.then(late, () => undefined);
      if (error instanceof HostGivenUp) throw error;
      throw new PorticoError("HOST_SILENT", `The node's ${what} did not answer within ${within / 1000} s.`);
    } finally {
      run.owed--;
      clearTimeout(run.timer);
      run.timer = undefined;
      watch(run);
    }
  };

  return {
    ask: (call, within, late) => {
      const run = current();
      if (run.over.signal.aborted) throw new HostGivenUp();
      const answer = call();
      return isPromised(answer) ? wait(run, Promise.resolve(answer), within, late) : answer;
    },
    close: () => {
      clearTimeout(last?.timer);
      last?.over.abort(new HostGivenUp());
      last = undefined;
    },
  };
};

interface Releasable {
  release?(): unknown;
}

/**
 * Opens states of the host's whose answers come through its door, and whose `release` neither throws nor rejects: what a state has answered
 * is right all the same. A state that comes too late is released.
 */
const createStateOpener = (door: Door, within: number, failed: (error: unknown) => void) => {
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

  const guard = <State extends Releasable>(state: State | undefined): State | undefined => {
    // A late answer has nobody to tell that it is none.
    if (!isObject(state)) return state;
    const known = guarded.get(state);
    if (known !== undefined) return known as State;
    const release = releaseOf(state);
    // It may be of a class with private members, or frozen.
    const made = new Proxy<State>({} as State, {
      get: (_, name): unknown => {
        if (name === "release") return release;
        const value: unknown = Reflect.get(state, name, state);
        if (typeof value !== "function") return value;
        return (...args: unknown[]): unknown => door.ask(() => Reflect.apply(value, state, args) as unknown, within);
      },
      has: (_, name) => name in state,
    });
    guarded.set(state, made);
    return made;
  };

  return <State extends Releasable>(open: () => MaybePromise<State | undefined>): MaybePromise<State | undefined> =>
    andThen(door.ask(open, within, (late) => guard(late)?.release?.()), guard<State>);
};

type ReadChain = Pick<ChainAdapter, "supports" | "snapshot" | "snapshotAt" | "changes">;

const readThrough = (chain: ChainAdapter, opened: ReturnType<typeof createStateOpener>): ReadChain => {
  const { supports, snapshotAt, changes } = chain;
  return {
    ...(supports === undefined ? {} : { supports }),
    snapshot: (bounds) => opened(() => chain.snapshot(bounds)),
    ...(snapshotAt === undefined ? {} : { snapshotAt: (height, bounds) => opened(() => snapshotAt.call(chain, height, bounds)) }),
    ...(changes === undefined ? {} : { changes: { view: () => opened(() => changes.view()), watch: (changed) => changes.watch(changed) } }),
  };
};

/** A host's own chain, as it is read: waited for as long as the node runs, but not as long as it likes once the node stops. */
export interface HostChain extends ReadChain {
  /** The same for requests, which wait no longer than `hostTimeout` for each answer. @throws PorticoError HOST_SILENT */
  readonly inTime: ReadChain;
  /** Resolves when it has started, or is given up. */
  start(): Promise<void>;
  /** Resolves when it has stopped, or has taken too long. */
  stop(): Promise<void>;
  /** The node has closed: nobody waits any more. */
  closed(): void;
}

interface HostNeeds extends Pick<Shared, "logger" | "clock" | "options"> {
  stopping(): AbortSignal;
}

export const createHostChain = (chain: ChainAdapter, { logger, clock, options, stopping }: HostNeeds): HostChain => {
  const { hostTimeout, stopTimeout } = options;
  const tell = (what: string): void => logger.warn(`stopping without the host's chain, which has not ${what}`);
  const door = createDoor("chain", {
    stopping,
    stopTimeout,
    givenUp: (owed) => {
      const calls = owed === 1 ? "one call" : `${owed} calls`;
      tell(`answered ${calls}; webhooks, events and the lake continue from their positions at the next start`);
    },
  });
  const failed = createErrorLog("a state of the host's chain could not be released", { logger, clock });
  return {
    ...readThrough(chain, createStateOpener(door, Infinity, failed)),
    inTime: readThrough(chain, createStateOpener(door, hostTimeout, failed)),
    start: async () => {
      try {
        await door.ask(() => chain.start?.(), Infinity);
      } catch (error) {
        if (!(error instanceof HostGivenUp)) throw error;
      }
    },
    stop: async () => {
      try {
        // It may have much to write.
        await deadline(Promise.resolve(chain.stop?.()), Math.max(stopTimeout, lastPatience));
      } catch (error) {
        if (!(error instanceof Overdue)) throw error;
        tell("stopped");
      }
    },
    closed: door.close,
  };
};
