import type { Logger } from "../../../types/node-context.js";
import { type FullClock, readingsOf } from "../../clock.js";
import { logFailure } from "../log-failure.js";
import type { Answer, Sender } from "../send/http-sender.js";
import type { NodeKey } from "../send/signature.js";
import type { Timekeeper } from "../timekeeper.js";
import { monotonic } from "./concurrency.js";
import { type Lanes, lookAgain } from "./lanes.js";
import { attemptOf, pauseOf } from "./outcome.js";
import type { Payloads } from "./payloads.js";
import type { Ended, Records } from "./records.js";
import { loadEvents, requestOf } from "./request.js";
import type { Attempt, UnderWay } from "./take.js";
import type { TargetQueue } from "./target-queue.js";

export interface AttemptsNeeds {
  payloads: Payloads;
  sender: Sender;
  clock: FullClock;
  time: Timekeeper;
  logger: Logger;
  nodeKey: NodeKey | undefined;
  records: Records;
  lanes: Lanes;
  queue: TargetQueue;
  underWay: UnderWay;
  /** There may be something to take: at once, or soon. */
  pump(): void;
  pumpSoon(): void;
}

/** An attempt that took longer than this (milliseconds) was slow. */
const slowFrom = 1_000;

const send = async ({ payloads, sender, time, nodeKey }: AttemptsNeeds, attempt: Attempt): Promise<{ answer: Answer; duration: number } | undefined> => {
  const { lane, kind, at } = attempt;
  const loaded = await loadEvents(payloads, attempt.rows);
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

/** Before it is recorded: how the target answers decides what it is sent next. */
const judge = ({ clock, time }: AttemptsNeeds, { target, kind }: Attempt, answer: Answer, duration: number): Ended["pause"] => {
  if (kind === "ping") return undefined;
  target.slow = duration > slowFrom;
  const before = target.lastPause;
  const length = pauseOf(answer, clock.now(), before);
  target.lastPause = length ?? 0;
  if (length === undefined) return before === 0 ? undefined : null;
  target.pausedUntil = time.schedule() + length;
  return { length, ...readingsOf(clock) };
};

/** `isDelivered`: it is recorded, and there is nothing more to do about it. */
const letGo = ({ lanes, queue, underWay, time }: AttemptsNeeds, { lane, rows, target, leave }: Attempt, ids: readonly number[], isDelivered: boolean): void => {
  for (const id of ids) {
    lane.taken.delete(id);
    target.underWay.delete(id);
    underWay.delete(id);
  }
  leave();
  const now = lanes.find(lane.webhook.id);
  if (now === undefined) return;
  // Of what is taken, the store is not asked when it is due.
  if (!isDelivered || now.skipped) now.nextDue = Math.min(now.nextDue, time.schedule());
  // What was read ahead may lack what was given back.
  if (rows.length !== ids.length) lookAgain(now);
  queue.add(now.target);
};

/** The other steps: sends what was taken, records the outcome, and lets go of it. */
export const createAttempts = (needs: AttemptsNeeds) => {
  const { records, logger, pump, pumpSoon } = needs;
  const sending = new Set<Promise<unknown>>();
  let abandoned = false;

  /**
   * An outcome is recorded before its deliveries are let go of. What was delivered waits for others to be recorded with it, while the next is
   * sent: if the process is killed meanwhile, all that is not recorded is sent again, in the same order.
   */
  const record = async (attempt: Attempt, ids: readonly number[], { answer, duration }: { answer: Answer; duration: number }): Promise<void> => {
    const { lane, target, kind, rows, at } = attempt;
    const pause = judge(needs, attempt, answer, duration);
    const isDelivered = answer.failure === null;
    // A failure may disable the webhook: nothing more is sent there before that is known.
    if (isDelivered) {
      attempt.leave();
      for (const id of ids) target.underWay.delete(id);
    }
    if (rows.length < ids.length) {
      const kept = new Set(rows.map(({ id }) => id));
      await records.addLost(lane.webhook.id, ids.filter((id) => !kept.has(id)));
    }
    pump();
    const ended = { webhookId: lane.webhook.id, ids: rows.map(({ id }) => id), target: target.url, origin: target.origin.name, attempt: attemptOf(at, duration, answer), isBatch: rows.length > 1 || lane.webhook.batch !== null, isPing: kind === "ping", pause };
    await records.add(ended, isDelivered && kind !== "ping" && sending.size > 0);
  };

  const run = async (attempt: Attempt): Promise<void> => {
    let isDelivered = false;
    const ids = attempt.rows.map(({ id }) => id);
    try {
      const request = send(needs, attempt);
      sending.add(request);
      const sent = await request.finally(() => sending.delete(request));
      if (abandoned) return;
      attempt.state = "recording";
      if (sent === undefined) await records.addLost(attempt.lane.webhook.id, ids);
      else await record(attempt, ids, sent);
      isDelivered = sent?.answer.failure === null;
    } catch (error) {
      logFailure(logger, `a delivery of webhook ${attempt.lane.webhook.id} could not be sent`, error);
    }
    letGo(needs, attempt, ids, isDelivered);
    pumpSoon();
  };

  return {
    run,
    /** What is under way is given up, and its outcome not recorded. */
    abandon: (): void => {
      abandoned = true;
    },
    ended: async (): Promise<void> => {
      while (sending.size > 0) await Promise.allSettled(sending);
    },
  };
};
