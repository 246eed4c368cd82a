import { createHash, randomUUID } from "node:crypto";
import type { MaybePromise } from "../../../types/chain-adapter.js";
import type { Webhook, WebhookChanges, WebhookDraft, Webhooks, WebhookSecret } from "../../../types/webhooks.js";
import { isPromised } from "../../async/maybe-promise.js";
import { type FullClock, readingsOf } from "../../async/clock.js";
import { inputError, PorticoError } from "../../errors.js";
import { cursorText, type Follow, parseCursors } from "../../follow/index.js";
import { announce } from "../deliver/write-outcomes.js";
import { endOf } from "../deliver/outcome.js";
import { type InFlightView, letGo, removeOpen } from "../read/ledger.js";
import { heightOf } from "../read/match.js";
import { fromField, isNotReady, optionsOf, wantsChainEvents } from "../read/positions.js";
import type { Progress, WebhookRow } from "../rows/rows.js";
import type { WebhookStore } from "../rows/store.js";
import { createToken, type NodeKey, publicKeyText, secretOf } from "../send/request.js";
import type { Timekeeper } from "../timekeeper.js";
import { checkDraft, type DraftRules, endsPause, tidyConditions } from "./draft.js";
import { blocksBehind, knownRow, type Register, webhookRow } from "./register.js";

export interface ServiceNeeds {
  store: WebhookStore;
  follow: Follow;
  register: Register;
  clock: FullClock;
  time: Timekeeper;
  rules: DraftRules;
  maxWebhooks: number;
  keepsChain: boolean;
  nodeKey: NodeKey | undefined;
  /** Writes where a webhook is, if it has moved without a match; within a transaction. */
  keepPosition(webhookId: number): void;
  attempts: InFlightView;
  /** Told of every change. */
  onChange(webhookId: number): void;
}

/** Earlier secrets that sign beside the present one, at the most: receivers refuse headers of some 16 KB. */
const mostOlderTokens = 9;

/** Milliseconds for which an old secret still signs after a rotation. */
const rotationOverlap = 86_400_000;

/** Replays of a webhook at a time. */
const mostReplays = 10;

type Service = Pick<Webhooks, "list" | "get" | "create" | "replace" | "patch" | "remove" | "rotate" | "replay" | "keys">;

/** The value if it is there now; undefined if it is a promise, not ready, or the host's chain threw. */
const ifImmediate = <T>(read: () => MaybePromise<T>): T | undefined => {
  try {
    const value = read();
    if (!isPromised(value)) return value;
    value.catch(() => undefined);
  } catch (error) {
    if (error instanceof PorticoError && !isNotReady(error)) throw error;
  }
  return undefined;
};

const digestText = (draft: WebhookDraft): string => {
  try {
    // A fourth of the time that it takes with a function for each member; it throws at bigints.
    return JSON.stringify(draft);
  } catch {
    return JSON.stringify(draft, (_name, value: unknown) => (typeof value === "bigint" ? `${value}n` : value));
  }
};

const digestOf = (draft: WebhookDraft): string => createHash("sha256").update(digestText(draft)).digest("hex");

/** Shows webhooks as they stand at the present tip: everything but their secrets. */
const createShowing = ({ store, follow, clock }: ServiceNeeds) => (): ((row: WebhookRow) => Webhook) => {
  const tip = ifImmediate(() => follow.height());
  const now = readingsOf(clock);
  return ({ id, events, target, enabled, conditions, match, confirmations, order, batch, rate, headers, description, tags, signature, createdAt, disabledBecause }) => {
    const progress = store.progress(id);
    const { cursor = null } = progress;
    const behind = cursor === null || tip === undefined ? null : blocksBehind(cursor, tip);
    const settings = { order, batch, rate, headers, description, tags, signature };
    const health = { failingSince: progress.failing?.since ?? null, disabledBecause, pausedUntil: endOf(store.pause(target), now) };
    return { id, event: events[0] ?? "", events, target, enabled, conditions, match, confirmations, ...settings, cursor, behind, createdAt, ...health };
  };
};

/**
 * Where a webhook begins. Where the chain cannot be asked at once, it is found out later. @throws PorticoError BAD_REQUEST, CURSOR_UNKNOWN
 */
const beginning = ({ follow, keepsChain }: ServiceNeeds, row: Pick<WebhookRow, "events" | "confirmations">, from: string | number): Pick<Progress, "cursor" | "from" | "floor" | "part"> => {
  const text = String(from);
  // Here, as there may be no chain yet to be asked.
  parseCursors(text, fromField);
  const options = { ...optionsOf(row, keepsChain), field: fromField };
  const cursor = ifImmediate(() => (text === "tip" ? follow.tip(options) : follow.locate(text, options)));
  return cursor === undefined
    ? { from: text, cursor: undefined, part: undefined }
    : { cursor: cursorText(cursor), part: undefined, floor: heightOf(cursorText(cursor)) };
};

/** @throws PorticoError NOT_SUPPORTED */
const requireConfirmations = ({ keepsChain }: ServiceNeeds, { confirmations }: Pick<WebhookRow, "confirmations">): void => {
  if (!keepsChain && confirmations !== 0)
    throw new PorticoError("NOT_SUPPORTED", "This node does not support confirmations, because its host's chain offers no changes.");
};

/** Adds webhooks; within a transaction. */
const createAdding = (needs: ServiceNeeds, showing: () => (row: WebhookRow) => Webhook) => {
  const { store, register, clock, time, rules, maxWebhooks } = needs;

  const add = (draft: WebhookDraft): Webhook & WebhookSecret => {
    const token = createToken();
    const checked = checkDraft(draft, rules);
    requireConfirmations(needs, checked);
    const begins = beginning(needs, checked, draft.from ?? "tip");
    if (register.rows().size >= maxWebhooks) throw new PorticoError("WEBHOOKS_FULL");
    const row = store.addWebhook({ ...checked, uid: randomUUID(), token, olderTokens: [], createdAt: clock.now(), disabledBecause: null });
    store.putProgress(row.id, begins);
    return { ...showing()(row), ...secretOf(token) };
  };

  const addOnce = (draft: WebhookDraft, key: string): Webhook & WebhookSecret => {
    const [digest, now] = [digestOf(draft), time.passed()];
    const kept = store.keptReply(key, now);
    if (kept !== undefined && kept.digest !== digest) throw new PorticoError("IDEMPOTENCY_CONFLICT");
    if (kept !== undefined) return { ...(JSON.parse(kept.reply) as Webhook & WebhookSecret), conditions: tidyConditions(draft.conditions) };
    const reply = add(draft);
    // Without the conditions, which may be long: the draft that is sent again has the same.
    store.keepReply(key, { digest, reply: JSON.stringify({ ...reply, conditions: [] }), at: now });
    return reply;
  };

  return { add, addOnce };
};

const draftOf = ({ id: _, uid: ______, token: __, olderTokens: ___, createdAt: ____, disabledBecause: _____, ...draft }: WebhookRow): WebhookDraft => draft;

/** Changes webhooks; within a transaction. */
const createChanging = (needs: ServiceNeeds) => {
  const { store, register, clock, rules, keepPosition } = needs;

  /** Writes a webhook that was changed by a client, and what follows from it. */
  const write = (before: WebhookRow, after: WebhookRow, from: string | number | undefined): void => {
    // What has moved on without a match has been looked at by the conditions as they were.
    keepPosition(after.id);
    if (from !== undefined || (before.enabled && !after.enabled)) letGo(needs, after.id);
    const { failing, epoch = 0, ...position } = store.progress(after.id);
    // Whoever changes something else says nothing about whether it works.
    const health = before.enabled && before.target === after.target ? { failing } : {};
    store.putProgress(after.id, { ...position, ...(from === undefined ? {} : beginning(needs, after, from)), ...health, epoch: epoch + 1 });
    store.putWebhook(after);
    if (before.enabled === after.enabled) return;
    const [event, reason] = after.enabled
      ? (["webhook.enabled", "a client enabled it"] as const)
      : (["webhook.disabled", "a client disabled it"] as const);
    if (announce(store, register, clock.now(), { event, data: { webhook: after.id, reason } }, after).length > 0) store.announceWork();
  };

  /** Whoever sends hears of it as of work, in whatever process: it is held up by nothing else. */
  const endPause = (target: string): void => {
    if (store.pause(target) === undefined) return;
    store.putPause(target, null);
    store.announceWork();
  };

  return {
    replace: (id: number, draft: WebhookDraft): void => {
      const before = knownRow(register, id);
      const checked = checkDraft(draft, rules);
      requireConfirmations(needs, checked);
      write(before, { ...before, ...checked, disabledBecause: null }, draft.from);
    },
    patch: (id: number, { pausedUntil, ...given }: WebhookChanges): WebhookRow => {
      const before = knownRow(register, id);
      if (endsPause(pausedUntil)) {
        endPause(given.target ?? before.target);
        // Nothing else is to be changed.
        if (Object.keys(given).length === 0) return before;
      }
      const draft = { ...draftOf(before), ...given, ...(given.event !== undefined && given.events === undefined ? { events: undefined } : {}) };
      const checked = checkDraft(draft, rules);
      requireConfirmations(needs, checked);
      const after = { ...before, ...checked, disabledBecause: checked.enabled ? null : before.disabledBecause };
      write(before, after, given.from);
      return after;
    },
  };
};

/** A replay as it may be asked for; `add` writes it within a transaction. @throws PorticoError NOT_SUPPORTED, NOT_READY, BAD_REQUEST */
const prepareReplay = ({ store, follow, keepsChain }: ServiceNeeds, id: number, { from, to }: Parameters<Service["replay"]>[1]): { add(): void } => {
  const { enabled, events, confirmations } = webhookRow(store, id);
  if (!keepsChain) throw new PorticoError("NOT_SUPPORTED", "This node does not support replays, because its host offers no past blocks.");
  if (!enabled) throw inputError("params", "id", "must be an enabled webhook");
  if (!wantsChainEvents({ events }))
    throw inputError("params", "id", "must be a webhook with events of the chain; the host's own events cannot be replayed");
  if (from < 1 || from > to) throw inputError("payload", "from", 'must be a height of 1 or more, not above "to"');
  const tip = ifImmediate(() => follow.tip(optionsOf({ events, confirmations }, keepsChain)));
  if (tip === undefined) throw new PorticoError("NOT_READY");
  const seen = tip.block?.height ?? 0;
  if (to > seen) throw inputError("payload", "to", `must not be above ${seen}, the highest block with enough confirmations for this webhook`);
  const cursor = ifImmediate(() => follow.locate(from === 1 ? "genesis" : String(from - 1), { hostEvents: false }));
  if (cursor === undefined) throw new PorticoError("NOT_READY");
  return {
    add: () => {
      const progress = store.progress(id);
      const replays = progress.replays ?? [];
      if (replays.length >= mostReplays)
        throw new PorticoError("BAD_REQUEST", `The webhook has ${mostReplays} replays already. Wait until one has ended.`);
      const next = 1 + Math.max(0, ...replays.map((replay) => replay.id));
      store.putProgress(id, { ...progress, replays: [...replays, { id: next, cursor: cursorText(cursor), to }] });
      // Counts as a change of the register: the process that delivers loads the replay.
      store.putWebhook(webhookRow(store, id));
    },
  };
};

/** What clients do with webhooks. */
export const createWebhookService = (needs: ServiceNeeds): Service => {
  const { store, register, time, nodeKey, onChange } = needs;
  const showing = createShowing(needs);
  const { add, addOnce } = createAdding(needs, showing);
  const changing = createChanging(needs);

  const change = <T>(id: (result: T) => number, work: () => T): T => {
    const result = store.transaction(work);
    onChange(id(result));
    return result;
  };

  return {
    list: ({ offset, limit, tag }) => {
      // From memory: one that has a list of a hundred thousand addresses takes 50 ms to read.
      const all = [...register.rows().values()].sort((a, b) => a.id - b.id);
      const listed = tag === undefined ? all : all.filter(({ tags }) => tags.includes(tag));
      return { rows: listed.slice(offset, offset + limit).map(showing()), total: listed.length };
    },
    get: (id) => showing()(knownRow(register, id)),
    create: (draft, key) => change(({ id }) => id, () => (key === undefined ? add(draft) : addOnce(draft, key))),
    replace: (id, draft) => void change(() => id, () => changing.replace(id, draft)),
    patch: (id, changes) => {
      const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as WebhookChanges;
      return showing()(change(() => id, () => changing.patch(id, given)));
    },
    remove: (id) => {
      change(() => id, () => {
        webhookRow(store, id);
        // Now, not in the background: another may be imported under its number.
        removeOpen(store, id);
        store.removeWebhook(id);
      });
    },
    rotate: (id) => {
      const token = createToken();
      change(() => id, () => {
        const row = webhookRow(store, id);
        const now = time.passed();
        const olderTokens = [{ token: row.token, until: now + rotationOverlap }, ...row.olderTokens.filter(({ until }) => until > now)];
        store.putWebhook({ ...row, token, olderTokens: olderTokens.slice(0, mostOlderTokens) });
      });
      return secretOf(token);
    },
    replay: (id, heights) => {
      const { add: addReplay } = prepareReplay(needs, id, heights);
      change(() => id, addReplay);
    },
    keys: () => (nodeKey === undefined ? [] : [{ type: "v1a", key: publicKeyText(nodeKey) }]),
  };
};
