import type { Clock } from "../../../types/node-context.js";
import type { WebhookStore } from "../../../types/webhook-store.js";
import { type Limit, monotonic } from "./concurrency.js";
import { type LaneRules, type Next, nextOf, type Origin, type Target, type Times } from "./lanes.js";
import type { TargetQueue } from "./target-queue.js";

/** One request, from when it is taken until its outcome is recorded. */
export interface Attempt extends Next {
  target: Target;
  state: "taken" | "sending" | "recording";
  /** Milliseconds since 1970. */
  at: number;
  leave(): void;
}

/** How many times as many attempts may be under way in all as are quick; slow targets leave the last quarter of these places to others. */
export const slowShare = 4;

/**
 * Deliveries that are taken, by id: how many attempts of each were recorded then. Its row has one more before it is let go of: between
 * the two, it may be taken back.
 */
export type UnderWay = Map<number, number>;

export interface TakeNeeds {
  rules: LaneRules & { concurrency: number };
  store: WebhookStore;
  clock: Clock;
  /** Of all attempts. */
  limit: Limit;
  /** Targets that may have something to be sent. */
  queue: TargetQueue;
  underWay: UnderWay;
  times(): Times;
  /** There may be something to take at a time of the schedule. */
  lookAt(at: number): void;
  /** A place has become free by itself. */
  freed(): void;
}

/** Notes that deliveries of a target are taken. Returns what gives their places back: the target may then be asked again. */
const enter = ({ lane, rows, kind }: Next, target: Target, now: Times, { limit, queue, underWay }: TakeNeeds): (() => void) => {
  const places = [limit, target.limit, target.origin.limit].map((one) => one.enter(now.monotonic));
  lane.open.count++;
  const isAwaited = kind === "first" && lane.webhook.order !== "none";
  if (isAwaited) target.firsts++;
  if (kind !== "ping") target.last = kind;
  for (const { id, messageId, attemptCount } of rows) {
    lane.taken.add(id);
    target.underWay.set(id, messageId);
    underWay.set(id, attemptCount);
  }
  if (kind === "first") lane.ready.splice(0, rows.length);
  lane.batchSince = undefined;
  if (lane.webhook.rate !== null && kind !== "ping") lane.mayAt = Math.max(lane.mayAt, now.monotonic) + (1_000 * rows.length) / lane.webhook.rate;
  let hasLeft = false;
  return () => {
    if (hasLeft) return;
    hasLeft = true;
    places.forEach((free) => free());
    if (isAwaited) target.firsts--;
    lane.open.count--;
    queue.add(target);
  };
};

/** When a lane that may not send now may: its rate, its batch, its target's pause. */
const expectLanes = (target: Target, now: Times, lookAt: TakeNeeds["lookAt"]): void => {
  if (target.pausedUntil > now.schedule) lookAt(target.pausedUntil);
  for (const { mayAt, batchSince, webhook, ready } of target.lanes.values()) {
    if (mayAt > now.monotonic && (ready.length > 0 || webhook.rate !== null)) lookAt(now.schedule + Math.ceil(mayAt - now.monotonic));
    if (batchSince !== undefined && webhook.batch !== null) lookAt(batchSince + webhook.batch.wait);
  }
};

/** The first step: takes what is to be sent next, where there is a place for it. */
export const createTake = (needs: TakeNeeds) => {
  const { rules, store, clock, limit, queue, times, lookAt, freed } = needs;
  let freeing: NodeJS.Timeout | undefined;

  /** Slow targets leave some places to others; the end of any attempt has them asked again. */
  const isHeldBack = (target: Target): boolean => target.slow && limit.count() >= (slowShare - 1) * rules.concurrency;

  /** Looks again when a place becomes free by itself. */
  const expectPlace = (origin: Origin, now: number): void => {
    if (freeing !== undefined) return;
    const [ofAll, ofOrigin] = [limit.freeIn(now), origin.limit.freeIn(now)];
    if (ofAll === undefined || ofOrigin === undefined) return;
    freeing = setTimeout(() => {
      freeing = undefined;
      freed();
    }, Math.max(1, ofAll, ofOrigin)).unref();
  };

  const takeFrom = (target: Target): Attempt | undefined => {
    const now = times();
    const next = nextOf(target, store, rules, now);
    if (next !== undefined) return { ...next, target, state: "taken", at: clock.now(), leave: enter(next, target, now, needs) };
    expectLanes(target, now, lookAt);
    return undefined;
  };

  const takeFirst = (targets: Iterable<Target>, now: number): Attempt | undefined => {
    for (const target of targets) {
      if (isHeldBack(target)) continue;
      // If it has no place of its own, the end of one of its attempts brings it back.
      const attempt = target.limit.isFree(now) ? takeFrom(target) : undefined;
      if (attempt !== undefined) return attempt;
      queue.remove(target);
    }
    return undefined;
  };

  /** Origins that have a place are asked in turn, and the targets of each; those that wait for places that others take stay in the queue. */
  const take = (): Attempt | undefined => {
    const now = monotonic();
    for (const [origin, targets] of queue.byOrigin()) {
      if (!limit.isFree(now) || !origin.limit.isFree(now)) {
        expectPlace(origin, now);
        if (!limit.isFree(now)) return undefined;
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
