import type { ChainAdapter, MaybePromise } from "../../types/chain-adapter.js";
import { andThen, isPromised } from "../async/maybe-promise.js";
import { HostGivenUp, messageOf } from "../errors.js";
import { createHostAnswers, type HostAnswers } from "./host-answers.js";
import type { Shared } from "./webhooks.js";

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

const createTold = ({ logger, clock }: Pick<Shared, "logger" | "clock">) => {
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
const createOpened = (ask: HostAnswers["ask"], failed: (error: unknown) => void) => {
  const guard = createGuard(ask, failed);
  return <State extends Releasable>(open: () => MaybePromise<State | undefined>): MaybePromise<State | undefined> => andThen(ask(open, (late) => guard(late)?.release?.()), guard<State>);
};

const statesOf = (chain: ChainAdapter, opened: ReturnType<typeof createOpened>): HostChain["inTime"] => {
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
  const failed = createTold({ logger, clock });
  return {
    ...statesOf(chain, createOpened(answers.ask, failed)),
    inTime: statesOf(chain, createOpened(answers.askInTime, failed)),
    ...createHostLife(chain, answers),
  };
};
