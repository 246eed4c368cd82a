import type { Block, Tip } from "../../../types/chain.js";
import type { ChainAdapter, ChainSnapshot, ChangesView, SnapshotBounds } from "../../../types/chain-adapter.js";
import type { FullBlock } from "../../chain/block.js";
import { PorticoError } from "../../errors.js";
import { createOldest, dropStaleHistory, historyMissing } from "../history/completeness.js";
import { createPastLists, createPastSnapshot } from "../history/past-snapshot.js";
import { historyFromKey, historyTipKey } from "../layout/history-rows.js";
import { readBlock, readState } from "../records/records.js";
import { readHistoryFrom, readHistoryTip } from "../write/history.js";
import { systemClock } from "../../clock.js";
import { runSliced, type Sliced } from "../../async/time-slicing.js";
import { textKey } from "../layout/keys.js";
import { createChangesView } from "../follow/changes-view.js";
import { putOrphan } from "../follow/orphans.js";
import { createChangeLog, type StoreChange } from "./change-log.js";
import type { Prewarm, StoreNeeds } from "./store-needs.js";
import { noEntries } from "../layout/write-log.js";
import { type Environment, openEnvironment, type StoreAccess, type StoreDatabases } from "../lmdb/environment.js";
import { checkRules } from "../records/rules-fingerprint.js";
import { createTipCache } from "./tip-cache.js";
import { createFreshReads } from "../write/fresh-read.js";
import { createWriteBatch } from "../write/write-batch.js";
import { openTransaction } from "../lmdb/reading.js";
import { firstOtherReward, type OtherReward } from "../query/rewards.js";
import { createSearch, createSearches } from "../query/search.js";
import { createSnapshot, type StateView } from "./snapshot.js";
import { createViews } from "./read-views.js";
import { beginRebuild, completeKey, readRebuild, rebuildKey, type Rebuild, removeOldChain, writeRebuild } from "./rebuild.js";
import { transact } from "../lmdb/transact.js";
import { createCommitQueue } from "../write/commit-queue.js";
import { hasUndo } from "../write/undo.js";
import { createWriter } from "../write/writer.js";

export interface StoreOptions {
  /** Folder of the LMDB environment. */
  dataDir: string;
  /** Blocks that can be reverted, at the most. */
  undoBlocks: number;
  /** Default: "write". */
  access?: StoreAccess;
  /** Whether the states at earlier heights are kept, by the process that writes; whether they are served, by any. Default true. */
  history?: boolean | undefined;
  /**
   * For a store that can be made again at no loss: it is written through the memory map, and the system brings it to the disk in its own
   * time. Several times faster where the store is large; but a failure of the machine damages it, and a full disk ends the process.
   */
  disposable?: boolean;
}

export type { Prewarm, StoreNeeds };

type BlockName = Pick<Block, "height" | "id">;

/** The LMDB store: a ChainAdapter, and the writing of blocks. */
export interface Store extends ChainAdapter {
  readonly environment: Environment;
  /** Of the last block that an earlier version told its listener of, where that was not the last. */
  readonly toldHeight: number | undefined;
  /** In a process that does not write blocks: undefined, too, while the store is not complete. */
  snapshot(bounds?: SnapshotBounds): ChainSnapshot | undefined;
  /** @throws PorticoError HISTORY_MISSING, NOT_SUPPORTED */
  snapshotAt(height: number, bounds?: SnapshotBounds): ChainSnapshot | undefined;
  /** The first height whose state the store has; undefined while it has no chain, or keeps no history. */
  oldest(): Pick<Tip, "height" | "id"> | undefined;
  /** Adds rows of history that were missing (reindex.ts), unless the chain has left the block up to which they are. Says whether it did. */
  extendHistory(oldest: Pick<Tip, "height" | "id">, rows: Iterable<[key: Buffer, value: Buffer]>): Promise<boolean>;
  /** For readers that follow the chain; undefined while the store is not complete. */
  changesView(): ChangesView | undefined;
  tip(): Tip | undefined;
  /** Undefined unless the store is complete. */
  completeTip(): Tip | undefined;
  /**
   * Writes blocks on the tip, in one LMDB transaction: all of them, or none. Where the chain is known to go on up to a height
   * (`chainHeight`), those `undoBlocks` or more below it are written without undo records. `appliedAt`: when they are applied, in
   * milliseconds since 1970, if that is at the tip. Until it resolves the store answers as before; one write at a time.
   * @throws PorticoError BLOCK_DOES_NOT_CHAIN, BLOCK_INVALID
   */
  apply(blocks: readonly FullBlock[], chainHeight?: number, appliedAt?: number): Promise<void>;
  /**
   * The same, but resolves when the blocks are prepared and those before are committed, so that the next can be prepared while these are
   * committed. If that fails, the next call rejects, or `written`. What was prepared on blocks that could not be committed is discarded.
   */
  applyAhead(blocks: readonly FullBlock[], chainHeight?: number, appliedAt?: number): Promise<void>;
  /** Resolves when all is committed. */
  written(): Promise<void>;
  /** Reverts the tip. @throws PorticoError STORE_UNDO_EXHAUSTED */
  revert(): Promise<void>;
  /** Computes the digest of the tip's state if the store, written by an earlier version, has none. */
  completeDigest(): Promise<void>;
  /** The first block from a height on whose reward is not that of the milestones. */
  firstOtherReward(from: number): OtherReward | undefined;
  /** Whether every block above a height can be reverted. */
  canRevertTo(height: number): boolean;
  /**
   * Removes the whole chain, for another one that shares its blocks up to the height `fork`. From the first moment on nothing is served,
   * and the listener is told of the reversal of the blocks above `fork`; then, as they are written, of the new chain's blocks above it.
   * Resolves when the store is empty, or early if `isStopped`. A process that ends meanwhile is followed by one that finds `rebuilding`
   * and calls this again.
   */
  startOver(fork: number, during?: { isStopped?(): boolean; onBegun?(): void }): Promise<void>;
  /** Undefined unless the store is being built anew, up to `height` so far; that ends with `markComplete`. */
  rebuilding(): (Rebuild & { height: number }) | undefined;
  /** Keeps the name of a block that the host has left, while it cannot be left here; undefined: there is none. */
  disown(block: BlockName | undefined): void;
  /** What was kept so, also by an earlier process. */
  disowned(): BlockName | undefined;
  /** Tells the listener of changes that it could not be told of before: because the process ended, or `witness` threw. */
  tell(): Promise<void>;
  /** Whether the store has reached the end of the chain since it was made, or made anew. Until then nothing is served from it. */
  isComplete(): boolean;
  markComplete(): void;
  /** To be called now and then: frees pages that are held by readers that were killed, or by a state that has been current for long. */
  freePages(): void;
  stop(): Promise<void>;
}

const disownedKey = textKey("disowned");

/** Opens the store. @throws PorticoError STORE_DAMAGED, STORE_FOREIGN, STORE_IN_USE; NOT_READY if another process has to make it first */
export const createStore = (options: StoreOptions, { rules, listener, ...needs }: StoreNeeds): Store => {
  const { access = "write", disposable = false, history = true } = options;
  const { clock = systemClock } = needs;
  const environment = openEnvironment(options.dataDir, rules.network.network.nethash, {
    access,
    disposable,
    writes: needs.writes,
    check: (opened) => checkRules(opened, rules, { writes: access === "write" }),
  });
  const newest = createFreshReads(environment);
  const pending = createWriteBatch(environment, newest);
  if (access === "write" && history) dropStaleHistory(environment);
  const writer = createWriter(pending, rules, { undoBlocks: options.undoBlocks, history, timesOf: needs.timesOf });
  const changes = createChangeLog(environment, pending);
  const toldHeight = access === "write" ? changes.toldHeight() : undefined;
  if (access === "write" && listener === undefined) changes.clear();
  const tipState = createTipCache(environment);
  const { meta } = environment.db;
  const readComplete = (): boolean => meta.get(completeKey) === true;
  /** lmdb-js by itself reuses a read transaction until the event loop has turned, and would miss what another process commits meanwhile. */
  const readTip = (): Tip | undefined => {
    environment.root.resetReadTxn();
    return tipState()?.tip;
  };
  const readCompleteTip = (): Tip | undefined => {
    environment.root.resetReadTxn();
    return readComplete() ? tipState()?.tip : undefined;
  };
  let complete = readComplete();
  let disowned = meta.get(disownedKey) as BlockName | undefined;
  let rebuild = complete ? undefined : readRebuild(environment);

  const searches = createSearches(needs.searches);
  const views = createViews({ environment, rules, openTransaction: access === "write" ? newest.open : () => openTransaction(environment), tipState });
  if (access === "write") views.show(views.ofLastCommit());

  const snapshotOf = (view: StateView, { searchRows = Infinity }: SnapshotBounds = {}): ChainSnapshot =>
    createSnapshot(view, createSearch(searches, searchRows), views.take(view));

  /** In another process than the one that writes, what is committed may be half of a chain at any time. */
  const completeView = (): StateView | undefined => {
    const view = views.ofLastCommit();
    if (view === undefined || view.reading.get("meta", completeKey) === true) return view;
    views.take(view)();
    return undefined;
  };

  const snapshot = (bounds?: SnapshotBounds): ChainSnapshot | undefined => {
    const view = access === "write" ? views.ofNow() : completeView();
    return view === undefined ? undefined : snapshotOf(view, bounds);
  };

  const pastLists = createPastLists();
  /** A store that a version without history has made gets the database from whoever writes it next. */
  const keepsHistory = history && (environment.db as Partial<StoreDatabases>).history !== undefined;

  const oldest = createOldest(keepsHistory);

  const snapshotAt: Store["snapshotAt"] = (height, { searchRows = Infinity } = {}) => {
    if (!history) throw new PorticoError("NOT_SUPPORTED", "This node keeps no history.");
    const view = access === "write" ? views.ofNow() : completeView();
    if (view === undefined) return undefined;
    const release = views.take(view);
    try {
      const { height: tip } = view.state.tip;
      if (height === tip) return createSnapshot(view, createSearch(searches, searchRows), release);
      if (height >= 1 && height < tip) {
        if (height < oldest.heightOf(view)) throw historyMissing(oldest.of(view));
        return createPastSnapshot(view, height, { search: createSearch(searches, searchRows), lists: pastLists, release });
      }
    } catch (error) {
      release();
      throw error;
    }
    release();
    return undefined;
  };

  const changesView = (): ChangesView | undefined => {
    const view = access === "write" ? (complete ? views.ofNow() : undefined) : completeView();
    return view && createChangesView(view, views.take(view));
  };

  const isComplete = (): boolean => {
    if (access === "write") return complete;
    environment.root.resetReadTxn();
    return readComplete();
  };

  const note = (change: StoreChange): void => {
    const { height } = change.full.block;
    if (rebuild !== undefined && change.kind === "reverted" && height <= rebuild.fork) {
      rebuild = { ...rebuild, fork: height - 1 };
      pending.put("meta", rebuildKey, rebuild);
    }
    if (listener !== undefined && (complete || (rebuild !== undefined && !rebuild.silent && height > rebuild.fork))) changes.note(change);
  };

  const tell = async (): Promise<void> => (listener === undefined ? undefined : changes.tell(listener));

  const showNow = (view: StateView | undefined): void => {
    views.show(view);
    needs.changed?.();
  };

  const show = async (view: StateView | undefined): Promise<void> => {
    // If nothing was committed, nothing has to be read beforehand.
    const isNew = view?.state.tip.id !== views.ofNow()?.state.tip.id;
    if (view === undefined || !isNew || !isComplete()) return showNow(view);
    const letGo = views.take(view);
    try {
      await runSliced(views.prewarm(view));
      await needs.prewarm?.((bounds) => snapshotOf(view, bounds));
    } finally {
      showNow(view);
      letGo();
    }
  };

  const line = createCommitQueue({
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

  const putOn = (blocks: readonly FullBlock[], chainHeight = 0, appliedAt?: number): Sliced<void> =>
    writer.apply(blocks, chainHeight - options.undoBlocks, (full) => note({ kind: "applied", full }), appliedAt);

  const takeOut = function* (): Sliced<void> {
    const full = writer.revert();
    if (full !== undefined) {
      putOrphan(pending, full, needs.timesOf?.("reverted", full.block.id)?.at ?? clock.now());
      note({ kind: "reverted", full });
    }
    yield;
  };

  const startOver: Store["startOver"] = async (fork, { isStopped = () => false, onBegun } = {}) => {
    await line.written();
    await tell();
    const tip = views.ofNow()?.state.tip;
    if (tip !== undefined) {
      rebuild = { fork, untold: tip.height, silent: !complete && rebuild?.silent !== false, emptied: false };
      complete = false;
      pending.clear();
      await beginRebuild(pending, rebuild);
      showNow(undefined);
      writer.aborted();
    }
    onBegun?.();
    await removeOldChain(environment, { listener, now: clock.now, isStopped });
    rebuild = readRebuild(environment);
  };

  const extendHistory: Store["extendHistory"] = async (oldest, rows) => {
    let extended = false;
    const steps = function* (): Sliced<void> {
      const tip = readState(pending)?.tip;
      // Before its first block with history, a store has that of its tip alone.
      const isLive = readHistoryTip(pending)?.id === tip?.id;
      const from = isLive ? readHistoryFrom(pending) : tip?.height;
      if (from !== oldest.height || readBlock(pending, oldest.height)?.id !== oldest.id) return;
      let count = 0;
      for (const [key, value] of rows) {
        pending.put("history", key, value);
        if (++count % 100 === 0) yield;
      }
      if (!isLive) pending.put("meta", historyTipKey, [oldest.height, oldest.id]);
      pending.put("meta", historyFromKey, 1);
      extended = true;
    };
    await line.writeBetween(steps());
    return extended;
  };

  return {
    environment,
    toldHeight,
    supports: { history },
    snapshot,
    snapshotAt,
    oldest: () => {
      const view = history ? views.ofNow() : undefined;
      return view && oldest.of(view);
    },
    extendHistory,
    changesView,
    tip: access === "write" ? () => views.ofNow()?.state.tip : readTip,
    completeTip: access === "write" ? () => (complete ? views.ofNow()?.state.tip : undefined) : readCompleteTip,
    apply: (blocks, chainHeight, appliedAt) => line.write(putOn(blocks, chainHeight, appliedAt)),
    applyAhead: (blocks, chainHeight, appliedAt) => line.writeAhead(putOn(blocks, chainHeight, appliedAt)),
    written: line.written,
    revert: () => line.write(takeOut()),
    completeDigest: () => line.write(writer.completeDigest()),
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
    startOver,
    rebuilding: () => {
      if (access !== "write") environment.root.resetReadTxn();
      const found = access === "write" ? rebuild : readRebuild(environment);
      return found && { ...found, height: tipState()?.tip.height ?? 0 };
    },
    disown: (block) => {
      if (block?.id === disowned?.id) return;
      transact(environment, () => (block === undefined ? meta.removeSync(disownedKey) : meta.putSync(disownedKey, block)));
      disowned = block;
    },
    disowned: () => disowned,
    tell,
    isComplete,
    markComplete: () => {
      transact(environment, () => {
        meta.putSync(completeKey, true);
        writeRebuild(environment, undefined);
      });
      complete = true;
      rebuild = undefined;
      needs.changed?.();
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
