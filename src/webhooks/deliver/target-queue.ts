import type { Next, Origin, Target } from "./lanes.js";

export interface QueueRules {
  /** Most concurrent attempts in all. */
  concurrency: number;
  /** Most concurrent attempts to one origin. */
  concurrencyPerTarget: number;
}

/**
 * The targets that may have something to send, and the places of attempts under way. First come, first served; slow targets are in a
 * queue of their own, and together leave half of the places to the others.
 */
export interface TargetQueue {
  /** Does nothing for a target that is queued already, or that no lane leads to any more. */
  add(target: Target): void;
  /** Takes out the next target that has a free place at its origin. */
  next(): Target | undefined;
  /** Takes a place for an attempt. Returns what gives it back. */
  enter(target: Target, kind: Next["kind"]): () => void;
  /** Queues the first target that waits for a place at the origin. */
  unblock(origin: Origin): void;
}

export const createTargetQueue = ({ concurrency, concurrencyPerTarget }: QueueRules): TargetQueue => {
  const waiting = { fast: new Set<Target>(), slow: new Set<Target>() };
  const slowPlaces = Math.max(1, Math.floor(concurrency / 2));
  let slowRunning = 0;
  let turn = 0;

  const add = (target: Target): void => {
    if (target.lanes.size > 0) (target.origin.slow ? waiting.slow : waiting.fast).add(target);
  };

  /** The two queues take turns. */
  const linesNow = (): Set<Target>[] => {
    if (slowRunning >= slowPlaces) return [waiting.fast];
    return turn++ % 2 === 0 ? [waiting.fast, waiting.slow] : [waiting.slow, waiting.fast];
  };

  const takeFirst = (): Target | undefined => {
    for (const line of linesNow()) {
      for (const target of line) {
        line.delete(target);
        return target;
      }
    }
    return undefined;
  };

  const unblock = ({ blocked }: Origin): void => {
    for (const target of blocked) {
      blocked.delete(target);
      add(target);
      return;
    }
  };

  return {
    add,
    next: () => {
      for (let target = takeFirst(); target !== undefined; target = takeFirst()) {
        if (target.origin.running < concurrencyPerTarget) return target;
        target.origin.blocked.add(target);
      }
      return undefined;
    },
    enter: (target, kind) => {
      const { origin } = target;
      const tookSlow = origin.slow;
      if (kind === "first") target.firsts++;
      target.last = kind;
      origin.running++;
      if (tookSlow) slowRunning++;
      return () => {
        if (kind === "first") target.firsts--;
        origin.running--;
        if (tookSlow) slowRunning--;
        // Whoever waited for the place comes before whoever just had it.
        unblock(origin);
        add(target);
      };
    },
    unblock,
  };
};
