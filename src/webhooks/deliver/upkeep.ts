import { type FullClock, readingsOf } from "../../async/clock.js";
import type { Standstill } from "../log-failure.js";
import type { ReaderPositions } from "../read/positions.js";
import type { RecentEvents } from "../register/dry-run.js";
import type { WebhookStore } from "../rows/store.js";
import type { After, Timekeeper } from "../timekeeper.js";
import { isLongOver } from "./outcome.js";

export interface UpkeepOptions {
  deliveredRetention: number;
  deadRetention: number;
}

export interface UpkeepNeeds {
  store: WebhookStore;
  recent: RecentEvents;
  clock: FullClock;
  time: Timekeeper;
  after: After;
  standstill: Standstill;
  /** Where webhooks are that have moved without a match. */
  positions: Pick<ReaderPositions, "keep" | "hasMoved">;
}

/** Milliseconds between two rounds: with nothing left to remove, and with more of it. */
const interval = { idle: 1_000, busy: 20 };
/** Deliveries removed in one round: a few milliseconds of writing. */
const batchSize = 500;
/** Positions written in one transaction: with each block, all webhooks move. */
const keptTogether = 500;

const what = { trim: "old deliveries cannot be removed", write: "how far they are cannot be written" } as const;

/** Work in the background: removes what is past its retention, writes recent payloads, and keeps the time. Returns what ends it. */
export const startUpkeep = (
  { deliveredRetention, deadRetention }: UpkeepOptions,
  { store, recent, clock, time, after, standstill, positions }: UpkeepNeeds,
): (() => Promise<void>) => {
  const trim = (): number => {
    try {
      const passed = time.passed();
      const count = store.trim({ delivered: passed - deliveredRetention, dead: passed - deadRetention }, batchSize);
      standstill.succeeded(what.trim);
      return count;
    } catch (error) {
      standstill.failed(what.trim, error);
      return 0;
    }
  };

  const write = (most: number): boolean => {
    recent.flush();
    const now = readingsOf(clock);
    store.dropPauses((pause) => isLongOver(pause, now));
    time.keep();
    return positions.keep(most);
  };

  const keepRest = async (isMore: boolean): Promise<void> => {
    for (let more = isMore; more; more = await store.transactionSoon(() => positions.keep(keptTogether)));
  };

  let writing: Promise<void> | undefined;
  /** Whether the last writing failed: tried again with each round, so that the store is known to be writable again as soon as it is. */
  let isOwed = false;
  const writeSoon = (): void => {
    // Soon, not at once: that would make the whole process wait for the block that is being committed.
    if (!isOwed && !recent.hasNoted() && !positions.hasMoved() && !time.isStale()) return;
    isOwed = true;
    writing = store.transactionSoon(() => write(keptTogether)).then(keepRest).then(() => {
      isOwed = false;
      standstill.succeeded(what.write);
    }, (error: unknown) => standstill.failed(what.write, error));
  };
  const round = (): void => {
    writeSoon();
    cancel = after(trim() < batchSize ? interval.idle : interval.busy, round);
  };
  writeSoon();
  let cancel = after(interval.idle, round);
  return async () => {
    cancel();
    await writing;
    try {
      store.transaction(() => write(Infinity));
    } catch {
      // Lost, as recent payloads may be, and the last of the time.
    }
  };
};
