import { performance } from "node:perf_hooks";

/**
 * How many attempts may be under way. One that takes long gives its place to others after a moment: what hangs must not keep what is quick
 * from being sent. How many may be under way in all is limited, too.
 */
export interface Limit {
  isFree(now: number): boolean;
  /** Takes a place. Returns what gives it back. */
  enter(now: number): () => void;
  /** Milliseconds until a place is free by itself; undefined if only the end of an attempt makes one. */
  freeIn(now: number): number | undefined;
  count(): number;
}

/** Milliseconds after which an attempt no longer counts among the quick ones. */
export const patience = 100;

export const createLimit = (quick: number, inAll: number): Limit => {
  /** When each began, in order. */
  const begun = new Map<symbol, number>();
  let counted = 0;
  /** The oldest ones that no longer count are before these. */
  const young = new Map<symbol, number>();

  const age = (now: number): void => {
    for (const [place, since] of young) {
      if (now - since < patience) break;
      young.delete(place);
    }
  };

  return {
    isFree: (now) => {
      age(now);
      return young.size < quick && counted < inAll;
    },
    enter: (now) => {
      const place = Symbol();
      begun.set(place, now);
      young.set(place, now);
      counted++;
      return () => {
        if (!begun.delete(place)) return;
        young.delete(place);
        counted--;
      };
    },
    freeIn: (now) => {
      age(now);
      if (counted >= inAll) return undefined;
      if (young.size < quick) return 0;
      const [oldest = now] = young.values();
      return Math.max(1, oldest + patience - now);
    },
    count: () => counted,
  };
};

export const monotonic = (): number => performance.now();
