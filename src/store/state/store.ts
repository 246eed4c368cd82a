import type { Tip } from "../../../types/chain.js";
import type { ChainAdapter, ChainSnapshot, SnapshotBounds } from "../../../types/chain-adapter.js";
import type { FullBlock } from "../../chain/block.js";
import type { ChainRules } from "../../chain/rules.js";
import { inTurns, type Steps } from "../../async/time-slicing.js";
import { type ChangeListener, createChangeLog, type StoreChange } from "./change-log.js";
import { noEntries } from "../layout/write-log.js";
import { type Environment, openEnvironment, type StoreAccess } from "../lmdb/environment.js";
import { checkRules } from "../records/rules-fingerprint.js";
import { textKey } from "../layout/keys.js";
import { createLastState } from "./tip-cache.js";
import { createNewestReads } from "../write/fresh-read.js";
import { createPending } from "../write/write-batch.js";
import { openTransaction } from "../lmdb/reading.js";
import { createSearch, createSearches, type SearchesOptions } from "../query/search.js";
import { createSnapshot, type StateView } from "./snapshot.js";
import { createViews } from "./read-views.js";
import { transact } from "../lmdb/transact.js";
import { createWriteLine } from "../write/commit-queue.js";
import { createWriter } from "../write/writer.js";

export interface StoreOptions {
  /** Folder of the LMDB environment. */
  dataDir: string;
  /** Blocks that can be reverted, at the most. */
  undoBlocks: number;
  /** Default: "write". */
  access?: StoreAccess;
  /**
   * For a store that can be made again at no loss: it is written through the memory map, and the system brings it to the disk in its own
   * time. Several times faster where the store is large; but a failure of the machine damages it, and a full disk ends the process.
   */
  disposable?: boolean;
}

/** `open` gives a snapshot of the state that is about to be shown. */
export type BeforeShown = (open: (bounds?: SnapshotBounds) => ChainSnapshot) => Promise<void>;

export interface StoreNeeds {
  rules: ChainRules;
  /** How searches share the process. */
  searches?: SearchesOptions;
  /**
   * Once the store is complete, told of each change exactly once and in order, within a write transaction after that of the block, even
   * if the process ends between the two. Not given: changes are not kept.
   */
  listener?: ChangeListener | undefined;
  /** Called with each new state before `snapshot` gives it: that waits until this resolves. */
  beforeShown?: BeforeShown | undefined;
}

/** The LMDB store: a ChainAdapter, and the writing of blocks. */
export interface Store extends ChainAdapter {
  readonly environment: Environment;
  snapshot(bounds?: SnapshotBounds): ChainSnapshot | undefined;
  tip(): Tip | undefined;
  /**
   * Writes blocks on the tip, in one LMDB transaction: all of them, or none. Where the chain is known to go on up to a height
   * (`chainHeight`), those `undoBlocks` or more below it are written without undo records. Until it resolves the store answers as
   * before; one write at a time.
   * @throws PorticoError BLOCK_DOES_NOT_CHAIN, BLOCK_INVALID
   */
  apply(blocks: readonly FullBlock[], chainHeight?: number): Promise<void>;
  /**
   * The same, but resolves when the blocks are prepared and those before are committed, so that the next can be prepared while these are
   * committed. If that fails, the next call rejects, or `written`. What was prepared on blocks that could not be committed is discarded.
   */
  applyAhead(blocks: readonly FullBlock[], chainHeight?: number): Promise<void>;
  /** Resolves when all is committed. */
  written(): Promise<void>;
  /** Reverts the tip. @throws PorticoError STORE_UNDO_EXHAUSTED */
  revert(): Promise<void>;
  /** Tells the listener of changes that it could not be told of before: because the process ended, or `witness` threw. */
  tell(): Promise<void>;
  /** Whether the store has ever reached the end of the chain it was first built from. Until then nothing is served from it. */
  isComplete(): boolean;
  markComplete(): void;
  /** To be called now and then: frees pages that are held by readers that were killed, or by a state that has been current for long. */
  freePages(): void;
  stop(): Promise<void>;
}

const completeKey = textKey("complete");

/** Opens the store. @throws PorticoError STORE_DAMAGED, STORE_FOREIGN, STORE_IN_USE; NOT_READY if another process has to make it first */
export const createStore = (options: StoreOptions, { rules, listener, ...needs }: StoreNeeds): Store => {
  const { access = "write", disposable = false } = options;
  const environment = openEnvironment(options.dataDir, rules.network.network.nethash, {
    access,
    disposable,
    check: (opened) => checkRules(opened, rules, { writes: access === "write" }),
  });
  const newest = createNewestReads(environment);
  const pending = createPending(environment, newest);
  const writer = createWriter(pending, rules, options);
  const changes = createChangeLog(environment, pending);
  if (access === "write" && listener === undefined) changes.clear();
  const lastState = createLastState(environment);
  /** lmdb-js by itself reuses a read transaction until the event loop has turned, and would miss what another process commits meanwhile. */
  const readTip = (): Tip | undefined => {
    environment.root.resetReadTxn();
    return lastState()?.tip;
  };
  let complete = environment.db.meta.get(completeKey) === true;

  const searches = createSearches(needs.searches);
  const views = createViews({ environment, rules, openTransaction: access === "write" ? newest.open : () => openTransaction(environment), lastState });
  if (access === "write") views.show(views.ofLastCommit());

  const snapshotOf = (view: StateView, { searchRows = Infinity }: SnapshotBounds = {}): ChainSnapshot =>
    createSnapshot(view, createSearch(searches, searchRows), views.take(view));

  const snapshot = (bounds?: SnapshotBounds): ChainSnapshot | undefined => {
    const view = access === "write" ? views.ofNow() : views.ofLastCommit();
    return view === undefined ? undefined : snapshotOf(view, bounds);
  };

  const isComplete = (): boolean => (complete ||= environment.db.meta.get(completeKey) === true);

  const note = (change: StoreChange): void => {
    if (listener !== undefined && isComplete()) changes.note(change);
  };

  const tell = async (): Promise<void> => {
    if (listener !== undefined) await changes.tell(listener);
  };

  const show = async (view: StateView | undefined): Promise<void> => {
    // If nothing was committed, nothing has to be read beforehand.
    const isNew = view?.state.tip.id !== views.ofNow()?.state.tip.id;
    if (view === undefined || !isNew || !isComplete()) return views.show(view);
    const letGo = views.take(view);
    try {
      await inTurns(views.renew(view));
      await needs.beforeShown?.((bounds) => snapshotOf(view, bounds));
    } finally {
      views.show(view);
      letGo();
    }
  };

  const line = createWriteLine({
    // Changes are read from the chain as they are told, so they have to be told before it changes again.
    begin: tell,
    commit: async () => {
      try {
        await pending.commit();
      } finally {
        await show(views.ofLastCommit());
      }
      await tell();
    },
    giveUp: () => {
      pending.clear();
      writer.aborted();
    },
  });

  const putOn = (blocks: readonly FullBlock[], chainHeight = 0): Steps<void> =>
    writer.apply(blocks, chainHeight - options.undoBlocks, (full) => note({ kind: "applied", full }));

  const takeOut = function* (): Steps<void> {
    const full = writer.revert();
    if (full !== undefined) note({ kind: "reverted", full });
    yield;
  };

  return {
    environment,
    snapshot,
    tip: access === "write" ? () => views.ofNow()?.state.tip : readTip,
    apply: (blocks, chainHeight) => line.write(putOn(blocks, chainHeight)),
    applyAhead: (blocks, chainHeight) => line.writeAhead(putOn(blocks, chainHeight)),
    written: line.written,
    revert: () => line.write(takeOut()),
    tell,
    isComplete,
    markComplete: () => {
      transact(environment, () => environment.db.meta.putSync(completeKey, true));
      complete = true;
    },
    freePages: () => {
      environment.root.readerCheck();
      views.refresh();
      // For readers in other processes, who may see an older state (transact.js) until something is committed. A failure will recur with
      // the next block.
      if (access === "write") environment.commit(noEntries).catch(() => undefined);
    },
    stop: async () => {
      await searches.stop();
      await line.idle();
      views.forget();
      await environment.close();
    },
  };
};
