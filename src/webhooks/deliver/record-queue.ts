import { logFailure } from "../log-failure.js";
import type { Timekeeper } from "../timekeeper.js";
import { type Ended, type Now, type Settled, settleAll, type SettleNeeds, type SettleRules } from "./record-attempt.js";
import type { Clock, Logger } from "../../../types/node-context.js";

/** Records the outcomes of attempts: one transaction after another, each with all that have ended since the one before. */
export interface Settling {
  /** `written` is called when the outcome is written. */
  add(ended: Ended, written: () => void): void;
  /** How many are not written yet. */
  count(): number;
  /** Writes what could not be written before. */
  tryAgain(): void;
  /** Resolves when everything is written, or cannot be. */
  end(): Promise<void>;
}

interface Entry {
  ended: Ended;
  written: () => void;
}

const nowOf = ({ clock, time }: { clock: Clock; time: Timekeeper }): Now => ({ passed: time.passed(), schedule: time.schedule(), wall: clock.now() });

export const createSettling = (
  rules: SettleRules,
  needs: SettleNeeds & { clock: Clock; time: Timekeeper; logger: Logger },
  /** Must not throw. */
  onSettled: (settled: readonly Settled[]) => void,
): Settling => {
  let entries: Entry[] = [];
  let writing: Promise<void> | undefined;
  let underWay = 0;

  const writeBatch = async (): Promise<boolean> => {
    const batch = entries;
    entries = [];
    underWay = batch.length;
    let settled: Settled[];
    try {
      settled = await settleAll(batch.map(({ ended }) => ended), nowOf(needs), rules, needs);
    } catch (error) {
      // Nothing is let go of before it is written, so that it is not sent again meanwhile.
      entries = [...batch, ...entries];
      underWay = 0;
      logFailure(needs.logger, "the outcomes of deliveries cannot be written", error);
      return false;
    }
    // The batch is written, whatever fails from here on, and must not be written again.
    underWay = 0;
    for (const { written } of batch) written();
    onSettled(settled);
    return true;
  };

  const writeAll = async (): Promise<void> => {
    let going = true;
    while (going && entries.length > 0) going = await writeBatch();
    writing = undefined;
  };

  const begin = (): void => {
    if (entries.length > 0) writing ??= writeAll();
  };

  return {
    add: (ended, written) => {
      entries.push({ ended, written });
      begin();
    },
    count: () => entries.length + underWay,
    tryAgain: begin,
    end: async () => {
      begin();
      await writing;
    },
  };
};
