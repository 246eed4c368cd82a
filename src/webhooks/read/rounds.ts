import { setImmediate as nextTurn } from "node:timers/promises";
import type { After } from "../../async/clock.js";
import type { Standstill } from "../failures.js";

/** Milliseconds until reading is tried again after it failed. */
const retryDelay = 1_000;

const what = "the chain cannot be read for webhooks";

interface RoundsNeeds {
  after: After;
  standstill: Standstill;
}

interface RoundsOf {
  isRunning(): boolean;
  round(): Promise<boolean>;
  /** Whether work of earlier rounds is under way, which may still fail; it wakes the rounds when it has succeeded. */
  isBusy(): boolean;
}

/** Does rounds of work, again for as long as there was some or it is woken meanwhile; after a failure, in a moment. */
export const createRounds = ({ after, standstill }: RoundsNeeds, { isRunning, round, isBusy }: RoundsOf) => {
  let going: Promise<void> | undefined;
  let again = false;
  let cancelRetry: (() => void) | undefined;
  let failures = 0;

  const failed = (error: unknown): void => {
    if (!isRunning()) return;
    failures++;
    standstill.failed(what, error);
    cancelRetry?.();
    cancelRetry = after(retryDelay, () => {
      cancelRetry = undefined;
      wake();
    });
  };

  const run = async (): Promise<void> => {
    while (again && isRunning()) {
      again = false;
      const before = failures;
      if (await round()) again = true;
      if (failures === before && !isBusy()) standstill.succeeded(what);
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
