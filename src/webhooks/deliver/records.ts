import { performance } from "node:perf_hooks";
import type { Logger } from "../../../types/node-context.js";
import type { Attempt } from "../../../types/webhooks.js";
import { logFailure } from "../failures.js";
import { isOwnEvent, type DeliveryRow, isOpen, type Pause, type WebhookRow } from "../rows/rows.js";
import { createHealth, type RecordResult, type RecordNeeds, type RecordRules, resultOf } from "./health.js";
import { afterAttempt, gone, type Now, type Result } from "./outcome.js";
import { batchKeyOf } from "../send/request.js";

/** An attempt that has ended. */
export interface AttemptResult {
  webhookId: number;
  ids: readonly number[];
  /** Where it went: the webhook may have another target by now. */
  target: string;
  origin: string;
  attempt: Attempt;
  isBatch: boolean;
  isPing: boolean;
  /** Milliseconds for which the target asked not to be sent anything; undefined where it did not. */
  asked?: number | undefined;
  /** How the target is paused from now on; null if it no longer is; undefined if nothing has changed. */
  pause?: Pause | null | undefined;
}

/** Records the outcomes of attempts: one transaction after another, each with all that have ended since the one before. */
export interface Records {
  /** `done` is called when the outcome is written: at once or, where it may wait for others, some milliseconds later. */
  add(ended: AttemptResult, mayWait: boolean, done: () => void): void;
  /** A delivery that the chain has taken back while an attempt was under way of which nothing is known. */
  settle(row: DeliveryRow): void;
  /** How many are not written yet. */
  count(): number;
  /** Writes what could not be written before. */
  tryAgain(): void;
  /** Resolves when everything is written, or cannot be. */
  end(): Promise<void>;
}

/** Outcomes that may wait are written when there are so many, or when the first has waited so many milliseconds. */
const gather = { most: 500, wait: 25 };

/** Milliseconds of writing in one transaction: everybody else waits until it ends. What is left is written in the next. */
const turn = 2;

/** Gathers what is to be written, so that much of it goes into one transaction. */
interface Gathering<Entry> {
  add(entry: Entry, mayWait: boolean): void;
  /** How many are not written yet. */
  count(): number;
  /** Writes what there is, also what could not be written before. */
  begin(): void;
  /** Resolves when everything is written, or cannot be. */
  end(): Promise<void>;
}

/** `write`: some of the entries, from the first on; never rejects; resolves to how many, 0 if none could be written: they are then tried again with what comes next. */
const createGathering = <Entry>(write: (entries: readonly Entry[]) => Promise<number>): Gathering<Entry> => {
  const entries: Entry[] = [];
  let writing: Promise<void> | undefined;
  /** How many, from the first on, are to be written without waiting for others. */
  let urgent = 0;
  let waiting: NodeJS.Timeout | undefined;

  const writeAll = async (): Promise<void> => {
    let written = 1;
    while (written > 0 && urgent > 0) {
      written = await write(entries);
      entries.splice(0, written);
      urgent -= Math.min(urgent, written);
    }
    writing = undefined;
    if (written > 0) expect();
  };

  const begin = (): void => {
    clearTimeout(waiting);
    waiting = undefined;
    urgent = entries.length;
    if (urgent > 0) writing ??= writeAll();
  };

  /** What waits is written after a moment. */
  const expect = (): void => {
    if (entries.length > 0) waiting ??= setTimeout(begin, gather.wait);
  };

  return {
    add: (entry, mayWait) => {
      entries.push(entry);
      if (mayWait && entries.length < gather.most) expect();
      else begin();
    },
    count: () => entries.length,
    begin,
    end: async () => {
      begin();
      await writing;
    },
  };
};

type Entry = { done(): void } & ({ ended: AttemptResult } | { ended?: undefined; row: DeliveryRow });

/** What one transaction goes by. */
interface Present {
  webhooks: ReadonlyMap<number, WebhookRow>;
  now: Now;
}

/** One line for each attempt. It names the target's origin only: paths and queries may carry secrets. */
const logRow = ({ row, origin }: RecordResult["rows"][number], logger: Logger): void => {
  const attempt = row.attempts.at(-1);
  if (attempt === undefined) return;
  const line = `webhook ${row.webhookId} delivery ${row.id} (${row.event}) attempt ${row.attemptCount} to ${origin}: ${resultOf(attempt)} after ${attempt.duration} ms, ${row.state}`;
  // It was the last one: what the receiver never gets must be seen.
  if (row.state === "dead") logger.warn(line);
  else logger.debug(line);
};

/** Writes outcomes; within a transaction. */
const createRecording = (rules: RecordRules, needs: RecordNeeds) => {
  const { store, register, clock, time, random } = needs;
  const { tell, recordHealth } = createHealth(rules, needs);

  /** A delivery after an attempt. One that was made before its time, as the target answers again, takes nothing from its schedule if it fails. */
  const next = (row: DeliveryRow, { attempt }: AttemptResult, result: Result, chance: Parameters<typeof afterAttempt>[3]): DeliveryRow => {
    const after = afterAttempt(row, attempt, result, chance, rules);
    const { scheduledAt } = row;
    const isEarly = !result.ok && !chance.isLast && result.status !== gone && scheduledAt !== undefined && chance.now.schedule < scheduledAt;
    const kept: DeliveryRow = isEarly ? { ...after, state: "retrying", failures: row.failures, stepSince: row.stepSince, dueAt: scheduledAt, scheduledAt, finishedAt: null } : after;
    return row.isTakenBack === true ? { ...kept, isTakenBack: true } : kept;
  };

  const recordEnd = (recorded: RecordResult, ended: AttemptResult, { webhooks, now }: Present): void => {
    const { webhookId, target, origin, attempt, isBatch, isPing, asked, pause } = ended;
    if (pause !== undefined) store.putPause(target, pause);
    // As it is in memory: its row may hold a long list. What decides is read anew.
    const webhook = webhooks.get(webhookId);
    const ok = attempt.stage === null;
    // What a target says that the webhook no longer has does not count.
    const result: Result = webhook?.target === target ? { ok, status: attempt.status, asked } : { ok, status: null };
    const rows = ended.ids.map((id) => store.delivery(webhookId, id)).filter((row) => row !== undefined);
    const batch = isBatch && !isPing ? batchKeyOf(webhookId, rows) : undefined;
    const chance = random();
    for (const row of rows) {
      // The webhook, which this disables, finds it again once it is enabled.
      if (result.status === gone && row.onRequest !== true && !isPing && !isOwnEvent(row.event)) continue;
      // Its webhook was disabled meanwhile: it has ended.
      if (!isOpen(row) && !ok) continue;
      // Its block may have been reverted while the attempt was under way.
      const isLast = !ok && row.isTakenBack === true;
      const after = next(row, ended, result, { now, random: chance, isLast, batch });
      store.changeDelivery(row, after);
      recorded.rows.push({ row: after, origin });
      if (after.state === "dead" || after.state === "superseded") recorded.givenUp.push(after.state);
      if (after.state === "dead" && !isPing && !isOwnEvent(row.event)) {
        tell(recorded, { event: "delivery.dead", data: { webhook: webhookId, delivery: row.id, event: row.event, reason: attempt.error ?? "" } });
      }
    }
    recorded.webhookIds.add(webhookId);
    if (!isPing && webhook !== undefined && webhook.target === target && !recorded.changed.has(webhookId)) recordHealth(recorded, webhook, { attempt, result }, now);
  };

  const settle = (recorded: RecordResult, { webhookId, id }: DeliveryRow): void => {
    const row = store.delivery(webhookId, id);
    recorded.webhookIds.add(webhookId);
    if (row === undefined || !isOpen(row)) return;
    store.changeDelivery(row, { ...row, state: "superseded", maybeSent: true, dueAt: null, finishedAt: time.passed() });
    recorded.givenUp.push("superseded");
    // What comes after it was not looked for.
    recorded.announced.add(webhookId);
  };

  return (recorded: RecordResult, entries: readonly Entry[]): number => {
    const begun = performance.now();
    const present: Present = {
      webhooks: register.rows(),
      now: { passed: time.passed(), schedule: time.schedule(), wall: clock.now() },
    };
    let count = 0;
    for (const entry of entries) {
      if (count > 0 && performance.now() - begun >= turn) break;
      if (entry.ended !== undefined) recordEnd(recorded, entry.ended, present);
      else settle(recorded, entry.row);
      count++;
    }
    return count;
  };
};

export const createRecords = (rules: RecordRules, needs: RecordNeeds, onRecorded: (recorded: RecordResult) => void): Records => {
  const { store, logger, onOutcome } = needs;
  const write = createRecording(rules, needs);

  const safely = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      logFailure(logger, "what follows the outcomes of deliveries failed", error);
    }
  };

  const gathering = createGathering<Entry>(async (entries) => {
    const recorded: RecordResult = { rows: [], webhookIds: new Set(), changed: new Set(), announced: new Set(), warnings: [], givenUp: [] };
    let written: readonly Entry[];
    try {
      written = entries.slice(0, await store.transactionSoon(() => write(recorded, entries), { isLong: true }));
    } catch (error) {
      // Nothing is let go of before it is written, so that it is not sent again meanwhile.
      logFailure(logger, "the outcomes of deliveries cannot be written", error);
      return 0;
    }
    // They are written, whatever fails from here on, and must not be again.
    for (const one of recorded.rows) logRow(one, logger);
    for (const warning of recorded.warnings) logger.warn(warning);
    safely(() => recorded.givenUp.forEach((state) => onOutcome?.(state)));
    safely(() => onRecorded(recorded));
    for (const { done } of written) safely(done);
    return written.length;
  });

  return {
    add: (ended, mayWait, done) => gathering.add({ ended, done }, mayWait),
    settle: (row) => gathering.add({ row, done: () => undefined }, false),
    count: gathering.count,
    tryAgain: gathering.begin,
    end: gathering.end,
  };
};
