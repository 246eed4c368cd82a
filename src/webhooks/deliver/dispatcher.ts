import type { Logger } from "../../../types/node-context.js";
import type { DeliveryRow } from "../../../types/webhook-store.js";
import { type FullClock, readingsOf } from "../../async/clock.js";
import { logFailure } from "../log-failure.js";
import type { Sender } from "../send/http-sender.js";
import type { NodeKey } from "../send/signature.js";
import type { After } from "../timekeeper.js";
import { createAttempts } from "./attempt.js";
import { createLimit, createPlacing, monotonic } from "./lanes/concurrency.js";
import { createLanes, type Lane, type LaneRules, type Target, type Times, type UnderWay } from "./lanes/lanes.js";
import { createNotices, type NoticesNeeds } from "./lanes/notices.js";
import type { Payloads } from "./payloads.js";
import type { RecordNeeds, RecordRules } from "./health.js";
import { restOf } from "./outcome.js";
import { createRecords, type Records } from "./records.js";
import { createTake, createTargetQueue, slowShare } from "./lanes/take.js";

export interface DispatcherRules extends LaneRules, RecordRules {
  concurrency: number;
}

export interface DispatcherNeeds extends Pick<Lane, "isWithdrawn">, Pick<RecordNeeds, "onOutcome">, Pick<NoticesNeeds, "store" | "register" | "time" | "onSettled"> {
  payloads: Payloads;
  sender: Sender;
  clock: FullClock;
  after: After;
  random: () => number;
  logger: Logger;
  nodeKey: NodeKey | undefined;
}

/**
 * Makes the attempts: the one place from which anything is sent. What waits, waits in the store. Each attempt goes through the same steps:
 *
 *   take → send → record → next
 */
export interface Dispatcher {
  start(): void;
  /** Webhooks got something to deliver, or deliveries that they had were changed. */
  wake(webhookIds: Iterable<number>): void;
  /** Takes deliveries that have just been written, so that they need not be read. Their ids ascend, and are above all that were handed over before. */
  handOver(rows: readonly DeliveryRow[]): void;
  /** The register changed. */
  refresh(): void;
  /** Whether an attempt of a delivery is under way whose outcome the row does not have yet. */
  isUnderWay(row: Pick<DeliveryRow, "id" | "attemptCount">): boolean;
  /** Whether the target has taken a delivery that is under way; its outcome may wait to be recorded. */
  hasArrived(row: Pick<DeliveryRow, "id">): boolean;
  /** Marks the attempt that is under way of a delivery: the chain has taken back what it tells. */
  overtake(row: Pick<DeliveryRow, "id">): void;
  /** Sends nothing more. */
  rest(): void;
  /** After `rest`: gives what is under way `grace` milliseconds, then ends it: it is sent again at the next start. */
  stop(grace: number): Promise<void>;
}

/** Milliseconds between two looks, at the most: other processes may have brought work, and retries may have become due. */
const lookInterval = 1_000;
/** Attempts that have ended and are not yet recorded: while there are so many, nothing new is sent. */
const mostUnrecorded = 1_000;
/** Milliseconds of taking and sending before the event loop gets its turn. */
const turn = 2;

/** When the dispatcher looks for work. Nothing that fails in that reaches the host: the store is asked again at the next look. */
const createLoop = ({ time, after, logger }: DispatcherNeeds, { pump, look, nextDue }: { pump(): void; look(): void; nextDue(now: number): number }) => {
  let state: "idle" | "running" | "stopped" = "idle";
  let timer: { at: number; cancel(): void } | undefined;
  let soon: NodeJS.Immediate | undefined;

  const safely = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      logFailure(logger, "the store cannot be used", error);
    }
  };

  const lookNow = (): void => {
    // It may have been called before its time.
    timer?.cancel();
    timer = undefined;
    if (state !== "running") return;
    safely(look);
    const now = time.schedule();
    lookAt(Math.min(nextDue(now), now + lookInterval));
  };

  /** Schedules a look at that time, unless there is one before. */
  const lookAt = (at: number): void => {
    if (state !== "running" || (timer !== undefined && timer.at <= at)) return;
    timer?.cancel();
    timer = { at, cancel: after(Math.max(0, at - time.schedule()), lookNow) };
  };

  return {
    isRunning: () => state === "running",
    start: (): void => {
      state = "running";
      lookNow();
    },
    look: lookNow,
    lookAt,
    safely,
    pump: () => safely(pump),
    /** Soon, but not on the stack of whoever brought the work: that may be the host's own. */
    pumpSoon: (): void => {
      soon ??= setImmediate(() => {
        soon = undefined;
        safely(pump);
      });
    },
    stop: (): void => {
      state = "stopped";
      timer?.cancel();
    },
    forget: () => clearImmediate(soon),
  };
};

/** A target's pause outlives its lanes and the process. */
const pauseBefore = ({ store, clock, time }: DispatcherNeeds, url: string): Pick<Target, "pausedUntil" | "lastPause"> => {
  const pause = store.pause(url);
  if (pause === undefined) return { pausedUntil: 0, lastPause: 0 };
  return { pausedUntil: time.schedule() + restOf(pause, readingsOf(clock)), lastPause: pause.length };
};

const whatIsUnderWay = (underWay: UnderWay): Pick<Dispatcher, "isUnderWay" | "hasArrived" | "overtake"> => ({
  isUnderWay: ({ id, attemptCount }) => underWay.get(id)?.rows.some((row) => row.id === id && row.attemptCount === attemptCount) === true,
  hasArrived: ({ id }) => underWay.get(id)?.hasArrived === true,
  overtake: ({ id }) => {
    const attempt = underWay.get(id);
    if (attempt !== undefined) attempt.isOvertaken = true;
  },
});

interface Running {
  attempts: ReturnType<typeof createAttempts>;
  records: Records;
  loop: ReturnType<typeof createLoop>;
}

/** Gives what is under way `grace` milliseconds, then ends it. */
const stopAll = async (grace: number, { sender, after }: DispatcherNeeds, { attempts, records, loop }: Running): Promise<void> => {
  const abandon = (): void => {
    attempts.abandon();
    void sender.close();
  };
  if (grace === 0) abandon();
  const cancel = after(grace, abandon);
  await attempts.ended();
  cancel();
  loop.forget();
  await records.end();
  await sender.close();
};

export const createDispatcher = (rules: DispatcherRules, needs: DispatcherNeeds): Dispatcher => {
  const { time, isWithdrawn, onSettled } = needs;
  const [limit, placing] = [createLimit(rules.concurrency, slowShare * rules.concurrency), createPlacing()];
  const underWay: UnderWay = new Map();
  const lanes = createLanes({ ...rules, limit, underWay, isWithdrawn, pauseOf: (url) => pauseBefore(needs, url) });
  const underWayOf = whatIsUnderWay(underWay);
  const queue = createTargetQueue();
  const times = (): Times => ({ schedule: time.schedule(), monotonic: monotonic() });

  const pump = (): void => {
    const begun = monotonic();
    if (loop.isRunning()) noticeOthers(begun);
    while (loop.isRunning() && records.count() < mostUnrecorded) {
      if (monotonic() - begun > turn) return loop.pumpSoon();
      const attempt = take();
      if (attempt === undefined) return;
      attempts.run(attempt);
    }
  };

  const look = (): void => {
    records.tryAgain();
    noticeAll();
    pump();
  };

  const loop = createLoop(needs, { pump, look, nextDue: lanes.nextDue });
  const { bringWork, expectRetry, handOver, noticeAll, noticeOthers, noticeWebhooks, seen } = createNotices({ ...needs, lanes, queue, times, lookAt: loop.lookAt });
  const { take, stop: stopTaking } = createTake({ ...needs, rules, limit, placing, queue, underWay, times, seen, lookAt: loop.lookAt, freed: loop.pump });

  const records = createRecords(rules, { ...needs, ...underWayOf }, (recorded) => {
    for (const { row } of recorded.rows) if (row.dueAt !== null) expectRetry(row.webhookId, row.dueAt);
    loop.safely(noticeWebhooks);
    onSettled(recorded.webhookIds, recorded.changed);
    if (recorded.announced.size > 0) wake(recorded.announced);
    loop.pumpSoon();
  });
  const attempts = createAttempts({ ...needs, records, lanes, placing, queue, underWay, pump: loop.pump, pumpSoon: loop.pumpSoon });

  const wake = (webhookIds: Iterable<number>): void => {
    if (!loop.isRunning()) return;
    bringWork(webhookIds);
    loop.pumpSoon();
  };

  return {
    start: loop.start,
    rest: loop.stop,
    wake,
    handOver: (rows) => {
      if (!loop.isRunning()) return;
      loop.safely(() => handOver(rows));
      loop.pumpSoon();
    },
    refresh: loop.look,
    ...underWayOf,
    stop: (grace) => {
      stopTaking();
      return stopAll(grace, needs, { attempts, records, loop });
    },
  };
};
