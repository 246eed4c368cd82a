import type { Progress } from "../../../types/webhook-store.js";
import type { OpenEnvironment } from "./databases.js";

/** What a transaction has read and written. The next one need not read it, as long as nobody else has written in between. */
export interface Known {
  counters: Map<string, number>;
  progress: Map<number, Progress | undefined>;
  /** First ids of webhooks' last sheets. */
  lasts: Map<number, number>;
}

/** Entries that the next transaction is given, at the most: some megabytes. */
const mostKnown = 50_000;

/**
 * Hands on what is known from one transaction to the next. LMDB numbers those that are committed: between two whose numbers follow each other,
 * nobody has written, in whatever process.
 */
export const createHandOn = ({ root }: OpenEnvironment) => {
  let last: { transaction: number; known: Known } | undefined;
  return {
    /** In a transaction: what it begins with. */
    take: (): Known => {
      const before = last;
      last = undefined;
      return before !== undefined && root.getWriteTxnId() === before.transaction + 1 ? before.known : { counters: new Map(), progress: new Map(), lasts: new Map() };
    },
    /** In a transaction, at its end. What is returned is to be called once that is committed, before the next one begins. */
    give: (known: Known): (() => void) => {
      const transaction = root.getWriteTxnId();
      return () => {
        if (known.counters.size + known.progress.size + known.lasts.size <= mostKnown) last = { transaction, known };
      };
    },
  };
};
