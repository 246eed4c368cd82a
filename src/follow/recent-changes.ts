import { LRUCache } from "lru-cache";
import type { KeptBlock, MaybePromise, OrphanBlock } from "../../types/chain-adapter.js";
import type { RoundDelegate } from "../../types/chain.js";
import type { ChainRules } from "../chain/rules.js";
import { ask, type Asking } from "../async/drive.js";
import type { BlockName } from "./cursor.js";
import { appliedChange, type DerivedChange, revertedChange } from "./derive.js";

/** Changes that are kept: a reader at the tip is seldom further behind than this. */
const keptChanges = 32;
/** Transactions of all changes that are kept. */
const keptTransactions = 5_000;

/** The last changes, each made into events once for all readers. */
export interface RecentChanges {
  applied(id: string): DerivedChange | undefined;
  reverted(id: string): DerivedChange | undefined;
  putApplied(kept: KeptBlock, round: readonly RoundDelegate[] | undefined): DerivedChange;
  putReverted(orphan: OrphanBlock): DerivedChange;
  /** To be called with the tip of each state: after a reorganisation, the same block may be applied another time. */
  see(tip: BlockName, idAt: (height: number) => MaybePromise<string | undefined>): Asking<void>;
}

export const createRecentChanges = (rules: ChainRules): RecentChanges => {
  const changes = new LRUCache<string, DerivedChange>({ max: 2 * keptChanges, maxSize: keptTransactions, sizeCalculation: ({ full }) => 1 + full.transactions.length });
  let last: BlockName | undefined;
  return {
    see: function* (tip, idAt) {
      if (tip.id === last?.id) return;
      if (last !== undefined && (yield* ask(idAt(last.height))) !== last.id) changes.clear();
      last = tip;
    },
    applied: (id) => changes.get(`applied ${id}`),
    reverted: (id) => changes.get(`reverted ${id}`),
    putApplied: (kept, round) => {
      const change = appliedChange(kept, round, rules);
      // If it is reverted again, that is another event than before.
      changes.delete(`reverted ${kept.block.id}`);
      changes.set(`applied ${kept.block.id}`, change);
      return change;
    },
    putReverted: (orphan) => {
      const change = revertedChange(orphan, rules);
      changes.delete(`applied ${orphan.block.id}`);
      changes.set(`reverted ${orphan.block.id}`, change);
      return change;
    },
  };
};
