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
  let counted = 0;
  /** Those that still count among the quick ones, in the order in which they began. */
  const young = new Set<{ since: number }>();

  const age = (now: number): void => {
    for (const place of young) {
      if (now - place.since < patience) break;
      young.delete(place);
    }
  };

  return {
    isFree: (now) => {
      age(now);
      return young.size < quick && counted < inAll;
    },
    enter: (now) => {
      const place = { since: now };
      let isLeft = false;
      young.add(place);
      counted++;
      return () => {
        if (isLeft) return;
        isLeft = true;
        young.delete(place);
        counted--;
      };
    },
    freeIn: (now) => {
      age(now);
      if (counted >= inAll) return undefined;
      if (young.size < quick) return 0;
      const [oldest = { since: now }] = young;
      return Math.max(1, oldest.since + patience - now);
    },
    count: () => counted,
  };
};

export const monotonic = (): number => performance.now();
