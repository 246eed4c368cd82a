import type { Logger } from "../../../types/node-context.js";
import type { DeliveryAnswer } from "../../../types/webhooks.js";
import { createOpenCount, type OpenCount } from "../../async/open-count.js";
import { type FullClock, readingsOf } from "../../async/clock.js";
import { logFailure } from "../failures.js";
import type { Sender } from "../send/http-sender.js";
import { type EventOfRow, type Messages, type NodeKey, requestOf } from "../send/request.js";
import type { WebhookStore } from "../rows/store.js";
import type { Timekeeper } from "../timekeeper.js";
import { attemptRecord, type OnOutcome, pauseAfter } from "./outcome.js";
import { type InFlight, lookAgain, monotonic, type Queues, type Slots, type Target, type UnderWay } from "./queues.js";
import type { AttemptResult, Records } from "./write-outcomes.js";
import { giveSlotBack, type Ready, slowFrom } from "./take.js";

export interface AttemptsNeeds {
  store: WebhookStore;
  messages: Messages;
  sender: Sender;
  /** Is told of every attempt that has ended. */
  onOutcome?: OnOutcome | undefined;
  clock: FullClock;
  time: Timekeeper;
  logger: Logger;
  nodeKey: NodeKey | undefined;
  records: Records;
  queues: Queues;
  slots: Slots;
  ready: Ready;
  underWay: UnderWay;
  /** There may be something to take: at once, or soon. */
  pump(): void;
  pumpSoon(): void;
  /** Deliveries of webhooks have become due. */
  brought(webhookIds: Iterable<number>): void;
}

/** Milliseconds for which nothing is sent to a target after an attempt there could not be made. */
const moment = 1_000;

/** How an answer changes its target's pause. */
type PauseChange = Pick<AttemptResult, "asked" | "pause">;

/** An attempt that was answered. */
interface AttemptAnswer {
  attempt: InFlight;
  answer: DeliveryAnswer;
  /** Milliseconds. */
  duration: number;
}

/** Before the outcome is recorded, as it decides what the target is sent next. */
const judge = ({ clock, time }: AttemptsNeeds, { attempt: { target, kind }, answer, duration }: AttemptAnswer): PauseChange => {
  if (kind === "ping") return {};
  target.wasSlow = duration > slowFrom;
  const now = time.dueTime();
  const { asked, pause: length } = pauseAfter(answer, clock.now(), { length: target.lastPause, rest: target.pausedUntil - now });
  if (length === undefined) return { asked };
  target.lastPause = length ?? 0;
  if (length === null) return { pause: null };
  target.pausedUntil = now + length;
  return { asked, pause: { length, ...readingsOf(clock) } };
};

/** How an attempt ended: its success is recorded, its failure is, or it was given back. */
type Ending = "delivered" | "failed" | "unsent";

const finish = (needs: AttemptsNeeds, attempt: InFlight, ending: Ending): void => {
  const { queues, ready, underWay, time } = needs;
  const { queue, rows, target, kind } = attempt;
  for (const { id } of rows) underWay.delete(id);
  queue.inFlight.deliveries -= rows.length;
  target.underWay.delete(attempt);
  queues.release(target);
  giveSlotBack(attempt, needs);
  const now = queues.find(queue.webhook.id);
  if (now === undefined) return;
  // While a delivery is taken, its due time is not looked up.
  if (ending !== "delivered" || now.skipped) now.nextDue = Math.min(now.nextDue, time.dueTime());
  // What was given back comes before the rows that were read of the queue.
  if (ending === "unsent") lookAgain(now);
  // A delivered first attempt has woken its target already (`settleAnswer`). In all other cases wake the webhook's present target.
  const isAwake = kind === "first" && ending === "delivered" && !now.skipped && now.target === target;
  if (!isAwake) ready.add(now.target);
};

/** After a success the slot is free at once. After a failure, which may disable the webhook, only once the outcome is recorded. */
const settleAnswer = (needs: AttemptsNeeds, one: AttemptAnswer, hasten: ReturnType<typeof createHasten>): PauseChange => {
  const { attempt, answer } = one;
  attempt.state = "recording";
  const judged = judge(needs, one);
  if (answer.failure === null) {
    for (const { id, attemptCount } of attempt.rows) needs.underWay.set(id, { attemptCount, hasArrived: true });
    attempt.target.underWay.delete(attempt);
    giveSlotBack(attempt, needs);
    hasten(attempt.target, attempt.kind === "ping");
  } else if (attempt.kind !== "ping") attempt.target.mayBeDown = true;
  return judged;
};

/** Ends the attempts that were answered in one turn of the event loop: the next deliveries are sent for all, then the outcomes recorded. */
const createEnd = (needs: AttemptsNeeds, requests: OpenCount, { done, givenBack }: { done(attempt: InFlight, ending: Ending): void; givenBack(attempt: InFlight, error: unknown): void }) => {
  const hasten = createHasten(needs);
  let answered: AttemptAnswer[] = [];

  /**
   * Outcomes are recorded before their deliveries are let go of. A success may wait to be recorded with others, while the next delivery is
   * sent: if the process is killed meanwhile, all that is not recorded is sent again, in the same order.
   */
  const record = ({ attempt, answer, duration }: AttemptAnswer, judged: PauseChange, areOthersSent: boolean): void => {
    const { queue, rows, target, kind, isBatch, at } = attempt;
    const isDelivered = answer.failure === null;
    const isPing = kind === "ping";
    const result: AttemptResult = {
      webhookId: queue.webhook.id,
      ids: rows.map(({ id }) => id),
      target: target.url,
      origin: target.origin.name,
      attempt: attemptRecord(at, duration, answer),
      isBatch,
      isPing,
      ...judged,
    };
    needs.records.add(result, isDelivered && !isPing && areOthersSent, () => done(attempt, isDelivered ? "delivered" : "failed"));
  };

  const safely = (one: AttemptAnswer, work: (one: AttemptAnswer) => void): void => {
    try {
      work(one);
    } catch (error) {
      givenBack(one.attempt, error);
    }
  };

  const endAll = (): void => {
    const all = answered;
    answered = [];
    const judgedAll: { one: AttemptAnswer; judged: PauseChange }[] = [];
    for (const one of all) {
      requests.leave();
      safely(one, () => judgedAll.push({ one, judged: settleAnswer(needs, one, hasten) }));
    }
    needs.pump();
    const areOthersSent = requests.count > 0;
    for (const { one, judged } of judgedAll) safely(one, () => record(one, judged, areOthersSent));
  };

  return (one: AttemptAnswer): void => {
    const isFirst = answered.push(one) === 1;
    // The only request: no other can be answered in this turn, which need not be waited for.
    if (requests.count === 1) endAll();
    else if (isFirst) setImmediate(endAll);
  };
};

/** A delivery that failed within so many milliseconds of a success at its target fails by itself, and keeps its schedule. */
const sameTime = 1_000;

/** Makes the retries of a target due that answers again. */
const createHasten = ({ store, time, clock, logger, brought }: AttemptsNeeds) => {
  const hastenOf = (webhookId: number, isPing: boolean): { changed: boolean; left: boolean } => {
    const [now, wall] = [time.dueTime(), clock.now()];
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
        const { changed, left } = hastenOf(id, isPing);
        if (left) target.mayBeDown = true;
        return changed;
      });
    store.transactionSoon(work, { isLong: true }).then(brought, (error: unknown) => {
      target.mayBeDown = true;
      logFailure(logger, "retries cannot be brought forward", error);
      // Their queues passed them over meanwhile.
      brought(ids);
    });
  };
};

/** Send, record, next: the steps after `take`. */
export const createAttempts = (needs: AttemptsNeeds) => {
  const { messages, sender, onOutcome, time, nodeKey, logger, pumpSoon } = needs;
  /** Requests that are under way. */
  const requests = createOpenCount();
  let abandoned = false;

  const done = (attempt: InFlight, ending: Ending): void => {
    finish(needs, attempt, ending);
    pumpSoon();
  };

  /** After an error, the deliveries are taken again in a moment, before all that come after them. */
  const givenBack = (attempt: InFlight, error: unknown): void => {
    const { queue, target } = attempt;
    logFailure(logger, `a delivery of webhook ${queue.webhook.id} could not be sent`, error);
    target.pausedUntil = Math.max(target.pausedUntil, time.dueTime() + moment);
    done(attempt, "unsent");
  };

  const end = createEnd(needs, requests, { done, givenBack });

  const failed = (attempt: InFlight, error: unknown): void => {
    requests.leave();
    givenBack(attempt, error);
  };

  const answered = (one: AttemptAnswer): void => {
    const { answer, duration } = one;
    try {
      onOutcome?.(answer.failure === null ? "delivered" : "failed", duration);
    } catch (error) {
      logFailure(logger, "an attempt could not be counted", error);
    }
    if (abandoned) requests.leave();
    else end(one);
  };

  /** No promise but the request's own: thousands of attempts are made in a second. */
  const send = (attempt: InFlight): void => {
    const { queue, rows, isBatch, at } = attempt;
    const events = rows.flatMap((row): EventOfRow[] => {
      const event = messages.load(row.messageId);
      return event === undefined ? [] : [{ row, event }];
    });
    attempt.state = "sending";
    const begun = monotonic();
    sender.send(requestOf(queue.webhook, events, isBatch, { wall: at, passed: time.passed() }, nodeKey)).then(
      (answer) => answered({ attempt, answer, duration: monotonic() - begun }),
      (error: unknown) => failed(attempt, error),
    );
  };

  return {
    run: (attempt: InFlight): void => {
      requests.enter();
      try {
        send(attempt);
      } catch (error) {
        failed(attempt, error);
      }
    },
    /** What is under way is given up, and its outcome not recorded. */
    abandon: (): void => void (abandoned = true),
    ended: requests.none,
  };
};
