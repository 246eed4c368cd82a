import type { Clock, Logger } from "../../../types/node-context.js";
import type { WebhookStore } from "../../../types/webhook-store.js";
import { logFailure } from "../log-failure.js";
import { type AgendaRules, createAgenda, type Task } from "./agenda.js";
import type { Sender } from "../send/http-sender.js";
import type { Register } from "../registry/register.js";
import { attemptOf, logDisabled, logSettled, type SettleRules } from "./record-attempt.js";
import { createSettling } from "./record-queue.js";
import type { Timekeeper } from "../timekeeper.js";
import type { After } from "../timers.js";

export type WorkerOptions = SettleRules & AgendaRules;

export interface WorkerNeeds {
  store: WebhookStore;
  register: Register;
  sender: Sender;
  clock: Clock;
  time: Timekeeper;
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

/** Milliseconds between two looks, at the most: other processes may have brought work, and retries may have become due. */
const lookInterval = 1_000;
/** An attempt that took longer than this (milliseconds) was slow. */
const slowFrom = 1_000;
/** Attempts that have ended and are not yet recorded: while there are so many, nothing new is sent. */
const mostUnsettled = 1_000;

export const createWorker = (options: WorkerOptions, needs: WorkerNeeds): Worker => {
  const { sender, time, after, logger } = needs;
  const agenda = createAgenda(options, needs);
  const running = new Set<Promise<void>>();
  let state: "idle" | "running" | "stopped" = "idle";
  let timer: { at: number; cancel(): void } | undefined;
  let pumping: NodeJS.Immediate | undefined;
  let abandoned = false;

  const attempt = async ({ webhookId, id, outgoing, at, ended, written }: Task): Promise<void> => {
    const begun = performance.now();
    const answer = await sender.send(outgoing);
    const duration = performance.now() - begun;
    if (abandoned) return;
    ended({ slow: duration > slowFrom, failed: answer.failure !== null });
    settling.add({ webhookId, id, target: outgoing.target, attempt: attemptOf(at, duration, answer), retryAfter: answer.retryAfter, date: answer.date }, written);
    safely(pump);
  };

  const settling = createSettling(options, needs, (settled) => {
    for (const one of settled) {
      logSettled(one, logger);
      if (one.row.dueAt !== null) expectRetry(one.row.webhookId, one.row.dueAt);
      if (one.disabled !== undefined) logDisabled(one.disabled, logger);
    }
    safely(agenda.noticeWebhooks);
    pumpSoon();
  });

  const expectRetry = (webhookId: number, dueAt: number): void => {
    agenda.expectRetry(webhookId, dueAt);
    if (dueAt > time.schedule()) lookAt(dueAt);
  };

  const pump = (): void => {
    while (state === "running" && running.size < options.concurrency && settling.count() < mostUnsettled) {
      const task = agenda.next();
      if (task === undefined) return;
      const work = attempt(task).finally(() => running.delete(work));
      running.add(work);
    }
  };

  /** Soon, but not on the stack of whoever brought the work: that may be the host's own. */
  const pumpSoon = (): void => {
    pumping ??= setImmediate(() => {
      pumping = undefined;
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
      settling.tryAgain();
      agenda.noticeWebhooks();
      agenda.noticeWork();
      pump();
    });
    const now = time.schedule();
    lookAt(Math.min(agenda.nextDue(now), now + lookInterval));
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
    wake: (webhookIds) => {
      if (state !== "running") return;
      agenda.wake(webhookIds);
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
      while (running.size > 0) await Promise.all(running);
      cancel();
      clearImmediate(pumping);
      await settling.end();
      await sender.close();
    },
  };
};
