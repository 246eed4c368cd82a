import type { Logger } from "../../../types/node-context.js";
import type { FullClock } from "../../async/clock.js";
import { logFailure } from "../log-failure.js";
import type { Register } from "../register/register.js";
import type { WebhookStore } from "../rows/store.js";
import type { Timekeeper } from "../timekeeper.js";
import type { Times } from "./next.js";
import { lookAgain, type Queue, type Queues, type Target } from "./queues.js";
import type { Ready } from "./take.js";

/** What has come: changes by clients and other processes, retries that are due, targets that answer again. */

export interface NoticesNeeds {
  store: WebhookStore;
  register: Register;
  time: Timekeeper;
  clock: FullClock;
  logger: Logger;
  /** Called when deliveries of these webhooks are settled, or the webhooks themselves have changed. */
  onSettled(webhookIds: ReadonlySet<number>, changed: ReadonlySet<number>): void;
}

/** Milliseconds between two looks for what other processes have changed, at the most, while there is something to send. */
const noticeInterval = 10;
/** Milliseconds after a failed attempt in which a success at its target says nothing of it: that fails by itself, not with its target. */
const sameTime = 1_000;

interface Parts {
  queues: Queues;
  ready: Ready;
  times(): Times;
  lookAt(at: number): void;
}

/** Ends pauses that a client has ended, in whatever process. */
const createPauseNotices = ({ store }: NoticesNeeds, { queues, ready, times }: Parts) => {
  /** Targets whose pauses may have been ended: as long as an outcome is being recorded, the store may not have the pause yet. */
  const unsure = new Set<Target>();
  const isRecording = ({ underWay }: Target): boolean => [...underWay].some(({ state }) => state === "recording");

  /** `isNew`: others have written since the last time. */
  return (isNew: boolean): void => {
    const now = times().schedule;
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
  ({ time }: NoticesNeeds, { queues, ready, lookAt }: Parts) =>
  (webhookId: number, dueAt: number): void => {
    const queue = queues.find(webhookId);
    if (queue === undefined) return;
    queue.nextDue = Math.min(queue.nextDue, dueAt);
    if (dueAt <= time.schedule()) ready.add(queue.target);
    else lookAt(dueAt);
  };

/** Brings the queues into line with the store: what clients and other processes have changed. */
export const createNotices = (needs: NoticesNeeds, parts: Parts) => {
  const { store, register, time, onSettled } = needs;
  const { queues, ready, times } = parts;
  const noticePauses = createPauseNotices(needs, parts);
  const seen = { register: -1, work: -1 };
  let noticed = -Infinity;

  const bringWork = (queue: Queue): void => {
    lookAgain(queue);
    queue.nextDue = Math.min(queue.nextDue, time.schedule());
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
      if (isNew) bringWork(queue);
      else if (queue.nextDue <= now.schedule || queue.batchSince !== undefined || queue.webhook.rate !== null || queue.target.pausedUntil > 0) ready.add(queue.target);
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
    /** Two numbers are read, but not for each delivery. */
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

/** Makes the retries of a target due that answers again. */
export const createHasten = ({ store, time, clock, logger }: NoticesNeeds, brought: (webhookIds: Iterable<number>) => void) => {
  const hasten = (webhookId: number, isPing: boolean): { changed: boolean; left: boolean } => {
    const [now, wall] = [time.schedule(), clock.now()];
    const found = { changed: false, left: false };
    for (const id of store.deliveryIds(webhookId, "retrying", 0, Number.MAX_SAFE_INTEGER)) {
      const row = store.delivery(webhookId, id);
      if (row === undefined || row.dueAt === null || row.dueAt <= now || row.scheduledAt !== undefined) continue;
      if (!isPing && wall - (row.attempts.at(-1)?.at ?? 0) <= sameTime) {
        found.left = true;
        continue;
      }
      store.changeDelivery(row, { ...row, dueAt: now, scheduledAt: row.dueAt });
      found.changed = true;
    }
    return found;
  };

  return (target: Target, isPing: boolean): void => {
    if (!target.mayBeDown && !isPing) return;
    target.mayBeDown = false;
    const ids = [...target.queues.keys()].filter((id) => store.countOf(id, "retrying") > 0);
    if (ids.length === 0) return;
    const work = (): number[] =>
      ids.filter((id) => {
        const { changed, left } = hasten(id, isPing);
        if (left) target.mayBeDown = true;
        return changed;
      });
    store.transactionSoon(work, { isLong: true }).then(brought, (error: unknown) => {
      target.mayBeDown = true;
      logFailure(logger, "retries cannot be made due", error);
    });
  };
};
