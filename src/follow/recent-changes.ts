import { LRUCache } from "lru-cache";
import type { ChangesView, KeptBlock, OrphanBlock } from "../../types/chain-adapter.js";
import type { RoundDelegate } from "../../types/chain.js";
import type { ChainRules } from "../chain/rules.js";
import { ask, type Asking } from "../async/drive.js";
import type { BlockName } from "./cursor.js";
import { appliedChange, type DerivedChange, revertedChange } from "./derive.js";
import type { Change } from "./event.js";

/** Changes that are kept: a reader at the tip is seldom further behind than this. */
const keptChanges = 32;
/** Transactions of all changes that are kept. */
const keptTransactions = 5_000;

/** The last changes, each made into events once for all readers. */
interface RecentChanges {
  /** A change as it is in a state; undefined where it is not kept. */
  find(view: ChangesView, kind: Change["kind"], block: BlockName): Asking<DerivedChange | undefined>;
  putApplied(kept: KeptBlock, round: readonly RoundDelegate[] | undefined): DerivedChange;
  putReverted(orphan: OrphanBlock): DerivedChange;
}

function* timesOf(view: ChangesView, kind: Change["kind"], block: BlockName): Asking<number> {
  if (view.timesOf !== undefined) return yield* ask(view.timesOf(kind, block));
  const kept = kind === "applied" ? (yield* ask(view.blocks(block.height, 1)))[0] : yield* ask(view.orphan(block.id));
  return kept?.times ?? 0;
}

export const createRecentChanges = (rules: ChainRules): RecentChanges => {
  const changes = new LRUCache<string, DerivedChange>({ max: 2 * keptChanges, maxSize: keptTransactions, sizeCalculation: ({ full }) => 1 + full.transactions.length });
  const put = (change: DerivedChange): DerivedChange => {
    changes.set(`${change.kind} ${change.full.block.id}`, change);
    return change;
  };
  return {
    // Between two reads, a block may have been taken off the chain and put on it again: that is another change than before.
    find: function* (view, kind, block) {
      const known = changes.get(`${kind} ${block.id}`);
      return known !== undefined && (yield* timesOf(view, kind, block)) === known.times ? known : undefined;
    },
    putApplied: (kept, round) => put(appliedChange(kept, round, rules)),
    putReverted: (orphan) => put(revertedChange(orphan, rules)),
  };
};
