import type { Clock } from "../../../types/node-context.js";
import {
  type InFlight,
  isFirstAttempt,
  isFree,
  lookAgain,
  type Limit,
  monotonic,
  type Next,
  type Origin,
  type Queue,
  type Queues,
  type Slots,
  type Target,
  type UnderWay,
} from "./queues.js";
import { type DeliveryRow, pingEvent } from "../rows/rows.js";
import type { WebhookStore } from "../rows/store.js";

// What a target is to be sent next.

export interface Times {
  /** See `Timekeeper`. */
  dueTime: number;
  monotonic: number;
}

interface NextNeeds {
  store: WebhookStore;
  queues: Queues;
  underWay: UnderWay;
  supersede(row: DeliveryRow): void;
  /** Deliveries of one webhook that may be open: no more can come together. */
  window: number;
}

/** Whether first attempts of a queue go out in the order of all that its target is sent. */
const isOrdered = ({ webhook }: Queue): boolean => webhook.order !== "none";

/** Whether a first attempt of a queue waits for others. */
const isBehind = (queue: Queue): boolean =>
  (queue.webhook.order === "strict" && queue.inFlight.attempts > 0) || (isOrdered(queue) && queue.target.firsts > 0);

/** Whether an attempt is under way for a block that was reverted since: the reversal waits for its end, whatever the order of others. */
const isOvertaken = ({ underWay }: Target): boolean => {
  for (const attempt of underWay) if (attempt.isOvertaken) return true;
  return false;
};

const isAvailable = ({ underWay, store }: NextNeeds, id: number): boolean => !underWay.has(id) && !store.isChanging(id);

/**
 * A delivery that is due, unless the chain took it back during an attempt whose outcome was never recorded, as the process was killed or the
 * attempt given up: then it ends, and its queue is looked at again.
 */
const unlessTakenBack = ({ supersede }: NextNeeds, queue: Queue, row: DeliveryRow | undefined): DeliveryRow | undefined => {
  if (row?.isTakenBack !== true) return row;
  queue.nextDue = Infinity;
  supersede(row);
  return undefined;
};

/** In strict order, a delivery that is to be tried again holds up all after it: the lowest of those. */
const lowestRetry = ({ store }: NextNeeds, { webhook }: Queue): number =>
  (webhook.order === "strict" ? store.deliveryIds(webhook.id, "retrying", 0, 1)[0] : undefined) ?? Infinity;

/** First attempts. */
const createNextFirst = (needs: NextNeeds) => {
  const { queues, store, window } = needs;

  const firstOf = (queue: Queue, { dueTime, monotonic }: Times): Next | undefined => {
    if (isBehind(queue) || queue.mayAt > monotonic) return undefined;
    const { batch } = queue.webhook;
    const size = Math.min(batch?.size ?? 1, window);
    const ready = queues.first(queue, size);
    if (ready.length === 0) return undefined;
    const from = lowestRetry(needs, queue);
    const rows = from === Infinity ? ready : ready.filter(({ id }) => id < from);
    if (rows.length === 0) return undefined;
    if (batch !== null && rows.length < size) {
      queue.batchSince ??= dueTime;
      if (dueTime - queue.batchSince < batch.wait) return undefined;
    }
    return { queue, rows, kind: "first" };
  };

  /** The earliest first attempt of all the target's queues. */
  const earliest = (target: Target, times: Times): Next | undefined => {
    let next: Next | undefined;
    for (const queue of target.queues.values()) {
      const found = firstOf(queue, times);
      if (found !== undefined && (found.rows[0]?.id ?? Infinity) < (next?.rows[0]?.id ?? Infinity)) next = found;
    }
    return next;
  };

  /** Whether the first of them, which the queue keeps in memory, still waits. The others were just read. */
  const stillWaits = ({ queue, rows: [first] }: Next): boolean => {
    const row = first && store.delivery(queue.webhook.id, first.id);
    return row !== undefined && isFirstAttempt(row) && row.isTakenBack !== true;
  };

  return (target: Target, times: Times): Next | undefined => {
    if (isOvertaken(target)) return undefined;
    for (;;) {
      const next = earliest(target, times);
      // The chain may have taken it back in the transaction that was just committed.
      if (next === undefined || stillWaits(next)) return next;
      lookAgain(next.queue);
    }
  };
};

/**
 * In strict order, the retry with the lowest id goes first, even if another is due before it. Nothing is sent until it is due, nor before a
 * first attempt with a lower id, which a client may have asked for.
 */
const inStrictOrder = (needs: NextNeeds, queue: Queue, row: DeliveryRow, now: number): DeliveryRow | undefined => {
  const { store } = needs;
  const { webhook } = queue;
  if (webhook.order !== "strict") return row;
  const [lowest, [pending = Infinity]] = [lowestRetry(needs, queue), store.deliveryIds(webhook.id, "pending", 0, 1)];
  if (pending < lowest) return undefined;
  if (lowest === row.id) return row;
  const first = store.delivery(webhook.id, lowest);
  const dueAt = first?.dueAt ?? 0;
  if (dueAt <= now && isAvailable(needs, lowest)) return unlessTakenBack(needs, queue, first);
  queue.nextDue = Math.max(queue.nextDue, dueAt);
  return undefined;
};

type Due = Pick<Next, "queue"> & { row: DeliveryRow };

/** Retries and pings. */
const createNextDue = (needs: NextNeeds) => {
  const { store, underWay } = needs;

  /** Deliveries that were sent as one, and are due again. */
  const sameBatch = (queue: Queue, first: DeliveryRow): DeliveryRow[] => {
    if (first.batch === undefined) return [first];
    const due = store
      .retries(queue.webhook.id, queue.inFlight.deliveries + 100, first.dueAt ?? 0)
      .filter(({ id, dueAt }) => dueAt === first.dueAt && isAvailable(needs, id));
    return due
      .map(({ id }) => unlessTakenBack(needs, queue, store.delivery(queue.webhook.id, id)))
      .filter((row) => row !== undefined && row.batch === first.batch) as DeliveryRow[];
  };

  /** What is due in a queue: a ping before all else. Sets `nextDue` and `skipped`. */
  const lookUpDue = (queue: Queue, now: number): DeliveryRow | undefined => {
    if (queue.nextDue > now) return undefined;
    const all = store.retries(queue.webhook.id, queue.inFlight.deliveries + 1);
    const waiting = all.find(({ id }) => isAvailable(needs, id));
    queue.skipped = all.some(({ id }) => underWay.has(id));
    queue.nextDue = waiting?.dueAt ?? Infinity;
    if (waiting === undefined || waiting.dueAt > now) return undefined;
    return unlessTakenBack(needs, queue, store.delivery(queue.webhook.id, waiting.id));
  };

  /** What is due in the queues of a target. */
  const dueIn = (target: Target, { dueTime }: Times): Due[] => {
    const due: Due[] = [];
    for (const queue of target.queues.values()) {
      const row = lookUpDue(queue, dueTime);
      if (row !== undefined) due.push({ queue, row });
    }
    return due;
  };

  const nextRetry = (due: readonly Due[], { dueTime, monotonic }: Times): Next | undefined => {
    for (const { queue, row } of due) {
      if (queue.mayAt > monotonic || (queue.webhook.order === "strict" && queue.inFlight.attempts > 0)) continue;
      const first = inStrictOrder(needs, queue, row, dueTime);
      if (first !== undefined) return { queue, rows: sameBatch(queue, first), kind: "retry" };
    }
    return undefined;
  };

  return { dueIn, nextRetry };
};

export const createNext = (needs: NextNeeds) => {
  const nextFirst = createNextFirst(needs);
  const { dueIn, nextRetry } = createNextDue(needs);

  /** Undefined if there is nothing now. */
  return (target: Target, times: Times): Next | undefined => {
    const due = dueIn(target, times);
    const ping = due.find(({ row }) => row.event === pingEvent);
    if (ping !== undefined) return { queue: ping.queue, rows: [ping.row], kind: "ping" };
    if (target.pausedUntil > times.dueTime) return undefined;
    const first = (): Next | undefined => nextFirst(target, times);
    const retry = (): Next | undefined => nextRetry(due, times);
    return target.last === "first" ? (retry() ?? first()) : (first() ?? retry());
  };
};

/** Targets that may have something to send, by origin: if an origin has no free slot, all its targets are skipped at once. */
export interface Ready {
  add(target: Target): void;
  remove(target: Target): void;
  /** Moves the target behind the others of its origin, and the origin behind the other origins. */
  putLast(target: Target): void;
  /** In turn. What is removed meanwhile is left out. */
  byOrigin(): ReadonlyMap<Origin, ReadonlySet<Target>>;
}

export const createReady = (): Ready => {
  const origins = new Map<Origin, Set<Target>>();

  const add = (target: Target): void => {
    const there = origins.get(target.origin);
    if (there === undefined) origins.set(target.origin, new Set([target]));
    else there.add(target);
  };

  return {
    add,
    remove: (target) => {
      const targets = origins.get(target.origin);
      if (targets?.delete(target) === true && targets.size === 0) origins.delete(target.origin);
    },
    putLast: (target) => {
      const targets = origins.get(target.origin) ?? new Set();
      targets.delete(target);
      targets.add(target);
      if (origins.size === 1) return;
      origins.delete(target.origin);
      origins.set(target.origin, targets);
    },
    byOrigin: () => origins,
  };
};

/**
 * Of all attempts (slow ones included) `slowShare` × the limit for quick ones may run. Slow targets leave the last quarter of these slots
 * to others.
 */
export const slowShare = 4;

/** Milliseconds after which an attempt is slow, whether or not it has ended. */
export const slowFrom = 1_000;

export interface TakeNeeds {
  clock: Clock;
  slots: Slots;
  /** Of all attempts. */
  limit: Limit;
  ready: Ready;
  underWay: UnderWay;
  next: ReturnType<typeof createNext>;
  times(): Times;
  /** There may be something to take at a time of `Timekeeper.dueTime`. */
  lookAt(at: number): void;
  /** A slot has become free by itself. */
  freed(): void;
}

/** Notes that deliveries of a target are taken. */
const enter = ({ queue, rows, kind }: Next, target: Target, now: Times, { clock, slots, underWay }: TakeNeeds): InFlight => {
  const isAwaited = kind === "first" && queue.webhook.order !== "none";
  const isBatch = kind === "first" ? queue.webhook.batch !== null : rows[0]?.batch !== undefined;
  const attempt: InFlight = { queue, rows, kind, target, isBatch, state: "taken", at: clock.now(), slot: slots.enter(target.limits, now.monotonic), isAwaited, isOvertaken: false };
  target.underWay.add(attempt);
  queue.inFlight.attempts++;
  queue.inFlight.deliveries += rows.length;
  if (isAwaited) target.firsts++;
  if (kind !== "ping") target.last = kind;
  for (const { id, attemptCount } of rows) underWay.set(id, { attemptCount, hasArrived: false });
  if (kind === "first") Object.assign(queue, { head: undefined, after: rows.at(-1)?.id ?? queue.after });
  queue.batchSince = undefined;
  if (queue.webhook.rate !== null && kind !== "ping")
    queue.mayAt = Math.max(queue.mayAt, now.monotonic) + (1_000 * rows.length) / queue.webhook.rate;
  return attempt;
};

/** Gives the slots of an attempt back: its target may be asked again. */
export const giveSlotBack = ({ slot, target, queue, isAwaited }: InFlight, { slots, ready }: Pick<TakeNeeds, "slots" | "ready">): void => {
  if (!slots.leave(slot)) return;
  if (isAwaited) target.firsts--;
  queue.inFlight.attempts--;
  ready.add(target);
};

/** When a queue that may not send now may: its rate, its batch, its target's pause. */
const expectQueues = (target: Target, now: Times, lookAt: TakeNeeds["lookAt"]): void => {
  if (target.pausedUntil > now.dueTime) lookAt(target.pausedUntil);
  for (const { mayAt, batchSince, webhook } of target.queues.values()) {
    if (mayAt > now.monotonic && webhook.rate !== null) lookAt(now.dueTime + Math.ceil(mayAt - now.monotonic));
    // One that has waited for long enough is held up by something else: when that ends, the target is asked again.
    const sendsAt = batchSince === undefined || webhook.batch === null ? 0 : batchSince + webhook.batch.wait;
    if (sendsAt > now.dueTime) lookAt(sendsAt);
  }
};

/** Whether its last attempt was slow, or one under way is. Time spent recording does not count. */
const isSlow = ({ wasSlow, underWay }: Target, now: number): boolean => {
  if (wasSlow) return true;
  for (const { state, slot } of underWay) if (state !== "recording") return now - slot.since > slowFrom;
  return false;
};

/** The first step: takes what is to be sent next, where there is a slot for it. */
export const createTake = (needs: TakeNeeds) => {
  const { slots, limit, ready, next, times, lookAt, freed } = needs;
  let freeing: NodeJS.Timeout | undefined;

  /** Slow targets leave some slots to others; the end of any attempt has them asked again. */
  const isHeldBack = (target: Target, now: number): boolean => limit.all >= (slowShare - 1) * limit.most.young && isSlow(target, now);

  /** Looks again when a slot becomes free by itself. */
  const expectSlot = (origin: Origin, now: number): void => {
    if (freeing !== undefined) return;
    const [ofAll, ofOrigin] = [slots.freeIn(limit, now), slots.freeIn(origin.limit, now)];
    if (ofAll === undefined || ofOrigin === undefined) return;
    freeing = setTimeout(() => {
      freeing = undefined;
      freed();
    }, Math.max(1, ofAll, ofOrigin)).unref();
  };

  const takeFrom = (target: Target): InFlight | undefined => {
    const now = times();
    const found = next(target, now);
    if (found !== undefined) return enter(found, target, now, needs);
    expectQueues(target, now, lookAt);
    return undefined;
  };

  const takeFirst = (targets: Iterable<Target>, now: number): InFlight | undefined => {
    for (const target of targets) {
      if (isHeldBack(target, now)) continue;
      // If it has no slot of its own, the end of one of its attempts brings it back.
      const attempt = isFree(target.limit) ? takeFrom(target) : undefined;
      if (attempt !== undefined) return attempt;
      ready.remove(target);
    }
    return undefined;
  };

  /** Origins that have a slot are asked in turn, and the targets of each; those that wait for slots that others take stay in the queue. */
  const take = (): InFlight | undefined => {
    const now = monotonic();
    slots.age(now);
    for (const [origin, targets] of ready.byOrigin()) {
      if (!isFree(limit) || !isFree(origin.limit)) {
        expectSlot(origin, now);
        if (!isFree(limit)) return undefined;
        continue;
      }
      const attempt = takeFirst(targets, now);
      if (attempt === undefined) continue;
      ready.putLast(attempt.target);
      return attempt;
    }
    return undefined;
  };

  return { take, stop: (): void => clearTimeout(freeing) };
};
