import type { ChainAdapter, ChainChanges, MaybePromise } from "../../types/chain-adapter.js";
import { andThen, isPromised } from "../async/maybe-promise.js";
import { messageOf } from "../errors.js";
import type { Shared } from "./webhooks.js";

interface Releasable {
  release?(): unknown;
}

/** Gives a state of the host's whose `release` never throws, nor rejects: what it has answered is right all the same. */
const createGuard = (failed: (error: unknown) => void) => {
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
    if (state?.release === undefined) return state;
    const known = guarded.get(state);
    if (known !== undefined) return known as State;
    const release = releaseOf(state);
    // It may be of a class with private members, or frozen.
    const guard = new Proxy<State>({} as State, {
      get: (_, name): unknown => {
        if (name === "release") return release;
        const value: unknown = Reflect.get(state, name, state);
        return typeof value === "function" ? (value.bind(state) as unknown) : value;
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

/** What is read of a host's own chain. */
export const guardHostChain = (chain: ChainAdapter, needs: Pick<Shared, "logger" | "clock">): Pick<ChainAdapter, "supports" | "snapshot" | "snapshotAt" | "changes"> => {
  const guard = createGuard(createTold(needs));
  const { supports, snapshotAt, changes } = chain;
  const opened = <State extends Releasable>(state: MaybePromise<State | undefined>): MaybePromise<State | undefined> => andThen(state, guard<State>);
  const guardedChanges: ChainChanges | undefined = changes && { view: () => opened(changes.view()), watch: (changed) => changes.watch(changed) };
  return {
    ...(supports === undefined ? {} : { supports }),
    snapshot: (bounds) => opened(chain.snapshot(bounds)),
    ...(snapshotAt === undefined ? {} : { snapshotAt: (height, bounds) => opened(snapshotAt.call(chain, height, bounds)) }),
    ...(guardedChanges === undefined ? {} : { changes: guardedChanges }),
  };
};
