import type { WebhookRow, WebhookStore } from "../../../types/webhook-store.js";

/**
 * What may be sent next. Deliveries wait in the store; kept here are only the next few ids of each webhook, however long its queue is.
 *
 * - lane    the deliveries of one webhook
 * - target  one URL with the lanes that lead to it: their first attempts go out in the order of their events
 * - origin  one scheme, host and port, whose connections are limited
 */
export interface Lane {
  readonly webhookId: number;
  /** Deliveries under way, or ended and not yet recorded as such. */
  readonly taken: Set<number>;
  /** The next first attempts, in order. */
  ready: number[];
  /** How to ask the store for more of them: beyond the id `passed`, `size` at once. Undefined when it has none. */
  more: { passed: number; size: number } | undefined;
  /** No retry is due before this time; the store is asked when it comes. */
  nextDue: number;
  readonly target: Target;
}

export interface Target {
  readonly url: string;
  readonly origin: Origin;
  readonly lanes: Map<number, Lane>;
  /** First attempts under way. */
  firsts: number;
  /** All attempts under way: delivery id -> message number. */
  readonly underWay: Map<number, number>;
  /** Which kind was sent last: firsts and retries take turns. */
  last: "first" | "retry";
}

export interface Origin {
  readonly name: string;
  /** Attempts under way. */
  running: number;
  /** Whether the last attempt was slow; true before the first. What is slow, or not known yet, must not take every place. */
  slow: boolean;
  /** Targets that wait for a place at this origin, in the order in which they came. */
  readonly blocked: Set<Target>;
  /** Number of its targets. */
  targets: number;
}

export interface Next {
  lane: Lane;
  id: number;
  kind: "first" | "retry";
}

export interface NextRules {
  ordered: boolean;
  now: number;
}

/** First attempts read ahead, at the most. */
const longestReady = 64;

/** For when the queue may have grown, at its end or before what was read ahead. */
export const lookAgain = (lane: Lane): void => {
  lane.ready = [];
  lane.more = { passed: 0, size: 1 };
};

const headOf = (lane: Lane, store: WebhookStore): number | undefined => {
  while (lane.ready.length === 0 && lane.more !== undefined) {
    const { passed, size } = lane.more;
    const ids = store.deliveryIds(lane.webhookId, "pending", passed, size);
    lane.more = ids.length < size ? undefined : { passed: ids.at(-1) ?? passed, size: Math.min(longestReady, 2 * size) };
    lane.ready = ids.filter((id) => !lane.taken.has(id));
  }
  return lane.ready[0];
};

/** Whether an attempt is under way for a block that was reverted since: the reversal waits for its end, whatever the order of others. */
const isOvertaken = ({ underWay }: Target, store: WebhookStore): boolean => [...underWay.values()].some((messageId) => store.isSuperseded(messageId));

/** The earliest first attempt of all the target's lanes. */
const nextFirst = (target: Target, store: WebhookStore, { ordered }: NextRules): Next | undefined => {
  const { lanes, firsts } = target;
  if ((ordered && firsts > 0) || isOvertaken(target, store)) return undefined;
  let next: Next | undefined;
  for (const lane of lanes.values()) {
    const id = headOf(lane, store);
    if (id !== undefined && (next === undefined || id < next.id)) next = { lane, id, kind: "first" };
  }
  return next;
};

const dueRetry = (lane: Lane, store: WebhookStore, now: number): Next | undefined => {
  if (lane.nextDue > now) return undefined;
  const waiting = store.retries(lane.webhookId, lane.taken.size + 1).find(({ id }) => !lane.taken.has(id));
  lane.nextDue = waiting?.dueAt ?? Infinity;
  return waiting !== undefined && waiting.dueAt <= now ? { lane, id: waiting.id, kind: "retry" } : undefined;
};

const nextRetry = ({ lanes }: Target, store: WebhookStore, { now }: NextRules): Next | undefined => {
  for (const lane of lanes.values()) {
    const next = dueRetry(lane, store, now);
    if (next !== undefined) return next;
  }
  return undefined;
};

/** What a target is to be sent next; undefined if there is nothing now. */
export const nextOf = (target: Target, store: WebhookStore, rules: NextRules): Next | undefined => {
  const first = (): Next | undefined => nextFirst(target, store, rules);
  const retry = (): Next | undefined => nextRetry(target, store, rules);
  return target.last === "first" ? (retry() ?? first()) : (first() ?? retry());
};

/** The lanes of all enabled webhooks, by webhook. */
export interface Lanes {
  find(webhookId: number): Lane | undefined;
  targets(): Iterable<Target>;
  /** Ids of the webhooks that have one. */
  ids(): Iterable<number>;
  /** Brings a webhook's lane into line with its row; what is under way stays under way. Returns the target of a new lane. */
  align(webhookId: number, row: WebhookRow | undefined): Target | undefined;
  /** The earliest time after `now` at which a retry may be due. Lanes that were due before are queued already. */
  nextDue(now: number): number;
}

export const createLanes = (): Lanes => {
  const lanes = new Map<number, Lane>();
  const targets = new Map<string, Target>();
  const origins = new Map<string, Origin>();
  /** By webhook. Outlives the lane of one that is disabled while deliveries of it are under way. */
  const takenOf = new Map<number, Set<number>>();

  const originOf = (url: string): Origin => {
    const name = new URL(url).origin;
    const origin = origins.get(name) ?? { name, running: 0, slow: true, blocked: new Set(), targets: 0 };
    origins.set(name, origin);
    origin.targets++;
    return origin;
  };

  const targetOf = (url: string): Target => {
    const target = targets.get(url) ?? { url, origin: originOf(url), lanes: new Map(), firsts: 0, underWay: new Map(), last: "retry" };
    targets.set(url, target);
    return target;
  };

  const leave = (lane: Lane): void => {
    const { target } = lane;
    target.lanes.delete(lane.webhookId);
    if (target.lanes.size > 0) return;
    targets.delete(target.url);
    target.origin.blocked.delete(target);
    if (--target.origin.targets === 0) origins.delete(target.origin.name);
  };

  const enter = (webhookId: number, url: string): Lane => {
    const target = targetOf(url);
    const taken = takenOf.get(webhookId) ?? new Set();
    takenOf.set(webhookId, taken);
    const lane: Lane = { webhookId, taken, ready: [], more: { passed: 0, size: 1 }, nextDue: 0, target };
    target.lanes.set(webhookId, lane);
    lanes.set(webhookId, lane);
    return lane;
  };

  return {
    find: (webhookId) => lanes.get(webhookId),
    targets: () => targets.values(),
    ids: () => lanes.keys(),
    align: (webhookId, row) => {
      if (row === undefined) takenOf.delete(webhookId);
      const url = row?.enabled === true ? row.target : undefined;
      const lane = lanes.get(webhookId);
      if (lane?.target.url === url) return undefined;
      if (lane !== undefined) {
        leave(lane);
        lanes.delete(webhookId);
      }
      return url === undefined ? undefined : enter(webhookId, url).target;
    },
    nextDue: (now) => {
      let next = Infinity;
      for (const { nextDue } of lanes.values()) if (nextDue > now) next = Math.min(next, nextDue);
      return next;
    },
  };
};
