import type { Clock, Logger } from "../../../types/node-context.js";
import type { DeliveryRow, WebhookRow, WebhookStore } from "../../../types/webhook-store.js";
import type { Attempt } from "../../../types/webhooks.js";
import { logFailure } from "../log-failure.js";
import type { OnOutcome } from "../send/http-sender.js";
import type { Register } from "../registry/register.js";
import type { Timekeeper } from "../timekeeper.js";
import { afterAttempt, nextHealth, type Now, type RetryRules } from "./outcome.js";
import { batchKeyOf, keyOf } from "./request.js";

/** An event about webhooks themselves. */
export interface OwnEvent {
  event: "webhook.disabled" | "webhook.failing" | "webhook.enabled" | "delivery.dead";
  data: { webhook: number; delivery?: number; event?: string; reason: string };
}

/** Whether an event is one of these: its own deliveries that die are not announced. */
export const isOwnEvent = (event: string): boolean => /^(?:webhook|delivery)\./.test(event);

/** Writes an event for the webhooks that ask for it; within a transaction. Returns which they are. */
export const announce = (store: WebhookStore, register: Register, at: number, { event, data }: OwnEvent): number[] => {
  const ids = register.matcher().listens(event) ? register.matcher().match(event, data).ids.filter((id) => id !== data.webhook || event === "webhook.enabled" || event === "delivery.dead") : [];
  if (ids.length === 0) return [];
  const eventId = `${store.instance}.${event}.${data.webhook}.${data.delivery ?? 0}.${at.toString(36)}`;
  store.append(
    { at, eventId, event, json: JSON.stringify(data) },
    ids.map((webhookId) => ({ webhookId, event, key: keyOf(webhookId, eventId), begin: { state: "pending" } })),
  );
  return ids;
};

export interface RecordRules extends RetryRules {
  disableAfter: number;
}

/** An attempt that has ended. */
export interface Ended {
  webhookId: number;
  ids: readonly number[];
  /** Where it went: the webhook may have another target by now. */
  target: string;
  attempt: Attempt;
  isBatch: boolean;
  isPing: boolean;
}

/** What a transaction has recorded. */
export interface Recorded {
  rows: { row: DeliveryRow; target: string }[];
  webhookIds: Set<number>;
  /** Webhooks that were disabled. */
  changed: Set<number>;
  /** Webhooks that got an event about others. */
  announced: Set<number>;
  /** What is logged of webhooks as a whole: that one begins to fail, no longer does, or is disabled. */
  warnings: string[];
  /** Deliveries that were given up, by their states. */
  givenUp: ("dead" | "superseded")[];
}

/** Records the outcomes of attempts: one transaction after another, each with all that have ended since the one before. */
export interface Records {
  /** Resolves when the outcome is written. */
  add(ended: Ended): Promise<void>;
  /** Deliveries of blocks that are no longer kept. */
  addLost(webhookId: number, ids: readonly number[]): Promise<void>;
  /** How many are not written yet. */
  count(): number;
  /** Writes what could not be written before. */
  tryAgain(): void;
  /** Resolves when everything is written, or cannot be. */
  end(): Promise<void>;
}

export interface RecordNeeds {
  store: WebhookStore;
  register: Register;
  clock: Clock;
  time: Timekeeper;
  random: () => number;
  logger: Logger;
  /** Is told of deliveries that are given up. */
  onOutcome?: OnOutcome | undefined;
}

interface Entry {
  write(recorded: Recorded): void;
  done(): void;
}

const originOf = (target: string): string => new URL(target).origin;

const resultOf = ({ error, status, stage }: Attempt): string => (error === null ? String(status) : `${stage ?? ""}: ${error}`);

/** One line for each attempt. It names the target's origin only: paths and queries may carry secrets. */
const logRow = ({ row, target }: Recorded["rows"][number], logger: Logger): void => {
  const attempt = row.attempts.at(-1);
  if (attempt === undefined) return;
  const line = `webhook ${row.webhookId} delivery ${row.id} (${row.event}) attempt ${row.attemptCount} to ${originOf(target)}: ${resultOf(attempt)} after ${attempt.duration} ms, ${row.state}`;
  // It was the last one: what the receiver never gets must be seen.
  if (row.state === "dead") logger.warn(line);
  else logger.debug(line);
};

const sentenceOf = ({ id, target }: WebhookRow, what: string): string => `webhook ${id} to ${originOf(target)} ${what}`;

const whyDisabled = ({ disabledBecause }: WebhookRow, failingSince: number | null): string => {
  const since = failingSince === null ? "" : ` since ${new Date(failingSince).toISOString()}`;
  return `is disabled: ${disabledBecause === "gone" ? "the target answered 410" : `every attempt${since} failed`}`;
};

/** That a webhook begins to fail, or no longer does; undefined while nothing changes. */
const turnOf = (before: number | null, after: number | null, attempt: Attempt): string | undefined => {
  if (before === null && after !== null) return `fails: ${resultOf(attempt)}`;
  if (before !== null && after === null) return `no longer fails, as it did since ${new Date(before).toISOString()}`;
  return undefined;
};

/** The webhook's cursor goes back to before the first of what is open, which is then forgotten: it is found again from there. */
export const rewind = (store: WebhookStore, webhookId: number): void => {
  const open = (["pending", "retrying"] as const).flatMap((state) => store.deliveryIds(webhookId, state, 0, Number.MAX_SAFE_INTEGER));
  const befores = open.sort((a, b) => a - b).map((id) => store.delivery(webhookId, id)).map((row) => row && store.message(row.messageId)?.before);
  const first = befores.find((before) => before !== undefined);
  const { part, ...progress } = store.progress(webhookId);
  store.putProgress(webhookId, { ...progress, ...(first === undefined ? { part } : { cursor: first }), replays: [], epoch: (progress.epoch ?? 0) + 1 });
  store.forgetDeliveries(webhookId);
};

/** What an outcome says about its webhook: whether it is failing, and is to be disabled. */
const createHealth = (rules: RecordRules, { store, register, clock }: RecordNeeds) => {
  const tell = (recorded: Recorded, event: Parameters<typeof announce>[3]): void => {
    for (const id of announce(store, register, clock.now(), event)) recorded.announced.add(id);
  };

  const disable = (recorded: Recorded, webhook: WebhookRow, because: "gone" | "failing", failingSince: number | null): void => {
    const disabled = { ...webhook, enabled: false, disabledBecause: because };
    rewind(store, webhook.id);
    store.putWebhook(disabled);
    recorded.changed.add(webhook.id);
    recorded.warnings.push(sentenceOf(disabled, whyDisabled(disabled, failingSince)));
    tell(recorded, { event: "webhook.disabled", data: { webhook: webhook.id, reason: because === "gone" ? "the target answered 410" : "every attempt failed" } });
  };

  const recordHealth = (recorded: Recorded, webhook: WebhookRow, { attempt, result }: { attempt: Attempt; result: { ok: boolean; status: number | null } }, now: Now): void => {
    const progress = store.progress(webhook.id);
    const { disabledBecause, warns, ...health } = nextHealth(progress, result, now, rules.disableAfter);
    if (health.failingSince !== progress.failingSince || health.warned !== progress.warned) store.putProgress(webhook.id, { ...progress, ...health });
    const turn = turnOf(progress.failingSince, health.failingSince, attempt);
    if (turn !== undefined) recorded.warnings.push(sentenceOf(webhook, turn));
    if (warns) tell(recorded, { event: "webhook.failing", data: { webhook: webhook.id, reason: "every attempt fails; it will be disabled in a day" } });
    if (disabledBecause !== null && webhook.enabled) disable(recorded, webhook, disabledBecause, health.failingSince);
  };

  return { tell, recordHealth };
};

/** Writes outcomes; within a transaction. */
const createRecording = (rules: RecordRules, needs: RecordNeeds) => {
  const { store, register, clock, time, random } = needs;
  const { tell, recordHealth } = createHealth(rules, needs);
  const nowOf = (): Now => ({ passed: time.passed(), schedule: time.schedule(), wall: clock.now() });

  const recordEnd = (recorded: Recorded, { webhookId, ids, target, attempt, isBatch, isPing }: Ended): void => {
    const now = nowOf();
    // As it is in memory: its row may hold a long list. What decides is read anew.
    const webhook = register.find(webhookId);
    const ok = attempt.stage === null;
    // The status of a target that the webhook no longer has does not count.
    const result = { ok, status: webhook?.target === target ? attempt.status : null };
    const rows = ids.map((id) => store.delivery(webhookId, id)).filter((row) => row !== undefined);
    const batch = isBatch && !isPing ? batchKeyOf(webhookId, rows) : undefined;
    const chance = random();
    for (const row of rows) {
      // Its block may have been reverted while the attempt was under way.
      const isLast = store.isSuperseded(row.messageId);
      const after = afterAttempt(row, attempt, result, { now, random: chance, isLast, batch }, rules);
      store.changeDelivery(row, after);
      recorded.rows.push({ row: after, target });
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
  const { store, logger, onOutcome } = needs;
  const { recordEnd, recordLost } = createRecording(rules, needs);
  let entries: Entry[] = [];
  let writing: Promise<void> | undefined;
  let underWay = 0;

  const writeBatch = async (): Promise<boolean> => {
    const batch = entries;
    entries = [];
    underWay = batch.length;
    const recorded: Recorded = { rows: [], webhookIds: new Set(), changed: new Set(), announced: new Set(), warnings: [], givenUp: [] };
    try {
      await store.transactionSoon(() => batch.forEach((entry) => entry.write(recorded)));
    } catch (error) {
      // Nothing is let go of before it is written, so that it is not sent again meanwhile.
      entries = [...batch, ...entries];
      underWay = 0;
      logFailure(logger, "the outcomes of deliveries cannot be written", error);
      return false;
    }
    // The batch is written, whatever fails from here on, and must not be written again.
    underWay = 0;
    for (const one of recorded.rows) logRow(one, logger);
    for (const warning of recorded.warnings) logger.warn(warning);
    for (const state of recorded.givenUp) onOutcome?.(state);
    onRecorded(recorded);
    for (const { done } of batch) done();
    return true;
  };

  const writeAll = async (): Promise<void> => {
    let going = true;
    while (going && entries.length > 0) going = await writeBatch();
    writing = undefined;
  };

  const begin = (): void => {
    if (entries.length > 0) writing ??= writeAll();
  };

  const addEntry = (write: Entry["write"]): Promise<void> =>
    new Promise((done) => {
      entries.push({ write, done });
      begin();
    });

  return {
    add: (ended) => addEntry((recorded) => recordEnd(recorded, ended)),
    addLost: (webhookId, ids) => addEntry((recorded) => recordLost(recorded, webhookId, ids)),
    count: () => entries.length + underWay,
    tryAgain: begin,
    end: async () => {
      begin();
      await writing;
    },
  };
};
