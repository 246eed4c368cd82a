import type { Clock, Logger } from "../../types/node-context.js";
import type { WebhookStore } from "../../types/webhook-store.js";
import { messageOf } from "../errors.js";
import type { Outgoing, Sender } from "./http-sender.js";
import { createLanes, lookAgain, type Next, nextOf, type Origin, type Target } from "./lanes.js";
import { outgoingOf } from "./outgoing.js";
import type { Register } from "./register.js";
import { attemptOf, logDisabled, logSettled, type SettleRules } from "./settle.js";
import { createSettling } from "./settling.js";
import type { After } from "./timers.js";

export interface WorkerOptions extends SettleRules {
  concurrency: number;
  concurrencyPerTarget: number;
  ordered: boolean;
}

export interface WorkerNeeds {
  store: WebhookStore;
  register: Register;
  sender: Sender;
  clock: Clock;
  after: After;
  random: () => number;
  logger: Logger;
}

/** Makes the attempts: the one place from which anything is sent. What waits, waits in the store. */
export interface Worker {
  start(): void;
  /** Webhooks that got something to deliver. */
  wake(webhookIds: Iterable<number>): void;
  /** The register changed. */
  refresh(): void;
  /** Sends nothing more, gives what is under way `grace` milliseconds, then ends it: it is sent again at the next start. */
  stop(grace: number): Promise<void>;
}

interface Running extends Next {
  target: Target;
  origin: Origin;
  /** Whether it took one of the places of slow targets. */
  slow: boolean;
  /** When it began. */
  at: number;
}

/** Milliseconds between two looks, at the most: other processes may have brought work, and retries may have become due. */
const lookInterval = 1_000;
/** An attempt that took longer than this (milliseconds) was slow. */
const slowFrom = 1_000;
/** Attempts that have ended and are not yet recorded: while there are so many, nothing new is sent. */
const mostUnsettled = 1_000;

export const createWorker = (options: WorkerOptions, needs: WorkerNeeds): Worker => {
  const { store, register, sender, clock, after, logger } = needs;
  const lanes = createLanes();
  /** Targets that may have something to send: first come, first served, slow ones in a queue of their own. */
  const waiting = { fast: new Set<Target>(), slow: new Set<Target>() };
  const running = { all: new Set<Promise<void>>(), slow: 0 };
  /** Slow targets together leave half of the places to the others. */
  const slowPlaces = Math.max(1, Math.floor(options.concurrency / 2));
  const seen = { register: -1, work: -1 };
  let state: "idle" | "running" | "stopped" = "idle";
  let timer: { at: number; cancel(): void } | undefined;
  let pumping: NodeJS.Immediate | undefined;
  let turn = 0;
  let abandoned = false;

  const enqueue = (target: Target): void => {
    if (target.lanes.size > 0) (target.origin.slow ? waiting.slow : waiting.fast).add(target);
  };

  /** The two queues take turns. */
  const linesNow = (): Set<Target>[] => {
    if (running.slow >= slowPlaces) return [waiting.fast];
    return turn++ % 2 === 0 ? [waiting.fast, waiting.slow] : [waiting.slow, waiting.fast];
  };

  const takeTarget = (): Target | undefined => {
    for (const line of linesNow()) {
      for (const target of line) {
        line.delete(target);
        return target;
      }
    }
    return undefined;
  };

  /** Queues the first target that waits for a place at an origin again. */
  const unblock = ({ blocked }: Origin): void => {
    for (const target of blocked) {
      blocked.delete(target);
      enqueue(target);
      return;
    }
  };

  const startNext = (target: Target): void => {
    const { origin } = target;
    if (origin.running >= options.concurrencyPerTarget) {
      origin.blocked.add(target);
      return;
    }
    const at = clock.now();
    const next = nextOf(target, store, { ...options, now: at });
    if (next === undefined) {
      unblock(origin);
      return;
    }
    const outgoing = outgoingOf(store, register.find(next.lane.webhookId), next.id, at);
    take(next);
    // Undefined where the webhook was removed a moment ago: the delivery stays taken, and its lane goes with the next look.
    if (outgoing !== undefined) launch({ ...next, target, origin, slow: origin.slow, at }, outgoing);
    enqueue(target);
  };

  const take = ({ lane, id, kind }: Next): void => {
    lane.taken.add(id);
    if (kind === "first") lane.ready.shift();
  };

  const pump = (): void => {
    while (state === "running" && running.all.size < options.concurrency && settling.count() < mostUnsettled) {
      const target = takeTarget();
      if (target === undefined) return;
      try {
        startNext(target);
      } catch (error) {
        // For the next look, when the store may be readable again.
        enqueue(target);
        throw error;
      }
    }
  };

  /** Soon, but not on the stack of whoever brought the work: that may be the host's own. */
  const pumpSoon = (): void => {
    pumping ??= setImmediate(() => {
      pumping = undefined;
      safely(pump);
    });
  };

  const launch = (one: Running, outgoing: Outgoing): void => {
    const { target, origin, kind } = one;
    if (kind === "first") target.firsts++;
    target.last = kind;
    origin.running++;
    if (one.slow) running.slow++;
    const work = attempt(one, outgoing).finally(() => running.all.delete(work));
    running.all.add(work);
  };

  const attempt = async (one: Running, outgoing: Outgoing): Promise<void> => {
    const begun = performance.now();
    const answer = await sender.send(outgoing);
    const duration = performance.now() - begun;
    one.origin.slow = duration > slowFrom;
    if (abandoned) return;
    const { id, at, lane } = one;
    const ended = { webhookId: lane.webhookId, id, target: outgoing.target, attempt: attemptOf(at, duration, answer), retryAfter: answer.retryAfter };
    // A failure may disable the webhook: nothing more is sent there before that is known.
    const failed = answer.failure !== null;
    if (!failed) leavePlace(one);
    settling.add(ended, () => {
      lane.taken.delete(id);
      if (failed) leavePlace(one);
      // A redelivery may have been asked for meanwhile, and passed over because the delivery was still under way.
      expectRetry(lane.webhookId, 0);
    });
    safely(pump);
  };

  const leavePlace = ({ lane, target, origin, kind, slow }: Running): void => {
    if (kind === "first") target.firsts--;
    origin.running--;
    if (slow) running.slow--;
    // Whoever waited for the place comes before whoever just had it.
    unblock(origin);
    enqueue(target);
    const now = lanes.find(lane.webhookId);
    if (now !== undefined && now.target !== target) enqueue(now.target);
  };

  const settling = createSettling(options, needs, (settled) => {
    for (const one of settled) {
      logSettled(one, logger);
      if (one.row.dueAt !== null) expectRetry(one.row.webhookId, one.row.dueAt);
      if (one.disabled !== undefined) logDisabled(one.disabled, logger);
    }
    safely(alignRegister);
    pumpSoon();
  });

  const expectRetry = (webhookId: number, dueAt: number): void => {
    const lane = lanes.find(webhookId);
    if (lane === undefined) return;
    lane.nextDue = Math.min(lane.nextDue, dueAt);
    if (dueAt <= clock.now()) enqueue(lane.target);
    else lookAt(dueAt);
  };

  const alignRegister = (): void => {
    const revision = store.registerRevision();
    if (revision === seen.register) return;
    const changed = seen.register === -1 ? undefined : store.changedSince(seen.register);
    for (const id of changed ?? [...lanes.ids(), ...register.ids()]) {
      const target = lanes.align(id, register.find(id));
      if (target !== undefined) enqueue(target);
    }
    seen.register = revision;
  };

  const bringWork = (target: Target, webhookId: number): void => {
    const lane = target.lanes.get(webhookId);
    if (lane === undefined) return;
    lookAgain(lane);
    lane.nextDue = Math.min(lane.nextDue, clock.now());
    enqueue(target);
  };

  /** Work of another process: any lane may have some. */
  const noticeWork = (): void => {
    const revision = store.workRevision();
    if (revision === seen.work) return;
    seen.work = revision;
    for (const target of lanes.targets()) for (const webhookId of target.lanes.keys()) bringWork(target, webhookId);
  };

  const enqueueDue = (now: number): void => {
    for (const target of lanes.targets()) {
      for (const lane of target.lanes.values()) {
        if (lane.nextDue <= now) enqueue(target);
      }
    }
  };

  /** Nothing that fails here may reach the host: the store is asked again at the next look. */
  const safely = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      logger.error(`webhooks: the store cannot be used: ${messageOf(error)}`);
    }
  };

  const look = (): void => {
    // It may have been called before its time.
    timer?.cancel();
    timer = undefined;
    if (state !== "running") return;
    safely(() => {
      settling.tryAgain();
      alignRegister();
      noticeWork();
      enqueueDue(clock.now());
      pump();
    });
    const now = clock.now();
    lookAt(Math.min(lanes.nextDue(now), now + lookInterval));
  };

  /** Schedules a look at that time, unless there is one before. */
  const lookAt = (at: number): void => {
    if (state !== "running" || (timer !== undefined && timer.at <= at)) return;
    timer?.cancel();
    timer = { at, cancel: after(Math.max(0, at - clock.now()), look) };
  };

  return {
    start: () => {
      state = "running";
      look();
    },
    wake: (webhookIds) => {
      if (state !== "running") return;
      for (const id of webhookIds) {
        const lane = lanes.find(id);
        if (lane !== undefined) bringWork(lane.target, id);
      }
      pumpSoon();
    },
    refresh: look,
    stop: async (grace) => {
      state = "stopped";
      timer?.cancel();
      const abandon = (): void => {
        abandoned = true;
        void sender.close();
      };
      if (grace === 0) abandon();
      const cancel = after(grace, abandon);
      while (running.all.size > 0) await Promise.all(running.all);
      cancel();
      clearImmediate(pumping);
      await settling.end();
      await sender.close();
    },
  };
};
