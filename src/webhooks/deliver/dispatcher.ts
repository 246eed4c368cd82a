import type { Logger } from "../../../types/node-context.js";
import { type After, type FullClock, readingsOf } from "../../async/clock.js";
import { logFailure } from "../failures.js";
import type { InFlightView } from "../read/ledger.js";
import type { Register } from "../register/register.js";
import type { DeliveryRow } from "../rows/rows.js";
import type { WebhookStore } from "../rows/store.js";
import type { Sender } from "../send/http-sender.js";
import type { Messages, NodeKey } from "../send/request.js";
import type { Timekeeper } from "../timekeeper.js";
import { createAttempts } from "./attempt.js";
import { createNext, createReady, createTake, type Ready, slowShare, type Times } from "./take.js";
import { type OnOutcome, restOf } from "./outcome.js";
import {
  createLimit,
  createQueues,
  createSlots,
  lookAgain,
  monotonic,
  type Queue,
  type Queues,
  type Target,
  type UnderWay,
} from "./queues.js";
import { createRecords, type RecordResult, type Records, type RecordRules } from "./write-outcomes.js";

export interface DispatcherRules extends RecordRules {
  concurrencyPerTarget: number;
  window: number;
}

export interface DispatcherNeeds {
  store: WebhookStore;
  register: Register;
  messages: Messages;
  sender: Sender;
  clock: FullClock;
  time: Timekeeper;
  after: After;
  random: () => number;
  /** Most attempts under way in all, of those that have not taken long. */
  concurrency: number;
  logger: Logger;
  nodeKey: NodeKey | undefined;
  onOutcome?: OnOutcome | undefined;
  /** Whether an attempt of a row may have been made by a process that was killed. */
  isLeftBehind(row: DeliveryRow): boolean;
  /** Called when deliveries of these webhooks are settled, or the webhooks themselves have changed. */
  onSettled(webhookIds: ReadonlySet<number>, changed: ReadonlySet<number>): void;
}

/**
 * Makes the attempts: the one place from which anything is sent. What waits, waits in the store. Each attempt goes through the same steps:
 *
 *   take → send → record → next
 */
export interface Dispatcher extends InFlightView {
  start(): void;
  /** Webhooks got something to deliver, or deliveries that they had were changed. */
  wake(webhookIds: Iterable<number>): void;
  /** Takes deliveries that have just been written. Their ids ascend, and are above all that were added before. */
  add(rows: readonly DeliveryRow[]): void;
  /** The register changed. */
  refresh(): void;
  /** Sends nothing more. */
  rest(): void;
  /** After `rest`: gives what is under way `grace` milliseconds, then ends it: it is sent again at the next start. */
  stop(grace: number): Promise<void>;
  /** Whether attempts are under way, or have been given up, whose outcomes are not recorded. */
  hasUnrecorded(): boolean;
}

/** Milliseconds between two looks, at the most: other processes may have brought work, and retries may have become due. */
const lookInterval = 1_000;
/** Attempts that have ended and are not yet recorded: while there are so many, nothing new is sent. */
const mostUnrecorded = 1_000;
/** Milliseconds of taking and sending before the event loop gets its turn. */
const turn = 2;

/** Milliseconds between two looks for what other processes have changed, at the most, while there is something to send. */
const noticeInterval = 10;

interface Parts {
  queues: Queues;
  ready: Ready;
  times(): Times;
  lookAt(at: number): void;
}

/** Ends pauses that a client has ended, in whatever process. */
const createPauseNotices = ({ store }: DispatcherNeeds, { queues, ready, times }: Parts) => {
  /** Targets whose pauses may have been ended. The store may lack a pause while an outcome is being recorded. */
  const unsure = new Set<Target>();
  const isRecording = ({ underWay }: Target): boolean => [...underWay].some(({ state }) => state === "recording");

  /** `isNew`: others have written since the last time. */
  return (isNew: boolean): void => {
    const now = times().dueTime;
    if (isNew) for (const target of queues.targets()) if (target.lastPause > 0 && target.pausedUntil > now) unsure.add(target);
    for (const target of unsure) {
      if (isRecording(target)) continue;
      if (store.pause(target.url) === undefined) Object.assign(target, { pausedUntil: 0, lastPause: 0 });
      unsure.delete(target);
      ready.add(target);
    }
  };
};

/** A retry will be due. */
const createExpectRetry =
  ({ time }: DispatcherNeeds, { queues, ready, lookAt }: Parts) =>
  (webhookId: number, dueAt: number): void => {
    const queue = queues.find(webhookId);
    if (queue === undefined) return;
    queue.nextDue = Math.min(queue.nextDue, dueAt);
    if (dueAt <= time.dueTime()) ready.add(queue.target);
    else lookAt(dueAt);
  };

/** Brings the queues into line with the store: what clients and other processes have changed. */
const createNotices = (needs: DispatcherNeeds, parts: Parts) => {
  const { store, register, time, onSettled } = needs;
  const { queues, ready, times } = parts;
  const noticePauses = createPauseNotices(needs, parts);
  const seen = { register: -1, work: -1 };
  let noticed = -Infinity;

  const bringWork = (queue: Queue): void => {
    lookAgain(queue);
    queue.nextDue = Math.min(queue.nextDue, time.dueTime());
    ready.add(queue.target);
  };

  const bringWorkOf = (webhookIds: Iterable<number>): void => {
    queues.expect(store.lastDelivery());
    for (const id of webhookIds) {
      const queue = queues.find(id);
      if (queue !== undefined) bringWork(queue);
    }
  };

  const noticeWebhooks = (): void => {
    const revision = store.registerRevision();
    if (revision === seen.register) return;
    const changed = seen.register === -1 ? undefined : store.changedSince(seen.register);
    for (const id of new Set(changed ?? [...[...queues.all()].map(({ webhook }) => webhook.id), ...register.ids()])) {
      const target = queues.align(id, register.find(id));
      if (target !== undefined) ready.add(target);
    }
    seen.register = revision;
    onSettled(new Set(), new Set(changed ?? []));
  };

  const noticeWork = (): void => {
    const now = times();
    const revision = store.workRevision();
    // Any queue may have some of it.
    const isNew = revision !== seen.work;
    if (isNew) queues.expect(store.lastDelivery());
    for (const queue of queues.all()) {
      const { nextDue, batchSince, webhook, target } = queue;
      const mayBeDue = nextDue <= now.dueTime || batchSince !== undefined || webhook.rate !== null || target.pausedUntil > 0;
      if (isNew) bringWork(queue);
      else if (mayBeDue) ready.add(target);
    }
    seen.work = revision;
    noticePauses(isNew);
  };

  return {
    noticeWebhooks,
    bringWork: bringWorkOf,
    noticeAll: (): void => {
      noticeWebhooks();
      noticeWork();
    },
    /** Reads two counters, at most every `noticeInterval`. */
    noticeOthers: (now: number): void => {
      noticePauses(false);
      if (now - noticed < noticeInterval) return;
      noticed = now;
      noticeWebhooks();
      if (store.workRevision() !== seen.work) noticeWork();
    },
    expectRetry: createExpectRetry(needs, parts),
  };
};

type LoopParts = Record<"tryAgain" | "noticeAll" | "pump", () => void> & Pick<Queues, "nextDue">;

/** When the dispatcher looks for work. Nothing that fails in that reaches the host: the store is asked again at the next look. */
const createLoop = ({ time, after, logger }: DispatcherNeeds, { tryAgain, noticeAll, pump, nextDue }: LoopParts) => {
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

  const look = (): void => {
    tryAgain();
    noticeAll();
    pump();
  };

  const lookNow = (): void => {
    // It may have been called before its time.
    timer?.cancel();
    timer = undefined;
    if (state !== "running") return;
    safely(look);
    const now = time.dueTime();
    lookAt(Math.min(nextDue(now), now + lookInterval));
  };

  /** Schedules a look at that time, unless there is one before. */
  const lookAt = (at: number): void => {
    if (state !== "running" || (timer !== undefined && timer.at <= at)) return;
    timer?.cancel();
    timer = { at, cancel: after(Math.max(0, at - time.dueTime()), lookNow) };
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

type Loop = ReturnType<typeof createLoop>;

/** A target's pause outlives its queues and the process. */
const pauseBefore = ({ store, clock, time }: DispatcherNeeds, url: string): Pick<Target, "pausedUntil" | "lastPause"> => {
  const pause = store.pause(url);
  if (pause === undefined) return { pausedUntil: 0, lastPause: 0 };
  return { pausedUntil: time.dueTime() + restOf(pause, readingsOf(clock)), lastPause: pause.length };
};

const attemptsOf = (queues: Pick<Queues, "find">, underWay: UnderWay, isLeftBehind: DispatcherNeeds["isLeftBehind"]): InFlightView => {
  const own = ({ id, attemptCount }: DeliveryRow) => {
    const found = underWay.get(id);
    return found?.attemptCount === attemptCount ? found : undefined;
  };
  return {
    isUnderWay: (row) => own(row) !== undefined || isLeftBehind(row),
    hasArrived: (row) => own(row)?.hasArrived === true,
    overtake: ({ id, webhookId }) => {
      for (const attempt of queues.find(webhookId)?.target.underWay ?? [])
        if (attempt.rows.some((row) => row.id === id)) attempt.isOvertaken = true;
    },
  };
};

/** Gives what is under way `grace` milliseconds, then ends it. */
const stopAll = async (grace: number, { sender, after }: DispatcherNeeds, { attempts, records, loop }: { attempts: ReturnType<typeof createAttempts>; records: Records; loop: Loop }): Promise<void> => {
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
  const { store, time, concurrency, isLeftBehind, onSettled } = needs;
  const [limit, slots, ready] = [createLimit(concurrency, slowShare * concurrency), createSlots(), createReady()];
  const underWay: UnderWay = new Map();
  const supersede = (row: DeliveryRow): void => records.supersede(row);
  const { concurrencyPerTarget, window } = rules;
  const queues = createQueues({ store, concurrencyPerTarget, limit, underWay, supersede, pauseOf: (url) => pauseBefore(needs, url) });
  const own = attemptsOf(queues, underWay, isLeftBehind);
  const times = (): Times => ({ dueTime: time.dueTime(), monotonic: monotonic() });

  const pump = (): void => {
    const begun = monotonic();
    if (loop.isRunning()) notices.noticeOthers(begun);
    while (loop.isRunning() && records.count() < mostUnrecorded) {
      if (monotonic() - begun > turn) return loop.pumpSoon();
      const attempt = take();
      if (attempt === undefined) return;
      attempts.run(attempt);
    }
  };

  const loop: Loop = createLoop(needs, { tryAgain: () => records.tryAgain(), noticeAll: () => notices.noticeAll(), pump, nextDue: queues.nextDue });
  const notices = createNotices(needs, { queues, ready, times, lookAt: loop.lookAt });
  const next = createNext({ store, queues, underWay, supersede, window });
  const { take, stop: stopTaking } = createTake({ ...needs, next, limit, slots, ready, underWay, times, lookAt: loop.lookAt, freed: loop.pump });

  const wake = (webhookIds: Iterable<number>): void => {
    if (!loop.isRunning()) return;
    loop.safely(() => notices.bringWork(webhookIds));
    loop.pumpSoon();
  };

  const onRecorded = ({ rows, webhookIds, changed, toWake }: RecordResult): void => {
    for (const { row } of rows) if (row.dueAt !== null) notices.expectRetry(row.webhookId, row.dueAt);
    loop.safely(notices.noticeWebhooks);
    onSettled(webhookIds, changed);
    if (toWake.size > 0) wake(toWake);
    loop.pumpSoon();
  };
  const records = createRecords(rules, { ...needs, attempts: own }, onRecorded);
  const { pump: pumpNow, pumpSoon } = loop;
  const attempts = createAttempts({ ...needs, records, queues, slots, ready, underWay, pump: pumpNow, pumpSoon, brought: wake });

  return {
    ...own,
    start: loop.start,
    rest: loop.stop,
    wake,
    add: (rows) => {
      if (!loop.isRunning()) return;
      queues.add(rows);
      for (const { webhookId } of rows) {
        const queue = queues.find(webhookId);
        if (queue !== undefined) ready.add(queue.target);
      }
      loop.pumpSoon();
    },
    refresh: loop.look,
    hasUnrecorded: () => underWay.size > 0,
    stop: (grace) => {
      stopTaking();
      return stopAll(grace, needs, { attempts, records, loop });
    },
  };
};
