import type { Clock } from "../../../types/node-context.js";
import type { createNext, Times } from "./next.js";
import type { Attempt, Next, Origin, Target, UnderWay } from "./queues.js";
import { isFree, type Limit, monotonic, type Slots } from "./slots.js";

/** Targets that may have something to be sent, by their origins: where an origin has no slot, its targets are passed over together, however many. */
export interface Ready {
  add(target: Target): void;
  remove(target: Target): void;
  /** Of the targets of its origin, and with that of all. */
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

/** How many times as many attempts may be under way in all as are quick; slow targets leave the last quarter of these slots to others. */
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
  /** There may be something to take at a time of the schedule. */
  lookAt(at: number): void;
  /** A slot has become free by itself. */
  freed(): void;
}

/** Notes that deliveries of a target are taken. */
const enter = ({ queue, rows, kind }: Next, target: Target, now: Times, { clock, slots, underWay }: TakeNeeds): Attempt => {
  const isAwaited = kind === "first" && queue.webhook.order !== "none";
  const attempt: Attempt = { queue, rows, kind, target, state: "taken", at: clock.now(), slot: slots.enter(target.limits, now.monotonic), isAwaited, isOvertaken: false };
  target.underWay.add(attempt);
  queue.open.count++;
  queue.open.taken += rows.length;
  if (isAwaited) target.firsts++;
  if (kind !== "ping") target.last = kind;
  for (const { id, attemptCount } of rows) underWay.set(id, { attemptCount, hasArrived: false });
  if (kind === "first") Object.assign(queue, { head: undefined, after: rows.at(-1)?.id ?? queue.after });
  queue.batchSince = undefined;
  if (queue.webhook.rate !== null && kind !== "ping") queue.mayAt = Math.max(queue.mayAt, now.monotonic) + (1_000 * rows.length) / queue.webhook.rate;
  return attempt;
};

/** Gives the slots of an attempt back: its target may be asked again. */
export const giveSlotBack = ({ slot, target, queue, isAwaited }: Attempt, { slots, ready }: Pick<TakeNeeds, "slots" | "ready">): void => {
  if (!slots.leave(slot)) return;
  if (isAwaited) target.firsts--;
  queue.open.count--;
  ready.add(target);
};

/** When a queue that may not send now may: its rate, its batch, its target's pause. */
const expectQueues = (target: Target, now: Times, lookAt: TakeNeeds["lookAt"]): void => {
  if (target.pausedUntil > now.schedule) lookAt(target.pausedUntil);
  for (const { mayAt, batchSince, webhook } of target.queues.values()) {
    if (mayAt > now.monotonic && webhook.rate !== null) lookAt(now.schedule + Math.ceil(mayAt - now.monotonic));
    // One that has waited for long enough is held up by something else: when that ends, the target is asked again.
    const sendsAt = batchSince === undefined || webhook.batch === null ? 0 : batchSince + webhook.batch.wait;
    if (sendsAt > now.schedule) lookAt(sendsAt);
  }
};

/** Whether its last attempt was slow, or one is that it has not answered yet: what waits to be recorded is no fault of the target's. */
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

  const takeFrom = (target: Target): Attempt | undefined => {
    const now = times();
    const found = next(target, now);
    if (found !== undefined) return enter(found, target, now, needs);
    expectQueues(target, now, lookAt);
    return undefined;
  };

  const takeFirst = (targets: Iterable<Target>, now: number): Attempt | undefined => {
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
  const take = (): Attempt | undefined => {
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
