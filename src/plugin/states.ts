import type { ChainSnapshot, MaybePromise } from "../../types/chain-adapter.js";
import type { Logger } from "../../types/node-context.js";
import { openAtHeight, orUndo } from "../api/at-height.js";
import { type ApiNeeds, type ApiState, createApiState } from "../api/state.js";
import { andThen } from "../async/maybe-promise.js";
import { finalHeightAt } from "../chain/finality.js";
import type { FullClock } from "../clock.js";
import { HostGivenUp, messageOf } from "../errors.js";
import type { Options } from "../options/options.js";
import type { Chain } from "./chain.js";
import type { Replica } from "./replica.js";

export interface StatesNeeds extends Pick<ApiNeeds, "rules" | "host" | "openWebhooks"> {
  clock: FullClock;
  chain: Chain;
  replica: Replica | undefined;
  options: Readonly<Options>;
  logger: Logger;
}

/** Milliseconds between two lines of the log that say the same. */
const toldEvery = 60_000;

/** The states of the chain from which requests are answered. */
export const createStates = ({ chain, replica, options, logger, ...given }: StatesNeeds) => {
  /** State of a host's own chain when it was last asked. */
  const seen: { height: number; problem?: string | undefined } = { height: 0 };

  /** What the log was told last of why the chain cannot be read, and when: every request meets it. */
  const told = { message: "", at: -Infinity };

  const unreadable = (error: unknown): undefined => {
    if (error instanceof HostGivenUp) return;
    seen.problem = "The chain cannot be read.";
    const [message, now] = [messageOf(error), given.clock.monotonic()];
    if (message === told.message && now - told.at < toldEvery) return;
    Object.assign(told, { message, at: now });
    logger.error(`the chain cannot be read: ${message}`);
  };

  const saw = (snapshot: ChainSnapshot | undefined): ChainSnapshot | undefined => {
    seen.height = snapshot?.tip.height ?? 0;
    seen.problem = undefined;
    return snapshot;
  };

  const bounds = { searchRows: options.searchRows };

  /** Undefined while there is no state to read, or if reading it fails. */
  const openSnapshot = (): MaybePromise<ChainSnapshot | undefined> => {
    try {
      const opened = andThen(chain.snapshot(bounds), saw);
      return opened instanceof Promise ? opened.catch(unreadable) : opened;
    } catch (error) {
      return unreadable(error);
    }
  };

  const snapshotAt = chain.snapshotAt && ((height: number) => chain.snapshotAt?.(height, bounds));
  const stateNeeds: ApiNeeds = { ...given, supports: chain.supports ?? {}, snapshotAt };

  const stateOf = (snapshot: ChainSnapshot | undefined): ApiState => createApiState(snapshot, stateNeeds);

  const finalHeight = (tip: number): number => finalHeightAt(tip, given.rules.milestones, options.finality);

  const openState = (at?: string): MaybePromise<ApiState> => andThen(at === undefined ? undefined : replica?.patience.reach(at), () => openStateNow(at));

  const openStateNow = (at?: string): MaybePromise<ApiState> =>
    andThen(openSnapshot(), (snapshot) => {
      if (at === undefined || snapshot === undefined) return stateOf(snapshot);
      return orUndo(
        () => andThen(openAtHeight(at, snapshot, { adapter: chain, bounds, finalHeight }), (past) => createApiState(snapshot, stateNeeds, past)),
        () => snapshot.release?.(),
      );
    });

  return { seen, unreadable, openSnapshot, snapshotAt, openState, finalHeight, ofNew: (open: (wanted: typeof bounds) => ChainSnapshot): ApiState => stateOf(open(bounds)) };
};
