import type { Clock } from "../../../../types/node-context.js";
import type { WebhookStore } from "../../../../types/webhook-store.js";
import { isFree, type Limit, monotonic, type Placing } from "./concurrency.js";
import type { Attempt, LaneRules, Next, Origin, Revisions, Target, Times, UnderWay } from "./lanes.js";
import { nextOf } from "./next.js";

/** Targets that may have something to be sent, by their origins: where an origin has no place, its targets are passed over together, however many. */
export interface TargetQueue {
  add(target: Target): void;
  remove(target: Target): void;
  /** Of the targets of its origin, and with that of all. */
  putLast(target: Target): void;
  /** In turn. What is removed meanwhile is left out. */
  byOrigin(): ReadonlyMap<Origin, ReadonlySet<Target>>;
}

export const createTargetQueue = (): TargetQueue => {
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

/** How many times as many attempts may be under way in all as are quick; slow targets leave the last quarter of these places to others. */
export const slowShare = 4;

/** Milliseconds after which an attempt is slow, whether or not it has ended. */
export const slowFrom = 1_000;

export interface TakeNeeds {
  rules: LaneRules & { concurrency: number };
  store: WebhookStore;
  clock: Clock;
  placing: Placing;
  /** Of all attempts. */
  limit: Limit;
  queue: TargetQueue;
  underWay: UnderWay;
  times(): Times;
  /** The revisions of the store that the lanes are in line with. */
  seen(): Revisions;
  /** There may be something to take at a time of the schedule. */
  lookAt(at: number): void;
  /** A place has become free by itself. */
  freed(): void;
}

/** Notes that deliveries of a target are taken. */
const enter = ({ lane, rows, kind }: Next, target: Target, now: Times, { clock, placing, underWay, seen }: TakeNeeds): Attempt => {
  const isAwaited = kind === "first" && lane.webhook.order !== "none";
  const attempt: Attempt = { lane, rows, kind, target, state: "taken", at: clock.now(), seen: seen(), place: placing.enter(target.limits, now.monotonic), isAwaited, isOvertaken: false, hasArrived: false };
  target.underWay.add(attempt);
  lane.open.count++;
  lane.open.taken += rows.length;
  if (isAwaited) target.firsts++;
  if (kind !== "ping") target.last = kind;
  for (const { id } of rows) underWay.set(id, attempt);
  if (kind === "first") lane.ready.splice(0, rows.length);
  lane.batchSince = undefined;
  if (lane.webhook.rate !== null && kind !== "ping") lane.mayAt = Math.max(lane.mayAt, now.monotonic) + (1_000 * rows.length) / lane.webhook.rate;
  return attempt;
};

/** Gives the places of an attempt back: its target may be asked again. */
export const givePlaceBack = ({ place, target, lane, isAwaited }: Attempt, { placing, queue }: Pick<TakeNeeds, "placing" | "queue">): void => {
  if (!placing.leave(place)) return;
  if (isAwaited) target.firsts--;
  lane.open.count--;
  queue.add(target);
};

/** When a lane that may not send now may: its rate, its batch, its target's pause. */
const expectLanes = (target: Target, now: Times, lookAt: TakeNeeds["lookAt"]): void => {
  if (target.pausedUntil > now.schedule) lookAt(target.pausedUntil);
  for (const { mayAt, batchSince, webhook, ready } of target.lanes.values()) {
    if (mayAt > now.monotonic && (ready.length > 0 || webhook.rate !== null)) lookAt(now.schedule + Math.ceil(mayAt - now.monotonic));
    // One that has waited for long enough is held up by something else: when that ends, the target is asked again.
    const sendsAt = batchSince === undefined || webhook.batch === null ? 0 : batchSince + webhook.batch.wait;
    if (sendsAt > now.schedule) lookAt(sendsAt);
  }
};

/** Whether its last attempt was slow, or one is that it has not answered yet: what waits to be recorded is no fault of the target's. */
const isSlow = ({ wasSlow, underWay }: Target, now: number): boolean => {
  if (wasSlow) return true;
  for (const { state, place } of underWay) if (state !== "recording") return now - place.since > slowFrom;
  return false;
};

/** The first step: takes what is to be sent next, where there is a place for it. */
export const createTake = (needs: TakeNeeds) => {
  const { rules, store, placing, limit, queue, times, lookAt, freed } = needs;
  let freeing: NodeJS.Timeout | undefined;

  /** Slow targets leave some places to others; the end of any attempt has them asked again. */
  const isHeldBack = (target: Target, now: number): boolean => limit.all >= (slowShare - 1) * rules.concurrency && isSlow(target, now);

  /** Looks again when a place becomes free by itself. */
  const expectPlace = (origin: Origin, now: number): void => {
    if (freeing !== undefined) return;
    const [ofAll, ofOrigin] = [placing.freeIn(limit, now), placing.freeIn(origin.limit, now)];
    if (ofAll === undefined || ofOrigin === undefined) return;
    freeing = setTimeout(() => {
      freeing = undefined;
      freed();
    }, Math.max(1, ofAll, ofOrigin)).unref();
  };

  const takeFrom = (target: Target): Attempt | undefined => {
    const now = times();
    const next = nextOf(target, store, rules, now);
    if (next !== undefined) return enter(next, target, now, needs);
    expectLanes(target, now, lookAt);
    return undefined;
  };

  const takeFirst = (targets: Iterable<Target>, now: number): Attempt | undefined => {
    for (const target of targets) {
      if (isHeldBack(target, now)) continue;
      // If it has no place of its own, the end of one of its attempts brings it back.
      const attempt = isFree(target.limit) ? takeFrom(target) : undefined;
      if (attempt !== undefined) return attempt;
      queue.remove(target);
    }
    return undefined;
  };

  /** Origins that have a place are asked in turn, and the targets of each; those that wait for places that others take stay in the queue. */
  const take = (): Attempt | undefined => {
    const now = monotonic();
    placing.age(now);
    for (const [origin, targets] of queue.byOrigin()) {
      if (!isFree(limit) || !isFree(origin.limit)) {
        expectPlace(origin, now);
        if (!isFree(limit)) return undefined;
        continue;
      }
      const attempt = takeFirst(targets, now);
      if (attempt === undefined) continue;
      queue.putLast(attempt.target);
      return attempt;
    }
    return undefined;
  };

  return { take, stop: (): void => clearTimeout(freeing) };
};
