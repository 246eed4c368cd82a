import { setImmediate as nextTurn } from "node:timers/promises";
import type { Logger } from "../../../types/node-context.js";
import { logFailure } from "../log-failure.js";
import type { After } from "../timekeeper.js";

/** Milliseconds until reading is tried again after it failed. */
const retryDelay = 1_000;

export interface RoundsNeeds {
  after: After;
  logger: Logger;
}

/** Does rounds of work, again for as long as there was some or it is woken meanwhile; after a failure, in a moment. */
export const createRounds = ({ after, logger }: RoundsNeeds, isRunning: () => boolean, round: () => Promise<boolean>) => {
  let going: Promise<void> | undefined;
  let again = false;
  let cancelRetry: (() => void) | undefined;

  const failed = (error: unknown): void => {
    if (!isRunning()) return;
    logFailure(logger, "the chain cannot be read for them", error);
    cancelRetry?.();
    cancelRetry = after(retryDelay, () => {
      cancelRetry = undefined;
      wake();
    });
  };

  const run = async (): Promise<void> => {
    while (again && isRunning()) {
      again = false;
      if (await round()) again = true;
    }
  };

  const wake = (): void => {
    if (!isRunning()) return;
    again = true;
    // In another turn: of a webhook that has just been written, all is read again, and it may be large.
    going ??= nextTurn()
      .then(run)
      .catch(failed)
      .finally(() => {
        going = undefined;
        if (again && cancelRetry === undefined) wake();
      });
  };

  return { failed, wake, going: () => going, stop: (): void => cancelRetry?.() };
};
