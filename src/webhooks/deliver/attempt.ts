import type { Logger } from "../../../types/node-context.js";
import type { DeliveryRow } from "../../../types/webhook-store.js";
import { isPromised } from "../../async/maybe-promise.js";
import { createOpenCount, type OpenCount } from "../../async/open-count.js";
import { type FullClock, readingsOf } from "../../async/clock.js";
import { logFailure } from "../log-failure.js";
import type { Answer, OnOutcome, Sender } from "../send/http-sender.js";
import type { NodeKey } from "../send/signature.js";
import type { Timekeeper } from "../timekeeper.js";
import { monotonic, type Placing } from "./lanes/concurrency.js";
import { type Attempt, type Lanes, lookAgain, type UnderWay } from "./lanes/lanes.js";
import { attemptOf, pauseAfter } from "./outcome.js";
import type { Payloads } from "./payloads.js";
import type { Ended, Records } from "./records.js";
import { type Loaded, loadEvents, requestOf } from "./request.js";
import { givePlaceBack, slowFrom, type TargetQueue } from "./lanes/take.js";

export interface AttemptsNeeds {
  payloads: Payloads;
  sender: Sender;
  /** Is told of every attempt that has ended. */
  onOutcome?: OnOutcome | undefined;
  clock: FullClock;
  time: Timekeeper;
  logger: Logger;
  nodeKey: NodeKey | undefined;
  records: Records;
  lanes: Lanes;
  placing: Placing;
  queue: TargetQueue;
  underWay: UnderWay;
  /** There may be something to take: at once, or soon. */
  pump(): void;
  pumpSoon(): void;
}

/** Milliseconds for which nothing is sent to a target after an attempt there could not be made. */
const moment = 1_000;

/** What an answer says of its target's pause. */
type Judged = Pick<Ended, "asked" | "pause">;

/** Before it is recorded: how the target answers decides what it is sent next. */
const judge = ({ clock, time }: AttemptsNeeds, { target, kind }: Attempt, answer: Answer, duration: number): Judged => {
  if (kind === "ping") return {};
  target.wasSlow = duration > slowFrom;
  const now = time.schedule();
  const { asked, pause: length } = pauseAfter(answer, clock.now(), { length: target.lastPause, rest: target.pausedUntil - now });
  if (length === undefined) return { asked };
  target.lastPause = length ?? 0;
  if (length === null) return { pause: null };
  target.pausedUntil = now + length;
  return { asked, pause: { length, ...readingsOf(clock) } };
};

/** `isDelivered`: it is recorded, and there is nothing more to do about it. `isWhole`: all that was taken has been sent. */
const letGo = (needs: AttemptsNeeds, attempt: Attempt, isDelivered: boolean, isWhole = true): void => {
  const { lanes, queue, underWay, time } = needs;
  const { lane, rows, target, kind } = attempt;
  for (const { id } of rows) underWay.delete(id);
  lane.open.taken -= rows.length;
  target.underWay.delete(attempt);
  givePlaceBack(attempt, needs);
  const now = lanes.find(lane.webhook.id);
  if (now === undefined) return;
  // Of what is taken, the store is not asked when it is due.
  if (!isDelivered || now.skipped) now.nextDue = Math.min(now.nextDue, time.schedule());
  // What was read ahead may lack what was given back.
  if (!isWhole) lookAgain(now);
  // With a first attempt that was delivered, its target has been asked again when it ended: not another that the webhook has got meanwhile.
  if (kind !== "first" || !isDelivered || now.skipped || !isWhole || now.target !== target) queue.add(now.target);
};

const idOf = ({ id }: DeliveryRow): number => id;

/** An attempt that was answered. */
interface Answered {
  attempt: Attempt;
  sent: readonly DeliveryRow[];
  answer: Answer;
  /** Milliseconds. */
  duration: number;
}

/** Records outcomes: what was not sent has none, as its block is no longer kept. */
const createRecord = (needs: AttemptsNeeds, done: (attempt: Attempt, isDelivered: boolean, isWhole?: boolean) => void) => {
  const { records } = needs;

  const recordLost = (attempt: Attempt, sent: readonly DeliveryRow[]): void => {
    const lost = attempt.rows.filter((row) => !sent.includes(row)).map(idOf);
    records.addLost(attempt.lane.webhook.id, lost, () => {
      if (sent.length === 0) done(attempt, false, false);
    });
  };

  /**
   * An outcome is recorded before its deliveries are let go of. What was delivered may wait for others to be recorded with it, while the next is
   * sent: if the process is killed meanwhile, all that is not recorded is sent again, in the same order.
   */
  const record = ({ attempt, sent, answer, duration }: Answered, judged: Judged, areOthersSent: boolean): void => {
    const { lane, target, kind, at, seen } = attempt;
    const { webhook } = lane;
    const isDelivered = answer.failure === null;
    const isWhole = sent.length === attempt.rows.length;
    if (!isWhole) recordLost(attempt, sent);
    const ended: Ended = { webhookId: webhook.id, ids: sent.map(idOf), read: { rows: sent, seen }, target: target.url, origin: target.origin.name, attempt: attemptOf(at, duration, answer), isBatch: sent.length > 1 || webhook.batch !== null, isPing: kind === "ping", ...judged };
    records.add(ended, isDelivered && kind !== "ping" && areOthersSent, () => done(attempt, isDelivered, isWhole));
  };

  return { record, recordLost };
};

/** Gives the place of what was delivered to what comes next. A failure may disable the webhook: nothing more is sent there before that is known. */
const makePlace = (needs: AttemptsNeeds, { attempt, answer, duration }: Answered): Judged => {
  attempt.state = "recording";
  const judged = judge(needs, attempt, answer, duration);
  if (answer.failure === null) {
    attempt.hasArrived = true;
    attempt.target.underWay.delete(attempt);
    givePlaceBack(attempt, needs);
  }
  return judged;
};

interface EndNeeds {
  record(one: Answered, judged: Judged, areOthersSent: boolean): void;
  givenBack(attempt: Attempt, error: unknown): void;
}

/**
 * Ends attempts that were answered: those of one turn of the event loop together. What comes next is taken and sent for all of them, then their outcomes are
 * recorded; one by one, 32 targets take a sixth longer.
 */
const createEnd = (needs: AttemptsNeeds, requests: OpenCount, { record, givenBack }: EndNeeds) => {
  let answered: Answered[] = [];

  const safely = (one: Answered, work: (one: Answered) => void): void => {
    try {
      work(one);
    } catch (error) {
      givenBack(one.attempt, error);
    }
  };

  const endAll = (): void => {
    const all = answered;
    answered = [];
    const placed: { one: Answered; judged: Judged }[] = [];
    for (const one of all) {
      requests.leave();
      safely(one, () => placed.push({ one, judged: makePlace(needs, one) }));
    }
    needs.pump();
    const areOthersSent = requests.count > 0;
    for (const { one, judged } of placed) safely(one, () => record(one, judged, areOthersSent));
  };

  return (one: Answered): void => {
    const isFirst = answered.push(one) === 1;
    // The only request: no other can be answered in this turn, which need not be waited for.
    if (requests.count === 1) endAll();
    else if (isFirst) setImmediate(endAll);
  };
};

interface Sent {
  answered(one: Answered): void;
  failed(attempt: Attempt, error: unknown): void;
}

const send = ({ sender, time, nodeKey }: AttemptsNeeds, attempt: Attempt, events: readonly Loaded[], { answered, failed }: Sent): void => {
  const { lane, rows, kind, at } = attempt;
  attempt.state = "sending";
  const sent = events.length === rows.length ? rows : events.map(({ row }) => row);
  const isBatch = lane.webhook.batch !== null && kind !== "ping" && (kind === "first" || sent[0]?.batch !== undefined);
  const begun = monotonic();
  sender.send(requestOf(lane.webhook, events, isBatch, { wall: at, passed: time.passed() }, nodeKey)).then(
    (answer) => answered({ attempt, sent, answer, duration: monotonic() - begun }),
    (error: unknown) => failed(attempt, error),
  );
};

/** The other steps: sends what was taken, records the outcome, and lets go of it. */
export const createAttempts = (needs: AttemptsNeeds) => {
  const { payloads, onOutcome, time, logger, pumpSoon } = needs;
  /** Requests that are under way. */
  const requests = createOpenCount();
  let abandoned = false;

  const done = (attempt: Attempt, isDelivered: boolean, isWhole?: boolean): void => {
    letGo(needs, attempt, isDelivered, isWhole);
    pumpSoon();
  };

  /** Whatever fails, what was taken is given back, to be taken again after a moment: before all that comes after it. */
  const givenBack = (attempt: Attempt, error: unknown): void => {
    const { lane, target } = attempt;
    logFailure(logger, `a delivery of webhook ${lane.webhook.id} could not be sent`, error);
    target.pausedUntil = Math.max(target.pausedUntil, time.schedule() + moment);
    done(attempt, false, false);
  };

  const { record, recordLost } = createRecord(needs, done);
  const end = createEnd(needs, requests, { record, givenBack });

  const failed: Sent["failed"] = (attempt, error) => {
    requests.leave();
    givenBack(attempt, error);
  };

  const answered: Sent["answered"] = (one) => {
    const { answer, duration } = one;
    try {
      onOutcome?.(answer.failure === null ? "delivered" : "failed", duration);
    } catch (error) {
      logFailure(logger, "an attempt could not be counted", error);
    }
    if (abandoned) requests.leave();
    else end(one);
  };

  const sendLoaded = (attempt: Attempt, events: readonly Loaded[]): void => {
    if (events.length > 0) return send(needs, attempt, events, { answered, failed });
    requests.leave();
    if (!abandoned) recordLost(attempt, []);
  };

  /** No promise but the request's own: thousands of attempts are made in a second. */
  const run = (attempt: Attempt): void => {
    requests.enter();
    try {
      const loaded = loadEvents(payloads, attempt.rows);
      if (isPromised(loaded)) loaded.then((events) => sendLoaded(attempt, events)).catch((error: unknown) => failed(attempt, error));
      else sendLoaded(attempt, loaded);
    } catch (error) {
      failed(attempt, error);
    }
  };

  return {
    run,
    /** What is under way is given up, and its outcome not recorded. */
    abandon: (): void => {
      abandoned = true;
    },
    ended: requests.none,
  };
};
