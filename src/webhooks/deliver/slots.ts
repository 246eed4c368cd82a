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
export interface Slot {
  readonly limits: readonly Limit[];
  readonly since: number;
  isLeft: boolean;
}

/** Slots of attempts. One that takes long gives its slot to others after a moment: what hangs must not keep what is quick from being sent. */
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
