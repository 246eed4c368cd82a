import type { DeliveryRow, WebhookRow } from "../rows/rows.js";
import type { WebhookStore } from "../rows/store.js";
import { performance } from "node:perf_hooks";

/** How many attempts may be under way at a target, at an origin, or in all. */
export interface Limit {
  /** Of those that have not taken long, and of all. */
  readonly most: { readonly young: number; readonly all: number };
  young: number;
  all: number;
}

export const createLimit = (young: number, all: number): Limit => ({ most: { young, all }, young: 0, all: 0 });

export const isFree = ({ most, young, all }: Limit): boolean => young < most.young && all < most.all;

/** Milliseconds after which an attempt no longer counts among the young ones. */
export const patience = 100;

/** What one attempt takes of each limit. */
interface Slot {
  readonly limits: readonly Limit[];
  readonly since: number;
  isLeft: boolean;
}

/**
 * Slots of attempts. One that takes long gives its slot to others after a moment: what hangs must not keep what is quick from being sent.
 */
export const createSlots = () => {
  /** In the order in which they were taken. */
  const young = new Set<Slot>();

  const growOld = (slot: Slot): void => {
    young.delete(slot);
    for (const limit of slot.limits) limit.young--;
  };

  return {
    /** Has what was taken long ago give way to others. */
    age: (now: number): void => {
      for (const slot of young) {
        if (now - slot.since < patience) return;
        growOld(slot);
      }
    },
    enter: (limits: readonly Limit[], since: number): Slot => {
      const slot = { limits, since, isLeft: false };
      young.add(slot);
      for (const limit of limits) {
        limit.young++;
        limit.all++;
      }
      return slot;
    },
    /** Says whether it had not been left before. */
    leave: (slot: Slot): boolean => {
      if (slot.isLeft) return false;
      slot.isLeft = true;
      if (young.has(slot)) growOld(slot);
      for (const limit of slot.limits) limit.all--;
      return true;
    },
    /** Milliseconds until a slot is free by itself; undefined if only the end of an attempt makes one. */
    freeIn: (limit: Limit, now: number): number | undefined => {
      if (limit.all >= limit.most.all) return undefined;
      if (limit.young < limit.most.young) return 0;
      for (const { limits, since } of young) if (limits.includes(limit)) return Math.max(1, since + patience - now);
      return 1;
    },
  };
};

export type Slots = ReturnType<typeof createSlots>;

export const monotonic = (): number => performance.now();

/**
 * What attempts are made from. Deliveries wait in the store; kept here is only the next one of each webhook.
 *
 * - queue   the deliveries of one webhook
 * - target  one URL with the queues that lead to it: their first attempts go out in the order of their events
 * - origin  one scheme, host and port, whose connections are limited
 */
export interface Queue {
  readonly webhook: WebhookRow;
  readonly target: Target;
  /** Attempts under way, or failed and not yet recorded as such; and deliveries that are taken. */
  readonly inFlight: { attempts: number; deliveries: number };
  /** The next first attempt, where it is known. */
  head: DeliveryRow | undefined;
  /** First attempts up to this id are taken or settled. */
  after: number;
  /** Whether more of them may wait in the store, beside `head`. */
  hasMore: boolean;
  /** No retry is due before this time; the store is asked when it comes. */
  nextDue: number;
  /** Whether a retry was due that was taken when the store was asked. */
  skipped: boolean;
  /** When the next delivery may be sent, by its rate: milliseconds of the monotonic clock. */
  mayAt: number;
  /** Since when an incomplete batch waits. */
  batchSince: number | undefined;
}

export interface Target {
  readonly url: string;
  readonly origin: Origin;
  readonly queues: Map<number, Queue>;
  /** Its own, and those that it shares with others. */
  readonly limit: Limit;
  readonly limits: readonly Limit[];
  /** In the order in which they began. */
  readonly underWay: Set<InFlight>;
  /** First attempts under way that others wait for. */
  firsts: number;
  /** Which kind was sent last: firsts and retries take turns. */
  last: "first" | "retry";
  /** Until when nothing is sent, as it asked; a time of `Timekeeper.dueTime`. */
  pausedUntil: number;
  /** For how long it was paused the last time; 0 once it has answered otherwise. */
  lastPause: number;
  /** Whether its last attempt was slow. Unknown is not slow. */
  wasSlow: boolean;
  /** Whether retries may wait there for longer than it takes to answer again. */
  mayBeDown: boolean;
}

export interface Origin {
  readonly name: string;
  readonly limit: Limit;
  /** Number of its targets. */
  targets: number;
}

/** What is to be sent in one request. */
export interface Next {
  readonly queue: Queue;
  readonly rows: readonly DeliveryRow[];
  readonly kind: "first" | "retry" | "ping";
}

/** One request, from when it is taken until its outcome is recorded. */
export interface InFlight extends Next {
  readonly target: Target;
  state: "taken" | "sending" | "recording";
  /** Whether it is sent in the form of a batch. A retry has the form that was sent before, whatever the webhook says now. */
  readonly isBatch: boolean;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly slot: Slot;
  /** Whether other first attempts wait for it. */
  readonly isAwaited: boolean;
  /** Whether the chain has taken back what it tells, since it was taken: nothing new is sent to its target until it has ended. */
  isOvertaken: boolean;
}

/**
 * Deliveries that are taken, by id. `attemptCount` as it was when taken: once the row shows a higher one, the outcome is recorded and this
 * entry no longer describes the row. `hasArrived`: whether the attempt was answered 2xx.
 */
export type UnderWay = Map<number, { attemptCount: number; hasArrived: boolean }>;

/** Of the attempts at an origin (slow ones included) `slotsPerQuick` × the limit for quick ones may run. */
export const slotsPerQuick = 16;

export interface QueuesNeeds {
  store: WebhookStore;
  concurrencyPerTarget: number;
  /** Of all attempts. */
  limit: Limit;
  underWay: UnderWay;
  /** Told of a delivery that was taken back, and is still open. */
  supersede(row: DeliveryRow): void;
  /** What is left of a target's pause, from before it had a queue. */
  pauseOf(url: string): Pick<Target, "pausedUntil" | "lastPause">;
}

/** For when a queue may have changed: what was read of it may be gone, or there may be something before it. */
export const lookAgain = (queue: Queue): void => void Object.assign(queue, { head: undefined, after: 0, hasMore: true });

/** First attempts that are looked at together. */
const pageSize = 16;

/** Targets and origins, as long as queues lead there or attempts are under way. */
const createTargets = ({ limit: ofAll, concurrencyPerTarget, pauseOf }: QueuesNeeds) => {
  const targets = new Map<string, Target>();
  const origins = new Map<string, Origin>();

  const originOf = (url: string): Origin => {
    const name = new URL(url).origin;
    const origin = origins.get(name) ?? { name, limit: createLimit(concurrencyPerTarget, slotsPerQuick * concurrencyPerTarget), targets: 0 };
    origins.set(name, origin);
    origin.targets++;
    return origin;
  };

  const targetOf = (url: string): Target => {
    const there = targets.get(url);
    if (there !== undefined) return there;
    const limit = createLimit(concurrencyPerTarget, concurrencyPerTarget);
    const origin = originOf(url);
    const made: Target = { url, origin, queues: new Map(), limit, limits: [limit, origin.limit, ofAll], underWay: new Set(), firsts: 0, last: "retry", ...pauseOf(url), wasSlow: false, mayBeDown: true };
    targets.set(url, made);
    return made;
  };

  /** Forgets a target to which no queue leads, once no attempt is under way there: what comes after a reorganisation waits for its end. */
  const release = (target: Target): void => {
    if (target.queues.size > 0 || target.underWay.size > 0 || targets.get(target.url) !== target) return;
    targets.delete(target.url);
    if (--target.origin.targets === 0) origins.delete(target.origin.name);
  };

  return { targets, targetOf, release };
};

/** Whether it waits for its first attempt, in its queue. Pings are pending, too, but due at a time. */
export const isFirstAttempt = ({ state, dueAt }: DeliveryRow): boolean => state === "pending" && dueAt === null;

/** Looks for the next first attempts in the store. Those above `upTo` are about to be added: all of them, or none, may be sent. */
const createHeads = ({ store, underWay, supersede }: QueuesNeeds, upTo: () => number) => {
  const isFreeToGo = (id: number): boolean => !underWay.has(id) && !store.isChanging(id);

  /** The first attempts of a webhook above an id, as the store has them. */
  const waiting = function* (webhookId: number, after: number): Generator<DeliveryRow> {
    for (let last = after; ; ) {
      const ids = store.deliveryIds(webhookId, "pending", last, pageSize);
      for (const id of ids) {
        if (id > upTo()) return;
        if (!isFreeToGo(id)) continue;
        const row = store.delivery(webhookId, id);
        if (row === undefined || !isFirstAttempt(row)) continue;
        if (row.isTakenBack === true) supersede(row);
        else yield row;
      }
      if (ids.length < pageSize) return;
      last = ids.at(-1) ?? last;
    }
  };

  const headOf = (queue: Queue): DeliveryRow | undefined => {
    if (queue.head !== undefined && isFreeToGo(queue.head.id)) return queue.head;
    if (queue.head === undefined && !queue.hasMore) return undefined;
    const found = waiting(queue.webhook.id, queue.after).next();
    queue.head = found.done === true ? undefined : found.value;
    queue.hasMore = queue.head !== undefined;
    return queue.head;
  };

  /** The next first attempts, at most `count`. */
  return (queue: Queue, count: number): DeliveryRow[] => {
    const head = headOf(queue);
    const rows = head === undefined ? [] : [head];
    if (head === undefined || count === 1) return rows;
    for (const row of waiting(queue.webhook.id, head.id)) {
      if (rows.push(row) >= count) break;
    }
    return rows;
  };
};

/** The queues of all enabled webhooks, by webhook. */
export const createQueues = (needs: QueuesNeeds) => {
  const queues = new Map<number, Queue>();
  /** By webhook. Outlives the queue of one that is disabled while deliveries of it are under way. */
  const inFlightOf = new Map<number, Queue["inFlight"]>();
  /** Deliveries up to this id may be sent. */
  let written = 0;
  const { targets, targetOf, release } = createTargets(needs);

  /** Deliveries up to this id may have been written by others, for any webhook. */
  const expect = (upTo: number): void => {
    if (upTo <= written) return;
    written = upTo;
    for (const queue of queues.values()) queue.hasMore = true;
  };

  return {
    find: (webhookId: number): Queue | undefined => queues.get(webhookId),
    release,
    targets: (): Iterable<Target> => targets.values(),
    all: (): Iterable<Queue> => queues.values(),
    first: createHeads(needs, () => written),
    expect,
    /** Adds deliveries that have just been written. */
    add: (rows: readonly DeliveryRow[]): void => {
      const [first, last] = [rows[0]?.id ?? 0, rows.at(-1)?.id ?? 0];
      // Others were written in between, or these were looked for already: a client may have taken some back. The store has what is left.
      if (first !== written + 1 || last - first !== rows.length - 1) return expect(last);
      for (const row of rows) {
        const queue = queues.get(row.webhookId);
        if (queue?.head === undefined && queue?.hasMore === false) queue.head = row;
        else if (queue !== undefined) queue.hasMore = true;
      }
      written = last;
    },
    /** The earliest time after `now` at which a retry may be due. */
    nextDue: (now: number): number => {
      let next = Infinity;
      for (const { nextDue } of queues.values()) if (nextDue > now && nextDue < next) next = nextDue;
      return next;
    },
    /** Brings a webhook's queue into line with its row; what is under way stays under way. Returns the target of a new queue. */
    align: (webhookId: number, row: WebhookRow | undefined): Target | undefined => {
      if (row === undefined) inFlightOf.delete(webhookId);
      const old = queues.get(webhookId);
      const url = row?.enabled === true ? row.target : undefined;
      // The new one first: the target it shares with the old keeps its slots.
      const target = url === undefined ? undefined : targetOf(url);
      if (old !== undefined && old.target !== target) {
        old.target.queues.delete(webhookId);
        release(old.target);
      }
      if (row === undefined || target === undefined) {
        queues.delete(webhookId);
        return undefined;
      }
      const inFlight = inFlightOf.get(webhookId) ?? { attempts: 0, deliveries: 0 };
      inFlightOf.set(webhookId, inFlight);
      const queue: Queue = {
        webhook: row, target, inFlight, head: undefined, after: 0, hasMore: true, skipped: false, nextDue: 0,
        mayAt: old?.mayAt ?? 0, batchSince: undefined,
      };
      target.queues.set(webhookId, queue);
      queues.set(webhookId, queue);
      return target;
    },
  };
};

export type Queues = ReturnType<typeof createQueues>;
