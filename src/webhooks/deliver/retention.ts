import type { Clock, Logger } from "../../../types/node-context.js";
import type { WebhookStore } from "../../../types/webhook-store.js";
import { messageOf } from "../../errors.js";
import type { RecentEvents } from "../scan/recent-events.js";
import type { After } from "../timers.js";

export interface UpkeepOptions {
  deliveredRetention: number;
  deadRetention: number;
}

export interface UpkeepNeeds {
  store: WebhookStore;
  recent: RecentEvents;
  clock: Clock;
  after: After;
  logger: Logger;
}

/** Milliseconds between two rounds: with nothing left to remove, and with more of it. */
const interval = { idle: 1_000, busy: 20 };
/** Deliveries removed in one round: a few milliseconds of writing. */
const batchSize = 500;

/** Work in the background: removes what is past its retention, and writes recent payloads. Returns what ends it. */
export const startUpkeep = (
  { deliveredRetention, deadRetention }: UpkeepOptions,
  { store, recent, clock, after, logger }: UpkeepNeeds,
): (() => Promise<void>) => {
  const failed = (error: unknown): void => logger.error(`webhooks: the store cannot be cleaned up: ${messageOf(error)}`);

  const trim = (): number => {
    try {
      const now = clock.now();
      return store.trim({ delivered: now - deliveredRetention, dead: now - deadRetention }, batchSize);
    } catch (error) {
      failed(error);
      return 0;
    }
  };

  let writing: Promise<void> | undefined;
  const round = (): void => {
    // Soon, not at once: that would make the whole process wait for the block that is being committed.
    if (recent.hasNoted()) writing = store.transactionSoon(recent.flush).catch(failed);
    cancel = after(trim() < batchSize ? interval.idle : interval.busy, round);
  };
  let cancel = after(interval.idle, round);
  return async () => {
    cancel();
    await writing;
    try {
      recent.flush();
    } catch {
      // Lost, as recent payloads may be.
    }
  };
};
