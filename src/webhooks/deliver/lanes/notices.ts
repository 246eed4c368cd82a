import type { DeliveryRow, WebhookStore } from "../../../../types/webhook-store.js";
import type { Register } from "../../registry/register.js";
import type { Timekeeper } from "../../timekeeper.js";
import { addWritten, type Lane, type Lanes, lookAgain, type Revisions, type Target, type Times } from "./lanes.js";
import type { TargetQueue } from "./take.js";

/** What has come: deliveries that were written, retries that will be due, changes by clients and other processes. Lanes and the queue of targets are told. */

export interface NoticesNeeds {
  store: WebhookStore;
  register: Register;
  time: Timekeeper;
  lanes: Lanes;
  queue: TargetQueue;
  times(): Times;
  lookAt(at: number): void;
  /** Called when deliveries of these webhooks are settled, or the webhooks themselves have changed. */
  onSettled(webhookIds: ReadonlySet<number>, changed: ReadonlySet<number>): void;
}

/** Milliseconds between two looks for what other processes have changed, at the most, while there is something to send: what was read ahead may be gone. */
const noticeInterval = 10;

/** Tells lanes and queue of work that has come, or will. It does not throw: it is called where something else has failed, too. */
const createArrivals = ({ time, lanes, queue, lookAt }: Pick<NoticesNeeds, "time" | "lanes" | "queue" | "lookAt">) => {
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

  /** `isInLine`: the lanes know of all that others have written and changed. If they may not, they read these, too. */
  const addAll = (rows: readonly DeliveryRow[], isInLine: boolean): void => {
    for (const row of rows) {
      const lane = row.state === "pending" ? lanes.find(row.webhookId) : undefined;
      if (lane === undefined) continue;
      if (isInLine) {
        addWritten(lane, row);
        queue.add(lane.target);
      } else bringWork(lane);
    }
    if (isInLine) lanes.handed.upTo = Math.max(lanes.handed.upTo, rows.at(-1)?.id ?? 0);
  };

  const bringWorkOf = (webhookIds: Iterable<number>): void => {
    for (const id of webhookIds) {
      const lane = lanes.find(id);
      if (lane !== undefined) bringWork(lane);
    }
  };

  return { bringWork, bringWorkOf, expectRetry, addAll };
};

/** Ends pauses that a client has ended, in whatever process. */
const createPauseNotices = ({ store, lanes, queue, times }: NoticesNeeds) => {
  /** Targets whose pauses may have been ended: as long as an outcome is being recorded, the store may not have the pause yet. */
  const unsure = new Set<Target>();

  const isRecording = ({ underWay }: Target): boolean => {
    for (const { state } of underWay) if (state === "recording") return true;
    return false;
  };

  /** `isNew`: others have written since the last time. */
  return (isNew: boolean): void => {
    const now = times().schedule;
    if (isNew) for (const target of lanes.targets()) if (target.lastPause > 0 && target.pausedUntil > now) unsure.add(target);
    for (const target of unsure) {
      if (isRecording(target)) continue;
      if (store.pause(target.url) === undefined) Object.assign(target, { pausedUntil: 0, lastPause: 0 });
      unsure.delete(target);
      queue.add(target);
    }
  };
};

/** Brings lanes and queue into line with the store. */
export const createNotices = (needs: NoticesNeeds) => {
  const { store, register, lanes, queue, times, onSettled } = needs;
  const { bringWork, bringWorkOf, expectRetry, addAll } = createArrivals(needs);
  const noticePauses = createPauseNotices(needs);
  let seen: Revisions = { register: -1, work: -1 };

  const noticeWebhooks = (): void => {
    const revision = store.registerRevision();
    if (revision === seen.register) return;
    const changed = seen.register === -1 ? undefined : store.changedSince(seen.register);
    for (const id of new Set(changed ?? [...lanes.ids(), ...register.ids()])) {
      const target = lanes.align(id, register.find(id));
      if (target !== undefined) queue.add(target);
    }
    seen = { ...seen, register: revision };
    onSettled(new Set(), new Set(changed ?? []));
  };

  const noticeWork = (): void => {
    const now = times();
    const revision = store.workRevision();
    // Any lane may have some of it.
    const isNew = revision !== seen.work;
    if (isNew) seen = { ...seen, work: revision };
    for (const target of lanes.targets()) {
      for (const lane of target.lanes.values()) {
        if (isNew) bringWork(lane);
        else if (lane.nextDue <= now.schedule || lane.batchSince !== undefined || lane.webhook.rate !== null || target.pausedUntil > 0) queue.add(target);
      }
    }
    noticePauses(isNew);
  };

  let noticed = -Infinity;

  /** Two numbers are read, but not for each delivery. */
  const noticeOthers = (now: number): void => {
    noticePauses(false);
    if (now - noticed < noticeInterval) return;
    noticed = now;
    noticeWebhooks();
    if (store.workRevision() !== seen.work) noticeWork();
  };

  return {
    seen: () => seen,
    noticeOthers,
    noticeWebhooks,
    expectRetry,
    /** As `Dispatcher` has it. */
    handOver: (rows: readonly DeliveryRow[]): void => {
      // False where the store cannot be asked, too: the deliveries must not be forgotten because of that.
      let isInLine = false;
      try {
        isInLine = store.workRevision() === seen.work && store.registerRevision() === seen.register;
      } finally {
        addAll(rows, isInLine);
      }
    },
    bringWork: bringWorkOf,
    noticeAll: (): void => {
      noticeWebhooks();
      noticeWork();
    },
  };
};
