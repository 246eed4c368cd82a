import type { Tip } from "../../../types/chain.js";
import { systemClock } from "../../async/clock.js";
import { noEntries } from "../layout/write-log.js";
import { openEnvironment } from "../lmdb/environment.js";
import { openTransaction } from "../lmdb/reading.js";
import { firstOtherReward } from "../query/rewards.js";
import { createSearches } from "../query/search.js";
import { checkRules } from "../records/rules-fingerprint.js";
import { createFreshReads } from "../write/batch/fresh-read.js";
import { hasUndo } from "../write/batch/undo.js";
import { createChainMarks } from "./chain-marks.js";
import { createViews } from "./read-views.js";
import { readRebuild } from "./rebuild.js";
import type { Store, StoreNeeds, StoreOptions } from "./store-contract.js";
import { createStoreReads } from "./store-reads.js";
import { createStoreWrites } from "./store-writes.js";
import { createTipCache } from "./tip-cache.js";

export type { Prewarm, Store, StoreNeeds, StoreOptions } from "./store-contract.js";

/** When a block was reverted, in milliseconds since 1970: now, unless a replica's node has told when. */
const createRevertedAt =
  ({ timesOf, clock = systemClock }: StoreNeeds) =>
  (id: string): number =>
    timesOf?.("reverted", id)?.at ?? clock.now();

/** Opens the store. @throws PorticoError STORE_DAMAGED, STORE_FOREIGN, STORE_IN_USE; NOT_READY if another process has to make it first */
export const createStore = (options: StoreOptions, needs: StoreNeeds): Store => {
  const { access = "write", disposable = false, history = true } = options;
  const { rules } = needs;
  const isWriter = access === "write";
  const environment = openEnvironment(options.dataDir, rules.network.network.nethash, { access, disposable, writes: needs.writes, check: (opened) => checkRules(opened, rules, { writes: isWriter }) });
  const newest = createFreshReads(environment);
  const tipState = createTipCache(environment);
  const searches = createSearches(needs.searches);
  const views = createViews({ environment, rules, openTransaction: isWriter ? newest.open : () => openTransaction(environment), tipState });
  if (isWriter) views.show(views.ofLastCommit());
  const revertedAt = createRevertedAt(needs);
  const marks = createChainMarks(environment, { isWriter, views, revertedAt });
  const { snapshotOf, ...reads } = createStoreReads({ isWriter, history, views, marks, searches });
  const { idle, ...writing } = createStoreWrites({ ...needs, undoBlocks: options.undoBlocks, history, isWriter, environment, newest, views, marks, snapshotOf, revertedAt });

  /** lmdb-js by itself reuses a read transaction until the event loop has turned, and would miss what another process commits meanwhile. */
  const readTip = (): Tip | undefined => {
    environment.root.resetReadTxn();
    return tipState()?.tip;
  };

  return {
    environment,
    supports: { history },
    ...reads,
    ...writing,
    ...{ isComplete: marks.isComplete, disown: marks.disown, disowned: marks.disowned },
    tip: isWriter ? () => views.ofNow()?.state.tip : readTip,
    completeTip: () => (marks.isComplete() ? (isWriter ? views.ofNow()?.state.tip : tipState()?.tip) : undefined),
    firstOtherReward: (from) => {
      const view = views.ofNow();
      return view && firstOtherReward(view.reading, rules, from, view.state.tip.height);
    },
    canRevertTo: (height) => {
      const view = views.ofNow();
      let next = view?.state.tip.height ?? 0;
      while (view !== undefined && next > height && hasUndo(view.reading, next)) next--;
      return next <= height;
    },
    rebuilding: () => {
      if (!isWriter) environment.root.resetReadTxn();
      const found = isWriter ? marks.rebuild : readRebuild(environment);
      return found && { ...found, height: tipState()?.tip.height ?? 0 };
    },
    markComplete: () => {
      marks.markComplete();
      needs.changed?.();
    },
    freePages: () => {
      environment.root.readerCheck();
      views.refresh();
      // For readers in other processes, who may see an older state (transact.js) until something is committed. A failure will recur with
      // the next block.
      if (isWriter) environment.commit(noEntries).catch(() => undefined);
    },
    stop: async () => {
      await searches.stop();
      await idle();
      views.forget();
      await environment.close();
    },
  };
};
