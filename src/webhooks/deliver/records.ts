import type { Logger } from "../../../types/node-context.js";
import type { Pause, WebhookRow } from "../../../types/webhook-store.js";
import type { Attempt } from "../../../types/webhooks.js";
import { logFailure } from "../log-failure.js";
import { createGathering } from "./gathering.js";
import { createHealth, isOwnEvent, type Recorded, type RecordNeeds, type RecordRules, resultOf } from "./health.js";
import { afterAttempt, type Now } from "./outcome.js";
import { batchKeyOf } from "./request.js";

/** An attempt that has ended. */
export interface Ended {
  webhookId: number;
  ids: readonly number[];
  /** Where it went: the webhook may have another target by now. */
  target: string;
  origin: string;
  attempt: Attempt;
  isBatch: boolean;
  isPing: boolean;
  /** How the target is paused from now on; null if it no longer is; undefined if nothing has changed. */
  pause?: Pause | null | undefined;
}

/** Records the outcomes of attempts: one transaction after another, each with all that have ended since the one before. */
export interface Records {
  /** Resolves when the outcome is written: at once or, where it may wait for others, some milliseconds later. */
  add(ended: Ended, mayWait: boolean): Promise<void>;
  /** Deliveries of blocks that are no longer kept. */
  addLost(webhookId: number, ids: readonly number[]): Promise<void>;
  /** How many are not written yet. */
  count(): number;
  /** Writes what could not be written before. */
  tryAgain(): void;
  /** Resolves when everything is written, or cannot be. */
  end(): Promise<void>;
}

interface Entry {
  write(recorded: Recorded, webhooks: ReadonlyMap<number, WebhookRow>): void;
  done(): void;
}

/** One line for each attempt. It names the target's origin only: paths and queries may carry secrets. */
const logRow = ({ row, origin }: Recorded["rows"][number], logger: Logger): void => {
  const attempt = row.attempts.at(-1);
  if (attempt === undefined) return;
  const line = `webhook ${row.webhookId} delivery ${row.id} (${row.event}) attempt ${row.attemptCount} to ${origin}: ${resultOf(attempt)} after ${attempt.duration} ms, ${row.state}`;
  // It was the last one: what the receiver never gets must be seen.
  if (row.state === "dead") logger.warn(line);
  else logger.debug(line);
};

/** Writes outcomes; within a transaction. */
const createRecording = (rules: RecordRules, needs: RecordNeeds) => {
  const { store, clock, time, random } = needs;
  const { tell, recordHealth } = createHealth(rules, needs);
  const nowOf = (): Now => ({ passed: time.passed(), schedule: time.schedule(), wall: clock.now() });

  const recordEnd = (recorded: Recorded, webhooks: ReadonlyMap<number, WebhookRow>, { webhookId, ids, target, origin, attempt, isBatch, isPing, pause }: Ended): void => {
    const now = nowOf();
    if (pause !== undefined) store.putPause(target, pause);
    // As it is in memory: its row may hold a long list. What decides is read anew.
    const webhook = webhooks.get(webhookId);
    const ok = attempt.stage === null;
    // The status of a target that the webhook no longer has does not count.
    const result = { ok, status: webhook?.target === target ? attempt.status : null };
    const rows = ids.map((id) => store.delivery(webhookId, id)).filter((row) => row !== undefined);
    const batch = isBatch && !isPing ? batchKeyOf(webhookId, rows) : undefined;
    const chance = random();
    for (const row of rows) {
      // Its block may have been reverted while the attempt was under way.
      const isLast = !ok && store.isSuperseded(row.messageId);
      const after = afterAttempt(row, attempt, result, { now, random: chance, isLast, batch }, rules);
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

  const recordLost = (recorded: Recorded, webhookId: number, ids: readonly number[]): void => {
    for (const id of ids) {
      const row = store.delivery(webhookId, id);
      if (row === undefined || (row.state !== "pending" && row.state !== "retrying")) continue;
      store.changeDelivery(row, { ...row, state: "superseded", dueAt: null, hold: null, finishedAt: time.passed() });
      recorded.givenUp.push("superseded");
      recorded.warnings.push(`webhook ${webhookId} delivery ${id} (${row.event}) is not sent: its block is no longer kept`);
    }
    recorded.webhookIds.add(webhookId);
  };

  return { recordEnd, recordLost };
};

export const createRecords = (rules: RecordRules, needs: RecordNeeds, onRecorded: (recorded: Recorded) => void): Records => {
  const { store, register, logger, onOutcome } = needs;
  const { recordEnd, recordLost } = createRecording(rules, needs);

  const safely = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      logFailure(logger, "what follows the outcomes of deliveries failed", error);
    }
  };

  const gathering = createGathering<Entry>(async (batch) => {
    const recorded: Recorded = { rows: [], webhookIds: new Set(), changed: new Set(), announced: new Set(), warnings: [], givenUp: [], healthy: new Set() };
    try {
      await store.transactionSoon(() => {
        const webhooks = register.rows();
        for (const entry of batch) entry.write(recorded, webhooks);
      });
    } catch (error) {
      // Nothing is let go of before it is written, so that it is not sent again meanwhile.
      logFailure(logger, "the outcomes of deliveries cannot be written", error);
      return false;
    }
    // The batch is written, whatever fails from here on, and must not be written again.
    for (const one of recorded.rows) logRow(one, logger);
    for (const warning of recorded.warnings) logger.warn(warning);
    safely(() => recorded.givenUp.forEach((state) => onOutcome?.(state)));
    safely(() => onRecorded(recorded));
    for (const { done } of batch) done();
    return true;
  });

  const addEntry = (write: Entry["write"], mayWait: boolean): Promise<void> => new Promise((done) => gathering.add({ write, done }, mayWait));

  return {
    add: (ended, mayWait) => addEntry((recorded, webhooks) => recordEnd(recorded, webhooks, ended), mayWait),
    addLost: (webhookId, ids) => addEntry((recorded) => recordLost(recorded, webhookId, ids), false),
    count: gathering.count,
    tryAgain: gathering.begin,
    end: gathering.end,
  };
};
