import type { Clock, Logger } from "../../../types/node-context.js";
import type { Attempt } from "../../../types/webhooks.js";
import { createMatcher, type Matcher } from "../conditions/matcher.js";
import { type Attempts, letGo } from "../read/ledger.js";
import { asMatched, type Register } from "../register/register.js";
import type { DeliveryRow, Failing, WebhookRow } from "../rows/rows.js";
import type { WebhookStore } from "../rows/store.js";
import type { OnOutcome } from "../send/http-sender.js";
import type { Timekeeper } from "../timekeeper.js";
import { nextHealth, type Now, type RetryRules } from "./outcome.js";
import { keyOf } from "../send/request.js";
import type { FullClock } from "../../async/clock.js";
import { logFailure } from "../failures.js";
import type { Ready, Times } from "./take.js";
import { lookAgain, type Queue, type Queues, type Target } from "./queues.js";

/** An event about webhooks themselves. */
export interface OwnEvent {
  event: "webhook.disabled" | "webhook.failing" | "webhook.enabled" | "delivery.dead";
  data: { webhook: number; delivery?: number; event?: string; reason: string };
}

const listenersAmong = (matcher: Matcher, { event, data }: OwnEvent): number[] => (matcher.listens(event) ? matcher.match(event, data).ids : []);

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
  attempts: Attempts;
  /** Is told of deliveries that are given up. */
  onOutcome?: OnOutcome | undefined;
}

/** What a transaction has recorded. */
export interface RecordResult {
  rows: { row: DeliveryRow; origin: string }[];
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

const originOf = (target: string): string => new URL(target).origin;

/** What came of an attempt, in a few words. */
export const resultOf = ({ error, status, stage }: Attempt): string => (error === null ? String(status) : `${stage ?? ""}: ${error}`);

const sentenceOf = ({ id, target }: WebhookRow, what: string): string => `webhook ${id} to ${originOf(target)} ${what}`;


const sinceOf = ({ since }: Failing): string => new Date(since).toISOString();

/** That a webhook begins to fail, or no longer does; undefined while nothing changes. */
const turnOf = (before: Failing | undefined, after: Failing | undefined, attempt: Attempt): string | undefined => {
  if (before === undefined && after !== undefined) return `fails: ${resultOf(attempt)}`;
  if (before !== undefined && after === undefined) return `no longer fails, as it did since ${sinceOf(before)}`;
  return undefined;
};

/** What an outcome says about its webhook: whether it is failing, and is to be disabled. */
export const createHealth = (rules: RecordRules, needs: RecordNeeds) => {
  const { store, register, clock } = needs;
  const tell = (recorded: RecordResult, event: Parameters<typeof announce>[3]): void => {
    for (const id of announce(store, register, clock.now(), event)) recorded.announced.add(id);
  };

  const disable = (recorded: RecordResult, webhook: WebhookRow, because: "gone" | "failing", failing: Failing | undefined): void => {
    letGo(needs, webhook.id);
    store.putWebhook({ ...webhook, enabled: false, disabledBecause: because });
    recorded.changed.add(webhook.id);
    const since = failing === undefined ? "" : ` since ${sinceOf(failing)}`;
    recorded.warnings.push(sentenceOf(webhook, `is disabled: ${because === "gone" ? "the target answered 410" : `every attempt${since} failed`}`));
    tell(recorded, { event: "webhook.disabled", data: { webhook: webhook.id, reason: because === "gone" ? "the target answered 410" : "every attempt failed" } });
  };

  const recordHealth = (recorded: RecordResult, webhook: WebhookRow, { attempt, result }: { attempt: Attempt; result: { ok: boolean; status: number | null } }, now: Now): void => {
    const progress = store.progress(webhook.id);
    if (result.ok && progress.failing === undefined) return;
    const { failing, disabledBecause, warns } = nextHealth(progress.failing, result, now, rules.disableAfter);
    const turn = turnOf(progress.failing, failing, attempt);
    if (turn !== undefined || warns) store.putProgress(webhook.id, { ...progress, failing });
    if (turn !== undefined) recorded.warnings.push(sentenceOf(webhook, turn));
    if (warns) tell(recorded, { event: "webhook.failing", data: { webhook: webhook.id, reason: "every attempt fails; it will be disabled in a day" } });
    if (disabledBecause !== null && webhook.enabled) disable(recorded, webhook, disabledBecause, failing);
  };

  return { tell, recordHealth };
};

/** What has come: changes by clients and other processes, retries that are due, targets that answer again. */

interface NoticesNeeds {
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
/** A delivery that failed within so many milliseconds of a success at its target fails by itself, and keeps its schedule. */
const sameTime = 1_000;

interface Parts {
  queues: Queues;
  ready: Ready;
  times(): Times;
  lookAt(at: number): void;
}

/** Ends pauses that a client has ended, in whatever process. */
const createPauseNotices = ({ store }: NoticesNeeds, { queues, ready, times }: Parts) => {
  /** Targets whose pauses may have been ended. The store may lack a pause while an outcome is being recorded. */
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
    /** Reads two counters, at most every `noticeInterval`. */
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
