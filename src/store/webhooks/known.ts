import type { Progress } from "../../../types/webhook-store.js";
import type { OpenEnvironment } from "./databases.js";

/** What a transaction has read and written. The next one need not read it, as long as nobody else has written in between. */
export interface Known {
  counters: Map<string, number | undefined>;
  progress: Map<number, Progress | undefined>;
  /** First ids of webhooks' last sheets. */
  lastSheets: Map<number, number>;
}

const nothing = (): Known => ({ counters: new Map(), progress: new Map(), lastSheets: new Map() });

/** Entries that the next transaction is given, at the most: some megabytes. */
const mostKnown = 50_000;

interface Given {
  transaction: number;
  known: Known;
  isCommitted: boolean;
}

/**
 * Hands on what is known from one transaction to the next. LMDB numbers those that are committed: between two whose numbers follow each other,
 * nobody has written, in whatever process. One that puts nothing uses up no number: it hands on nothing.
 */
export const createHandOn = ({ root }: OpenEnvironment) => {
  let last: Given | undefined;
  return {
    /** In a transaction: what it begins with. */
    take: (): Known => {
      const before = last;
      last = undefined;
      return before?.isCommitted === true && root.getWriteTxnId() === before.transaction + 1 ? before.known : nothing();
    },
    /** In a transaction that has put something, at its end. What is returned is to be called once that is committed: another may have begun by then, which takes nothing. */
    give: (known: Known): (() => void) => {
      const given: Given = { transaction: root.getWriteTxnId(), known, isCommitted: false };
      if (known.counters.size + known.progress.size + known.lastSheets.size <= mostKnown) last = given;
      return () => {
        given.isCommitted = true;
      };
    },
  };
};
