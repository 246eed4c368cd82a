import type { Origin, Target } from "./lanes.js";

/** Targets that may have something to be sent, by their origins: where an origin has no place, its targets are passed over together, however many. */
export interface TargetQueue {
  add(target: Target): void;
  remove(target: Target): void;
  /** Of the targets of its origin, and with that of all. */
  putLast(target: Target): void;
  /** In turn. What is removed meanwhile is left out. */
  byOrigin(): Iterable<[Origin, Iterable<Target>]>;
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
      origins.delete(target.origin);
      origins.set(target.origin, targets);
    },
    byOrigin: () => origins,
  };
};
