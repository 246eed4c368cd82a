import type { ChainSnapshot } from "../../../types/chain-adapter.js";

/** Counts the snapshots that are being read, so that a store is not closed under them. */
export interface OpenSnapshots {
  /** Counts a snapshot until it is released. Returns it. */
  counted(snapshot: ChainSnapshot): ChainSnapshot;
  /** Resolves when all are released. */
  none(): Promise<void>;
}

export const createOpenSnapshots = (): OpenSnapshots => {
  let count = 0;
  let waiting: (() => void)[] = [];
  return {
    counted: (snapshot) => {
      count++;
      const release = snapshot.release?.bind(snapshot);
      snapshot.release = () => {
        release?.();
        count--;
        if (count > 0) return;
        for (const resolve of waiting) resolve();
        waiting = [];
      };
      return snapshot;
    },
    none: () => (count === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
};
