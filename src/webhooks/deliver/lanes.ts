import type { DeliveryRow, WebhookRow, WebhookStore } from "../../../types/webhook-store.js";
import { createLimit, type Limit } from "./concurrency.js";

/**
 * What may be sent next. Deliveries wait in the store; kept here are only the next few ids of each webhook, however long its queue is.
 *
 * - lane    the deliveries of one webhook
 * - target  one URL with the lanes that lead to it: their first attempts go out in the order of their events
 * - origin  one scheme, host and port, whose connections are limited
 */
export interface Lane {
  readonly webhook: WebhookRow;
  /** Deliveries under way, or ended and not yet recorded as such. */
  readonly taken: Set<number>;
  /** How many attempts are under way, or failed and not yet recorded as such. */
  readonly open: { count: number };
  /** The next first attempts, in order. */
  ready: number[];
  /** How to ask the store for more of them: beyond the id `passed`, `size` at once. Undefined when it has none. */
  more: { passed: number; size: number } | undefined;
  /** No retry is due before this time; the store is asked when it comes. */
  nextDue: number;
  /** Whether a retry was due that was taken when the store was asked. */
  skipped: boolean;
  /** When the next delivery may be sent, by its rate: milliseconds of the monotonic clock. */
  mayAt: number;
  /** Since when an incomplete batch waits. */
  batchSince: number | undefined;
  readonly target: Target;
  /** Whether a delivery is being taken back, although the store still shows it as it was. */
  isWithdrawn(id: number): boolean;
}

export interface Target {
  readonly url: string;
  readonly origin: Origin;
  readonly lanes: Map<number, Lane>;
  readonly limit: Limit;
  /** All attempts under way: delivery id -> message number. */
  readonly underWay: Map<number, number>;
  /** First attempts under way that others wait for. */
  firsts: number;
  /** Which kind was sent last: firsts and retries take turns. */
  last: "first" | "retry";
  /** Until when nothing is sent, as it asked; a time of the schedule. */
  pausedUntil: number;
  /** For how long it was paused the last time; 0 once it has answered otherwise. */
  lastPause: number;
  /** Whether its last attempt was slow, or one is that is under way. Unknown is not slow. */
  slow: boolean;
}

export interface Origin {
  readonly name: string;
  readonly limit: Limit;
  /** Number of its targets. */
  targets: number;
}

/** What is to be sent in one request. */
export interface Next {
  lane: Lane;
  rows: DeliveryRow[];
  kind: "first" | "retry" | "ping";
}

export interface LaneRules {
  ordered: boolean;
  concurrencyPerTarget: number;
}

export interface Times {
  /** Of the schedule. */
  schedule: number;
  monotonic: number;
}

/** First attempts read ahead, at the most. */
const longestReady = 128;

/** For when the queue may have grown, at its end or before what was read ahead. */
export const lookAgain = (lane: Lane): void => {
  lane.ready = [];
  lane.more = { passed: 0, size: 4 };
};

/** Reads ahead until `count` are ready, if there are so many. */
const fill = (lane: Lane, store: WebhookStore, count: number): void => {
  while (lane.ready.length < count && lane.more !== undefined) {
    const { passed, size } = lane.more;
    const ids = store.deliveryIds(lane.webhook.id, "pending", passed, size);
    lane.more = ids.length < size ? undefined : { passed: ids.at(-1) ?? passed, size: Math.min(longestReady, 2 * size) };
    lane.ready.push(...ids.filter((id) => !lane.taken.has(id)));
  }
};

/** The next first attempts, at most `count`. */
const readyRows = (lane: Lane, store: WebhookStore, count: number): DeliveryRow[] => {
  const rows: DeliveryRow[] = [];
  while (rows.length < count) {
    fill(lane, store, rows.length + 1);
    const id = lane.ready[rows.length];
    if (id === undefined) break;
    const row = store.delivery(lane.webhook.id, id);
    if (row?.state !== "pending" || row.dueAt !== null || lane.isWithdrawn(id)) {
      lane.ready.splice(rows.length, 1);
      continue;
    }
    rows.push(row);
  }
  return rows;
};

/** Deliveries that were sent as one, and are due again. */
const sameBatch = (lane: Lane, store: WebhookStore, first: DeliveryRow): DeliveryRow[] => {
  if (first.batch === undefined) return [first];
  const due = store.retries(lane.webhook.id, lane.taken.size + 100).filter(({ id, dueAt }) => dueAt === first.dueAt && !lane.taken.has(id) && !lane.isWithdrawn(id));
  return due.map(({ id }) => store.delivery(lane.webhook.id, id)).filter((row) => row !== undefined && row.batch === first.batch) as DeliveryRow[];
};

/** What is due: a ping before all else. */
const dueRow = (lane: Lane, store: WebhookStore, now: number): DeliveryRow | undefined => {
  if (lane.nextDue > now) return undefined;
  const all = store.retries(lane.webhook.id, lane.taken.size + 1);
  const waiting = all.find(({ id }) => !lane.taken.has(id) && !lane.isWithdrawn(id));
  lane.skipped = all.some(({ id }) => lane.taken.has(id));
  lane.nextDue = waiting?.dueAt ?? Infinity;
  return waiting !== undefined && waiting.dueAt <= now ? store.delivery(lane.webhook.id, waiting.id) : undefined;
};

const isPing = (row: DeliveryRow): boolean => row.state === "pending";

/** Whether a first attempt of a lane waits for others. */
const isBehind = ({ webhook, target, open }: Lane, { ordered }: LaneRules): boolean => {
  if (webhook.order === "strict" && open.count > 0) return true;
  return webhook.order !== "none" && ordered && target.firsts > 0;
};

/** In strict order, a delivery that is to be tried again holds up all after it. */
const isHeldUp = ({ webhook }: Lane, store: WebhookStore, id: number): boolean => {
  if (webhook.order !== "strict") return false;
  const [retrying] = store.deliveryIds(webhook.id, "retrying", 0, 1);
  return retrying !== undefined && retrying < id;
};

const firstOf = (lane: Lane, store: WebhookStore, rules: LaneRules, { schedule, monotonic }: Times): Next | undefined => {
  if (isBehind(lane, rules) || lane.mayAt > monotonic) return undefined;
  const { batch } = lane.webhook;
  const rows = readyRows(lane, store, batch?.size ?? 1);
  const [head] = rows;
  if (head === undefined || isHeldUp(lane, store, head.id)) return undefined;
  if (batch !== null && rows.length < batch.size) {
    lane.batchSince ??= schedule;
    if (schedule - lane.batchSince < batch.wait) return undefined;
  }
  return { lane, rows, kind: "first" };
};

/** Whether an attempt is under way for a block that was reverted since: the reversal waits for its end, whatever the order of others. */
const isOvertaken = ({ underWay }: Target, store: WebhookStore): boolean => [...underWay.values()].some((messageId) => store.isSuperseded(messageId));

/** The earliest first attempt of all the target's lanes. */
const nextFirst = (target: Target, store: WebhookStore, rules: LaneRules, times: Times): Next | undefined => {
  if (isOvertaken(target, store)) return undefined;
  let next: Next | undefined;
  for (const lane of target.lanes.values()) {
    const found = firstOf(lane, store, rules, times);
    const [id, before] = [found?.rows[0]?.id ?? Infinity, next?.rows[0]?.id ?? Infinity];
    if (found !== undefined && id < before) next = found;
  }
  return next;
};

const nextRetry = (target: Target, store: WebhookStore, { schedule, monotonic }: Times): Next | undefined => {
  for (const lane of target.lanes.values()) {
    if (lane.mayAt > monotonic || (lane.webhook.order === "strict" && lane.open.count > 0)) continue;
    const row = dueRow(lane, store, schedule);
    if (row === undefined || isPing(row)) continue;
    if (lane.webhook.order === "strict" && isHeldUp(lane, store, row.id)) continue;
    return { lane, rows: sameBatch(lane, store, row), kind: "retry" };
  }
  return undefined;
};

const nextPing = (target: Target, store: WebhookStore, { schedule }: Times): Next | undefined => {
  for (const lane of target.lanes.values()) {
    const row = dueRow(lane, store, schedule);
    if (row !== undefined && isPing(row)) return { lane, rows: [row], kind: "ping" };
  }
  return undefined;
};

/** What a target is to be sent next; undefined if there is nothing now. */
export const nextOf = (target: Target, store: WebhookStore, rules: LaneRules, times: Times): Next | undefined => {
  const ping = nextPing(target, store, times);
  if (ping !== undefined || target.pausedUntil > times.schedule) return ping;
  const first = (): Next | undefined => nextFirst(target, store, rules, times);
  const retry = (): Next | undefined => nextRetry(target, store, times);
  return target.last === "first" ? (retry() ?? first()) : (first() ?? retry());
};

/** The lanes of all enabled webhooks, by webhook. */
export interface Lanes {
  find(webhookId: number): Lane | undefined;
  target(url: string): Target | undefined;
  targets(): Iterable<Target>;
  /** Ids of the webhooks that have one. */
  ids(): Iterable<number>;
  /** Brings a webhook's lane into line with its row; what is under way stays under way. Returns the target of a new lane. */
  align(webhookId: number, row: WebhookRow | undefined): Target | undefined;
  /** The earliest time after `now` at which a retry may be due. */
  nextDue(now: number): number;
}

/** How many times as many attempts may be under way at an origin as are quick. */
const slowShare = 16;

export interface LanesNeeds extends LaneRules, Pick<Lane, "isWithdrawn"> {
  /** What is left of a target's pause, from before it had a lane. */
  pauseOf(url: string): Pick<Target, "pausedUntil" | "lastPause">;
}

export const createLanes = ({ concurrencyPerTarget, isWithdrawn, pauseOf }: LanesNeeds): Lanes => {
  const lanes = new Map<number, Lane>();
  const targets = new Map<string, Target>();
  const origins = new Map<string, Origin>();
  /** By webhook. Outlives the lane of one that is disabled while deliveries of it are under way. */
  const takenOf = new Map<number, Pick<Lane, "taken" | "open">>();

  const originOf = (url: string): Origin => {
    const name = new URL(url).origin;
    const origin = origins.get(name) ?? { name, limit: createLimit(concurrencyPerTarget, slowShare * concurrencyPerTarget), targets: 0 };
    origins.set(name, origin);
    origin.targets++;
    return origin;
  };

  const targetOf = (url: string): Target => {
    const there = targets.get(url);
    if (there !== undefined) return there;
    const limit = createLimit(concurrencyPerTarget, concurrencyPerTarget);
    const made: Target = { url, origin: originOf(url), lanes: new Map(), limit, underWay: new Map(), firsts: 0, last: "retry", ...pauseOf(url), slow: false };
    targets.set(url, made);
    return made;
  };

  const leave = ({ webhook, target }: Lane): void => {
    target.lanes.delete(webhook.id);
    if (target.lanes.size > 0) return;
    targets.delete(target.url);
    if (--target.origin.targets === 0) origins.delete(target.origin.name);
  };

  return {
    find: (webhookId) => lanes.get(webhookId),
    target: (url) => targets.get(url),
    targets: () => targets.values(),
    ids: () => lanes.keys(),
    nextDue: (now) => Math.min(Infinity, ...[...lanes.values()].map((lane) => lane.nextDue).filter((due) => due > now)),
    align: (webhookId, row) => {
      if (row === undefined) takenOf.delete(webhookId);
      const old = lanes.get(webhookId);
      const url = row?.enabled === true ? row.target : undefined;
      // The new one first: the target it shares with the old keeps its places.
      const target = url === undefined ? undefined : targetOf(url);
      if (old !== undefined && old.target !== target) leave(old);
      if (row === undefined || target === undefined) {
        lanes.delete(webhookId);
        return undefined;
      }
      const kept = takenOf.get(webhookId) ?? { taken: new Set(), open: { count: 0 } };
      takenOf.set(webhookId, kept);
      const { mayAt = 0 } = old ?? {};
      const lane: Lane = { webhook: row, ...kept, skipped: false, ready: [], more: { passed: 0, size: 4 }, nextDue: 0, mayAt, batchSince: undefined, target, isWithdrawn };
      target.lanes.set(webhookId, lane);
      lanes.set(webhookId, lane);
      return target;
    },
  };
};
