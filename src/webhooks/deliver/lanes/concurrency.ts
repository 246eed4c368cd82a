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
export interface Place {
  readonly limits: readonly Limit[];
  readonly since: number;
  isLeft: boolean;
}

/** Places of attempts. One that takes long gives its place to others after a moment: what hangs must not keep what is quick from being sent. */
export const createPlacing = () => {
  /** In the order in which they were taken. */
  const young = new Set<Place>();

  const growOld = (place: Place): void => {
    young.delete(place);
    for (const limit of place.limits) limit.young--;
  };

  return {
    /** Has what was taken long ago give way to others. */
    age: (now: number): void => {
      for (const place of young) {
        if (now - place.since < patience) return;
        growOld(place);
      }
    },
    enter: (limits: readonly Limit[], since: number): Place => {
      const place = { limits, since, isLeft: false };
      young.add(place);
      for (const limit of limits) {
        limit.young++;
        limit.all++;
      }
      return place;
    },
    /** Says whether it had not been left before. */
    leave: (place: Place): boolean => {
      if (place.isLeft) return false;
      place.isLeft = true;
      if (young.has(place)) growOld(place);
      for (const limit of place.limits) limit.all--;
      return true;
    },
    /** Milliseconds until a place is free by itself; undefined if only the end of an attempt makes one. */
    freeIn: (limit: Limit, now: number): number | undefined => {
      if (limit.all >= limit.most.all) return undefined;
      if (limit.young < limit.most.young) return 0;
      for (const { limits, since } of young) if (limits.includes(limit)) return Math.max(1, since + patience - now);
      return 1;
    },
  };
};

export type Placing = ReturnType<typeof createPlacing>;

export const monotonic = (): number => performance.now();
