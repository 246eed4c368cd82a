import { performance } from "node:perf_hooks";
import type { Clock, Logger } from "../../../types/node-context.js";
import type { Attempt } from "../../../types/webhooks.js";
import { createMatcher, type Matcher } from "../conditions/matcher.js";
import { logFailure } from "../failures.js";
import { type InFlightView, letGo } from "../read/ledger.js";
import { asMatched, type Register } from "../register/register.js";
import { isOwnEvent, type DeliveryRow, type Failing, isOpen, type Pause, type WebhookRow } from "../rows/rows.js";
import type { WebhookStore } from "../rows/store.js";
import { batchKeyOf, keyOf } from "../send/request.js";
import type { Timekeeper } from "../timekeeper.js";
import { afterAttempt, gone, nextHealth, type Now, type OnOutcome, type Result, type RetryRules } from "./outcome.js";

/** An event about webhooks themselves. */
export interface OwnEvent {
  event: "webhook.disabled" | "webhook.failing" | "webhook.enabled" | "delivery.dead";
  data: { webhook: number; delivery?: number; event?: string; reason: string };
}

const listenersAmong = (matcher: Matcher, { event, data }: OwnEvent): number[] =>
  matcher.listens(event) ? matcher.match(event, data).ids : [];

/** For a webhook that the open transaction changes. The register still has it as it was. */
const matcherOf = (webhook: WebhookRow): Matcher => {
  const matcher = createMatcher();
  matcher.put(webhook.id, asMatched(webhook));
  return matcher;
};

/** Writes an event for the webhooks that ask for it; within a transaction, which may have changed one of them. Returns which they are. */
export const announce = (store: WebhookStore, register: Register, at: number, own: OwnEvent, changed?: WebhookRow): number[] => {
  const { event, data } = own;
  const others = listenersAmong(register.matcher(), own).filter((id) => id !== changed?.id);
  const all = changed === undefined ? others : [...others, ...listenersAmong(matcherOf(changed), own)].sort((a, b) => a - b);
  const ids = all.filter((id) => id !== data.webhook || event === "webhook.enabled" || event === "delivery.dead");
  if (ids.length === 0) return [];
  const eventId = `${store.instance}.${event}.${data.webhook}.${data.delivery ?? 0}.${at.toString(36)}`;
  const recipients = ids.flatMap((webhookId) => {
    const webhook = webhookId === changed?.id ? changed : register.find(webhookId);
    return webhook === undefined ? [] : [{ webhookId, event, key: keyOf(webhook, eventId) }];
  });
  store.append({ at, eventId, event, json: JSON.stringify(data) }, recipients);
  return ids;
};

export interface RecordRules extends RetryRules {
  disableAfter: number;
}

export interface RecordNeeds {
  store: WebhookStore;
  register: Register;
  clock: Clock;
  time: Timekeeper;
  random: () => number;
  logger: Logger;
  attempts: InFlightView;
  /** Is told of deliveries that are given up. */
  onOutcome?: OnOutcome | undefined;
}

/** What a transaction has recorded. */
export interface RecordResult {
  rows: { row: DeliveryRow; origin: string }[];
  webhookIds: Set<number>;
  /** Webhooks that were disabled. */
  changed: Set<number>;
  /** Webhooks whose queues are to be looked at again. */
  toWake: Set<number>;
  /** What is logged of webhooks as a whole: that one begins to fail, no longer does, or is disabled. */
  warnings: string[];
  /** Deliveries that were given up, by their states. */
  givenUp: ("dead" | "superseded")[];
}

const originOf = (target: string): string => new URL(target).origin;

/** What came of an attempt, in a few words. */
const resultOf = ({ error, status, stage }: Attempt): string => (error === null ? String(status) : `${stage ?? ""}: ${error}`);

const sentenceOf = ({ id, target }: WebhookRow, what: string): string => `webhook ${id} to ${originOf(target)} ${what}`;

const sinceOf = ({ since }: Failing): string => new Date(since).toISOString();

/** That a webhook begins to fail, or no longer does; undefined while nothing changes. */
const turnOf = (before: Failing | undefined, after: Failing | undefined, attempt: Attempt): string | undefined => {
  if (before === undefined && after !== undefined) return `fails: ${resultOf(attempt)}`;
  if (before !== undefined && after === undefined) return `no longer fails, as it did since ${sinceOf(before)}`;
  return undefined;
};

const goneReason = "the target answered 410";
const failingReason = "every attempt fails; it will be disabled in a day";

interface JudgedAttempt {
  attempt: Attempt;
  result: Result;
}

/** What an outcome says about its webhook: whether it is failing, and is to be disabled. */
const createHealth = (rules: RecordRules, needs: RecordNeeds) => {
  const { store, register, clock } = needs;
  const tell = (recorded: RecordResult, event: Parameters<typeof announce>[3]): void => {
    for (const id of announce(store, register, clock.now(), event)) recorded.toWake.add(id);
  };

  const disable = (recorded: RecordResult, webhook: WebhookRow, because: "gone" | "failing", failing: Failing | undefined): void => {
    letGo(needs, webhook.id);
    store.putWebhook({ ...webhook, enabled: false, disabledBecause: because });
    recorded.changed.add(webhook.id);
    const since = failing === undefined ? "" : ` since ${sinceOf(failing)}`;
    const [reason, why] = because === "gone" ? [goneReason, goneReason] : ["every attempt failed", `every attempt${since} failed`];
    recorded.warnings.push(sentenceOf(webhook, `is disabled: ${why}`));
    tell(recorded, { event: "webhook.disabled", data: { webhook: webhook.id, reason } });
  };

  const recordHealth = (recorded: RecordResult, webhook: WebhookRow, { attempt, result }: JudgedAttempt, now: Now): void => {
    const progress = store.progress(webhook.id);
    if (result.ok && progress.failing === undefined) return;
    const { failing, disabledBecause, warns } = nextHealth(progress.failing, result, now, rules.disableAfter);
    const turn = turnOf(progress.failing, failing, attempt);
    if (turn !== undefined || warns) store.putProgress(webhook.id, { ...progress, failing });
    if (turn !== undefined) recorded.warnings.push(sentenceOf(webhook, turn));
    if (warns) tell(recorded, { event: "webhook.failing", data: { webhook: webhook.id, reason: failingReason } });
    if (disabledBecause !== null && webhook.enabled) disable(recorded, webhook, disabledBecause, failing);
  };

  return { tell, recordHealth };
};

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
  /**
   * Reverted while an attempt may have been made that nobody recorded (killed process, given-up attempt): it ends as superseded,
   * `maybeSent`.
   */
  supersede(row: DeliveryRow): void;
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

/**
 * `write`: some of the entries, from the first on; never rejects; resolves to how many, 0 if none could be written: they are then tried
 * again with what comes next.
 */
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
  const about = `webhook ${row.webhookId} delivery ${row.id} (${row.event}) attempt ${row.attemptCount} to ${origin}`;
  const line = `${about}: ${resultOf(attempt)} after ${attempt.duration} ms, ${row.state}`;
  // It was the last one: what the receiver never gets must be seen.
  if (row.state === "dead") logger.warn(line);
  else logger.debug(line);
};

/** Writes outcomes; within a transaction. */
const createRecording = (rules: RecordRules, needs: RecordNeeds) => {
  const { store, register, clock, time } = needs;
  const { tell, recordHealth } = createHealth(rules, needs);

  const recordEnd = (recorded: RecordResult, ended: AttemptResult, { webhooks, now }: Present): void => {
    const { webhookId, target, origin, attempt, isBatch, isPing, asked, pause } = ended;
    if (pause !== undefined) store.putPause(target, pause);
    // As it is in memory: its row may hold a long list. What decides is read anew.
    const webhook = webhooks.get(webhookId);
    const ok = attempt.stage === null;
    // What a target says that the webhook no longer has does not count.
    const result: Result = webhook?.target === target ? { ok, status: attempt.status, asked } : { ok, status: null };
    const rows = ended.ids.map((id) => store.delivery(webhookId, id)).filter((row) => row !== undefined);
    const batch = isBatch ? batchKeyOf(webhookId, rows) : undefined;
    const random = needs.random();
    for (const row of rows) {
      // The webhook, which this disables, finds it again once it is enabled.
      if (result.status === gone && row.onRequest !== true && !isPing && !isOwnEvent(row.event)) continue;
      // Its webhook was disabled meanwhile: it has ended.
      if (!isOpen(row) && !ok) continue;
      // Its block may have been reverted while the attempt was under way.
      const isLast = !ok && row.isTakenBack === true;
      const after = afterAttempt(row, attempt, result, { now, random, isLast, batch }, rules);
      store.changeDelivery(row, after);
      recorded.rows.push({ row: after, origin });
      if (after.state === "dead" || after.state === "superseded") recorded.givenUp.push(after.state);
      if (after.state === "dead" && !isPing && !isOwnEvent(row.event)) {
        tell(recorded, { event: "delivery.dead", data: { webhook: webhookId, delivery: row.id, event: row.event, reason: attempt.error ?? "" } });
      }
    }
    recorded.webhookIds.add(webhookId);
    if (!isPing && webhook !== undefined && webhook.target === target && !recorded.changed.has(webhookId))
      recordHealth(recorded, webhook, { attempt, result }, now);
  };

  const supersede = (recorded: RecordResult, { webhookId, id }: DeliveryRow): void => {
    const row = store.delivery(webhookId, id);
    recorded.webhookIds.add(webhookId);
    if (row === undefined || !isOpen(row)) return;
    store.changeDelivery(row, { ...row, state: "superseded", maybeSent: true, dueAt: null, finishedAt: time.passed() });
    recorded.givenUp.push("superseded");
    // What comes after it was not looked for.
    recorded.toWake.add(webhookId);
  };

  return (recorded: RecordResult, entries: readonly Entry[]): number => {
    const begun = performance.now();
    const present: Present = {
      webhooks: register.rows(),
      now: { passed: time.passed(), dueTime: time.dueTime(), wall: clock.now() },
    };
    let count = 0;
    for (const entry of entries) {
      if (count > 0 && performance.now() - begun >= turn) break;
      if (entry.ended !== undefined) recordEnd(recorded, entry.ended, present);
      else supersede(recorded, entry.row);
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
      logFailure(logger, "the outcomes of deliveries could not be passed on", error);
    }
  };

  const gathering = createGathering<Entry>(async (entries) => {
    const recorded: RecordResult = { rows: [], webhookIds: new Set(), changed: new Set(), toWake: new Set(), warnings: [], givenUp: [] };
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
    supersede: (row) => gathering.add({ row, done: () => undefined }, false),
    count: gathering.count,
    tryAgain: gathering.begin,
    end: gathering.end,
  };
};
