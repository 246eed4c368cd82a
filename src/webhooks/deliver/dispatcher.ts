import type { Clock, Logger } from "../../../types/node-context.js";
import type { WebhookStore } from "../../../types/webhook-store.js";
import { logFailure } from "../log-failure.js";
import type { Register } from "../registry/register.js";
import type { Answer, Sender } from "../send/http-sender.js";
import type { NodeKey } from "../send/signature.js";
import type { After, Timekeeper } from "../timekeeper.js";
import { createLimit, monotonic } from "./concurrency.js";
import { createLanes, type Lane, type LaneRules, lookAgain, type Next, nextOf, type Target, type Times } from "./lanes.js";
import { attemptOf, pauseOf } from "./outcome.js";
import type { Payloads } from "./payloads.js";
import { createRecords, type RecordRules } from "./records.js";
import { loadEvents, requestOf } from "./request.js";

export interface DispatcherRules extends LaneRules, RecordRules {
  concurrency: number;
}

export interface DispatcherNeeds extends Pick<Lane, "isWithdrawn"> {
  store: WebhookStore;
  register: Register;
  payloads: Payloads;
  sender: Sender;
  clock: Clock;
  time: Timekeeper;
  after: After;
  random: () => number;
  logger: Logger;
  nodeKey: NodeKey | undefined;
  /** Called when deliveries of these webhooks are settled, or the webhooks themselves have changed. */
  onSettled(webhookIds: ReadonlySet<number>, changed: ReadonlySet<number>): void;
}

/**
 * Makes the attempts: the one place from which anything is sent. What waits, waits in the store. Each attempt goes through the same steps:
 *
 *   take → send → record → next
 */
export interface Dispatcher {
  start(): void;
  /** Webhooks got something to deliver. */
  wake(webhookIds: Iterable<number>): void;
  /** The register changed. */
  refresh(): void;
  isUnderWay(deliveryId: number): boolean;
  /** Sends nothing more, gives what is under way `grace` milliseconds, then ends it: it is sent again at the next start. */
  stop(grace: number): Promise<void>;
}

/** One request, from when it is taken until its outcome is recorded. */
interface Attempt extends Next {
  target: Target;
  state: "taken" | "sending" | "recording";
  /** Milliseconds since 1970. */
  at: number;
  leave(): void;
}

/** Milliseconds between two looks, at the most: other processes may have brought work, and retries may have become due. */
const lookInterval = 1_000;
/** An attempt that took longer than this (milliseconds) was slow. */
const slowFrom = 1_000;
/** How many times as many attempts may be under way in all as are quick; slow targets leave the last quarter of these places to others. */
const slowShare = 4;
/** Attempts that have ended and are not yet recorded: while there are so many, nothing new is sent. */
const mostUnrecorded = 1_000;

export const createDispatcher = (rules: DispatcherRules, needs: DispatcherNeeds): Dispatcher => {
  const { store, register, payloads, sender, clock, time, after, logger, nodeKey, isWithdrawn, onSettled } = needs;
  const lanes = createLanes({ ...rules, isWithdrawn });
  const limit = createLimit(rules.concurrency, slowShare * rules.concurrency);
  const queue = new Set<Target>();
  const sending = new Set<Promise<unknown>>();
  const underWay = new Set<number>();
  const seen = { register: -1, work: -1 };
  let state: "idle" | "running" | "stopped" = "idle";
  let timer: { at: number; cancel(): void } | undefined;
  let soon: NodeJS.Immediate | undefined;
  let freeing: NodeJS.Timeout | undefined;
  let abandoned = false;
  const times = (): Times => ({ schedule: time.schedule(), monotonic: monotonic() });

  /** Whether there is a place for one more attempt to a target. */
  const hasPlace = (target: Target, now: number): boolean => {
    return [limit, target.limit, target.origin.limit].every((one) => one.isFree(now)) && (!target.slow || limit.count() < (slowShare - 1) * rules.concurrency);
  };

  /** Looks again when a place becomes free by itself. */
  const expectPlace = (target: Target, now: number): void => {
    const waits = [limit, target.origin.limit].map((one) => one.freeIn(now));
    if (freeing !== undefined || waits.includes(undefined)) return;
    freeing = setTimeout(() => {
      freeing = undefined;
      safely(pump);
    }, Math.max(1, ...waits.map((wait) => wait ?? 0))).unref();
  };

  const takeFrom = (target: Target): Attempt | undefined => {
    const now = times();
    const next = nextOf(target, store, rules, now);
    if (next === undefined) {
      expectLanes(target, now);
      return undefined;
    }
    const { lane, rows, kind } = next;
    const places = [limit, target.limit, target.origin.limit].map((one) => one.enter(now.monotonic));
    const isAwaited = kind === "first" && lane.webhook.order !== "none";
    if (isAwaited) target.firsts++;
    if (kind !== "ping") target.last = kind;
    for (const { id, messageId } of rows) {
      lane.taken.add(id);
      target.underWay.set(id, messageId);
      underWay.add(id);
    }
    if (kind === "first") lane.ready.splice(0, rows.length);
    lane.batchSince = undefined;
    if (lane.webhook.rate !== null && kind !== "ping") lane.mayAt = Math.max(lane.mayAt, now.monotonic) + (1_000 * rows.length) / lane.webhook.rate;
    let hasLeft = false;
    const leave = (): void => {
      if (hasLeft) return;
      hasLeft = true;
      places.forEach((free) => free());
      if (isAwaited) target.firsts--;
    };
    return { ...next, target, state: "taken", at: clock.now(), leave };
  };

  /** When a lane that may not send now may: its rate, its batch, its target's pause. */
  const expectLanes = (target: Target, now: Times): void => {
    if (target.pausedUntil > now.schedule) lookAt(target.pausedUntil);
    for (const { mayAt, batchSince, webhook, ready } of target.lanes.values()) {
      if (mayAt > now.monotonic && (ready.length > 0 || webhook.rate !== null)) lookAt(now.schedule + Math.ceil(mayAt - now.monotonic));
      if (batchSince !== undefined && webhook.batch !== null) lookAt(batchSince + webhook.batch.wait);
    }
  };

  /** Targets that have a place are asked in turn; the others stay in the queue. */
  const take = (): Attempt | undefined => {
    const now = monotonic();
    for (const target of queue) {
      if (!hasPlace(target, now)) {
        expectPlace(target, now);
        if (!limit.isFree(now)) return undefined;
        continue;
      }
      const attempt = takeFrom(target);
      queue.delete(target);
      if (attempt === undefined) continue;
      // Behind the others, to be asked again.
      queue.add(target);
      return attempt;
    }
    return undefined;
  };

  const send = async (attempt: Attempt): Promise<{ answer: Answer; duration: number } | undefined> => {
    const { lane, kind, at } = attempt;
    const loaded = await loadEvents(store, payloads, attempt.rows);
    attempt.rows = loaded.map(({ row }) => row);
    if (loaded.length === 0) return undefined;
    attempt.state = "sending";
    const isBatch = lane.webhook.batch !== null && kind !== "ping" && (kind === "first" || loaded[0]?.row.batch !== undefined);
    const begun = monotonic();
    const late = setTimeout(() => (attempt.target.slow = true), slowFrom).unref();
    try {
      const answer = await sender.send(requestOf(lane.webhook, loaded, isBatch, { wall: at, passed: time.passed() }, nodeKey));
      return { answer, duration: monotonic() - begun };
    } finally {
      clearTimeout(late);
    }
  };

  const records = createRecords(rules, needs, (recorded) => {
    for (const { row } of recorded.rows) if (row.dueAt !== null) expectRetry(row.webhookId, row.dueAt);
    safely(noticeWebhooks);
    onSettled(recorded.webhookIds, recorded.changed);
    if (recorded.announced.size > 0) wake(recorded.announced);
    pumpSoon();
  });

  /** Before it is recorded: how the target answers decides what it is sent next. */
  const judge = ({ target, kind }: Attempt, answer: Answer, duration: number): void => {
    if (kind === "ping") return;
    target.slow = duration > slowFrom;
    const pause = pauseOf(answer, clock.now(), target.lastPause);
    target.lastPause = pause ?? 0;
    if (pause !== undefined) target.pausedUntil = time.schedule() + pause;
  };

  const letGo = ({ lane, rows, target, leave }: Attempt, ids: readonly number[]): void => {
    for (const id of ids) {
      lane.taken.delete(id);
      target.underWay.delete(id);
      underWay.delete(id);
    }
    leave();
    const now = lanes.find(lane.webhook.id);
    if (now === undefined) return;
    now.nextDue = Math.min(now.nextDue, time.schedule());
    // What was read ahead may lack what was given back.
    if (rows.length !== ids.length) lookAgain(now);
    queue.add(now.target);
  };

  const run = async (attempt: Attempt): Promise<void> => {
    const ids = attempt.rows.map(({ id }) => id);
    try {
      const request = send(attempt);
      sending.add(request);
      const sent = await request.finally(() => sending.delete(request));
      if (abandoned) return;
      attempt.state = "recording";
      if (sent === undefined) await records.addLost(attempt.lane.webhook.id, ids);
      else {
        const { answer, duration } = sent;
        judge(attempt, answer, duration);
        // A failure may disable the webhook: nothing more is sent there before that is known.
        if (answer.failure === null) {
          attempt.leave();
          for (const id of ids) attempt.target.underWay.delete(id);
        }
        const lost = ids.filter((id) => !attempt.rows.some((row) => row.id === id));
        if (lost.length > 0) await records.addLost(attempt.lane.webhook.id, lost);
        safely(pump);
        await records.add({ webhookId: attempt.lane.webhook.id, ids: attempt.rows.map(({ id }) => id), target: attempt.target.url, attempt: attemptOf(attempt.at, duration, answer), isBatch: attempt.rows.length > 1 || attempt.lane.webhook.batch !== null, isPing: attempt.kind === "ping" });
      }
    } catch (error) {
      logFailure(logger, `a delivery of webhook ${attempt.lane.webhook.id} could not be sent`, error);
    }
    letGo(attempt, ids);
    pumpSoon();
  };

  const pump = (): void => {
    while (state === "running" && records.count() < mostUnrecorded) {
      const attempt = take();
      if (attempt === undefined) return;
      void run(attempt);
    }
  };

  const bringWork = (lane: Lane): void => {
    lookAgain(lane);
    lane.nextDue = Math.min(lane.nextDue, time.schedule());
    queue.add(lane.target);
  };

  const expectRetry = (webhookId: number, dueAt: number): void => {
    const lane = lanes.find(webhookId);
    if (lane === undefined) return;
    lane.nextDue = Math.min(lane.nextDue, dueAt);
    if (dueAt <= time.schedule()) queue.add(lane.target);
    else lookAt(dueAt);
  };

  const noticeWebhooks = (): void => {
    const revision = store.registerRevision();
    if (revision === seen.register) return;
    const changed = seen.register === -1 ? undefined : store.changedSince(seen.register);
    for (const id of new Set(changed ?? [...lanes.ids(), ...register.ids()])) {
      const target = lanes.align(id, register.find(id));
      if (target !== undefined) queue.add(target);
    }
    seen.register = revision;
    onSettled(new Set(), new Set(changed ?? []));
  };

  const noticeWork = (): void => {
    const now = times();
    const revision = store.workRevision();
    // Any lane may have some of it.
    const isNew = revision !== seen.work;
    seen.work = revision;
    for (const target of lanes.targets()) {
      for (const lane of target.lanes.values()) {
        if (isNew) bringWork(lane);
        else if (lane.nextDue <= now.schedule || lane.batchSince !== undefined || lane.webhook.rate !== null || target.pausedUntil > 0) queue.add(target);
      }
    }
  };

  const wake = (webhookIds: Iterable<number>): void => {
    if (state !== "running") return;
    for (const id of webhookIds) {
      const lane = lanes.find(id);
      if (lane !== undefined) bringWork(lane);
    }
    pumpSoon();
  };

  /** Soon, but not on the stack of whoever brought the work: that may be the host's own. */
  const pumpSoon = (): void => {
    soon ??= setImmediate(() => {
      soon = undefined;
      safely(pump);
    });
  };

  /** Nothing that fails here may reach the host: the store is asked again at the next look. */
  const safely = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      logFailure(logger, "the store cannot be used", error);
    }
  };

  const look = (): void => {
    // It may have been called before its time.
    timer?.cancel();
    timer = undefined;
    if (state !== "running") return;
    safely(() => {
      records.tryAgain();
      noticeWebhooks();
      noticeWork();
      pump();
    });
    const now = time.schedule();
    lookAt(Math.min(lanes.nextDue(now), now + lookInterval));
  };

  /** Schedules a look at that time, unless there is one before. */
  const lookAt = (at: number): void => {
    if (state !== "running" || (timer !== undefined && timer.at <= at)) return;
    timer?.cancel();
    timer = { at, cancel: after(Math.max(0, at - time.schedule()), look) };
  };

  return {
    start: () => {
      state = "running";
      look();
    },
    wake,
    refresh: look,
    isUnderWay: (deliveryId) => underWay.has(deliveryId),
    stop: async (grace) => {
      state = "stopped";
      timer?.cancel();
      clearTimeout(freeing);
      const abandon = (): void => {
        abandoned = true;
        void sender.close();
      };
      if (grace === 0) abandon();
      const cancel = after(grace, abandon);
      while (sending.size > 0) await Promise.allSettled(sending);
      cancel();
      clearImmediate(soon);
      await records.end();
      await sender.close();
    },
  };
};
