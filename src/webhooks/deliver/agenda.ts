import type { Clock } from "../../../types/node-context.js";
import type { WebhookStore } from "../../../types/webhook-store.js";
import type { Outgoing } from "../send/http-sender.js";
import { createLanes, type Lane, lookAgain, type Next, nextOf, type Target } from "./lanes.js";
import { type Prepared, prepare } from "./outgoing.js";
import type { Register } from "../registry/register.js";
import type { Timekeeper } from "../timekeeper.js";
import { createTargetQueue, type QueueRules } from "./target-queue.js";

export interface AgendaRules extends QueueRules {
  ordered: boolean;
}

export interface AgendaNeeds {
  store: WebhookStore;
  register: Register;
  clock: Clock;
  time: Timekeeper;
}

/** One attempt to be made. */
export interface Task {
  webhookId: number;
  id: number;
  outgoing: Outgoing;
  /** When it was taken, in milliseconds since 1970. */
  at: number;
  /** To be called once the attempt has ended. */
  ended(how: { slow: boolean; failed: boolean }): void;
  /** To be called after `ended`, once the outcome is in the store: until then, the delivery is not given out again. */
  written(): void;
}

/** What is to be sent, and in which order. Whatever throws, because the store could not be read, can be called again. */
export interface Agenda {
  /** Takes the next attempt; undefined if there is nothing to send now, or no place for it. */
  next(): Task | undefined;
  /** Webhooks got something to deliver. */
  wake(webhookIds: Iterable<number>): void;
  /** A delivery is to be attempted again at that time of the schedule. */
  expectRetry(webhookId: number, dueAt: number): void;
  /** Takes notice of webhooks that have changed. */
  noticeWebhooks(): void;
  /** Takes notice of work that other processes have brought, and of retries that have become due. */
  noticeWork(): void;
  /** The earliest time after `now` at which a retry may be due. */
  nextDue(now: number): number;
}

export const createAgenda = (rules: AgendaRules, { store, register, clock, time }: AgendaNeeds): Agenda => {
  const lanes = createLanes();
  const queue = createTargetQueue(rules);
  const seen = { register: -1, work: -1 };

  const expectRetry = (webhookId: number, dueAt: number): void => {
    const lane = lanes.find(webhookId);
    if (lane === undefined) return;
    lane.nextDue = Math.min(lane.nextDue, dueAt);
    if (dueAt <= time.schedule()) queue.add(lane.target);
  };

  const taskOf = (target: Target, { lane, id, kind }: Next, { outgoing, messageId }: Prepared, at: number): Task => {
    const { webhookId } = lane;
    const leave = queue.enter(target, kind);
    target.underWay.set(id, messageId);
    const leavePlace = (): void => {
      target.underWay.delete(id);
      leave();
      // The webhook may have another target by now.
      const now = lanes.find(webhookId);
      if (now !== undefined && now.target !== target) queue.add(now.target);
    };
    let failed = false;
    return {
      webhookId,
      id,
      outgoing,
      at,
      ended: (how) => {
        failed = how.failed;
        target.origin.slow = how.slow;
        // A failure may disable the webhook: nothing more is sent there before that is known.
        if (!failed) leavePlace();
      },
      written: () => {
        lane.taken.delete(id);
        if (failed) leavePlace();
        // A redelivery may have been asked for meanwhile, and passed over because the delivery was still under way.
        expectRetry(webhookId, 0);
      },
    };
  };

  const nextOfTarget = (target: Target): Task | undefined => {
    const next = nextOf(target, store, { ordered: rules.ordered, now: time.schedule() });
    if (next === undefined) {
      queue.unblock(target.origin);
      return undefined;
    }
    const { lane, id, kind } = next;
    const at = clock.now();
    const prepared = prepare(store, register.find(lane.webhookId), id, { wall: at, passed: time.passed() });
    // Without a request, it was dropped a moment ago, or its webhook was removed, whose lane goes with the next look.
    if (prepared !== undefined || kind === "retry") lane.taken.add(id);
    if (kind === "first") lane.ready.shift();
    const task = prepared && taskOf(target, next, prepared, at);
    queue.add(target);
    return task;
  };

  const bringWork = (lane: Lane): void => {
    lookAgain(lane);
    lane.nextDue = Math.min(lane.nextDue, time.schedule());
    queue.add(lane.target);
  };

  return {
    next: () => {
      for (let target = queue.next(); target !== undefined; target = queue.next()) {
        try {
          const task = nextOfTarget(target);
          if (task !== undefined) return task;
        } catch (error) {
          // Left in the queue, for when the store can be read again.
          queue.add(target);
          throw error;
        }
      }
      return undefined;
    },
    wake: (webhookIds) => {
      for (const id of webhookIds) {
        const lane = lanes.find(id);
        if (lane !== undefined) bringWork(lane);
      }
    },
    expectRetry,
    noticeWebhooks: () => {
      const revision = store.registerRevision();
      if (revision === seen.register) return;
      const changed = seen.register === -1 ? undefined : store.changedSince(seen.register);
      for (const id of changed ?? [...lanes.ids(), ...register.ids()]) {
        const target = lanes.align(id, register.find(id));
        if (target !== undefined) queue.add(target);
      }
      seen.register = revision;
    },
    noticeWork: () => {
      const now = time.schedule();
      const revision = store.workRevision();
      // Any lane may have some of it.
      const isNew = revision !== seen.work;
      seen.work = revision;
      for (const target of lanes.targets()) {
        for (const lane of target.lanes.values()) {
          if (isNew) bringWork(lane);
          else if (lane.nextDue <= now) queue.add(target);
        }
      }
    },
    nextDue: lanes.nextDue,
  };
};
