import type { Tip } from "../../types/chain.js";
import type { ChainAdapter, ChainSnapshot, SnapshotBounds } from "../../types/chain-adapter.js";
import type { FullBlock } from "../chain/block.js";
import type { ChainRules } from "../chain/rules.js";
import { type Environment, openEnvironment, type StoreAccess } from "./environment.js";
import { textKey } from "./keys.js";
import { createLastState } from "./last-state.js";
import { createSearch, createSearches, type SearchesOptions } from "./search.js";
import { createSnapshot } from "./snapshot.js";
import { createViews } from "./state-views.js";
import { createWriter } from "./writer.js";

/** A block that the store has just taken in, or out. */
export interface StoreChange {
  kind: "applied" | "reverted";
  full: FullBlock;
}

export interface StoreOptions {
  /** Folder of the LMDB environment. */
  dataDir: string;
  /** Blocks that can be reverted at the most. */
  undoBlocks: number;
  /** Default: "write". */
  access?: StoreAccess;
  /**
   * For a store that can be made again at no loss: it is written through the memory map and left to the system to bring to the
   * disk. Several times faster where the store is large; damaged when the machine fails, and a full disk ends the process.
   */
  disposable?: boolean;
}

export interface StoreNeeds {
  rules: ChainRules;
  /** How searches share the process. */
  searches?: SearchesOptions;
  /** Called inside the write transaction of each change: what it writes is committed with the block, or not at all. */
  within?(change: StoreChange): void;
  /** Called once the write transaction that `within` was called in is committed. */
  committed?(): void;
}

/** The LMDB store: a ChainAdapter, and the writing of blocks. */
export interface Store extends ChainAdapter {
  readonly environment: Environment;
  snapshot(bounds?: SnapshotBounds): ChainSnapshot | undefined;
  tip(): Tip | undefined;
  /**
   * Writes blocks on the tip, in one LMDB transaction: all of them, or none. Where the chain is known to go on up to a height
   * (`chainHeight`), those more than `undoBlocks` below it are written without the means to take them out again.
   * @throws PorticoError BLOCK_DOES_NOT_CHAIN, BLOCK_INVALID
   */
  apply(blocks: readonly FullBlock[], chainHeight?: number): void;
  /** Takes the tip out. @throws PorticoError STORE_UNDO_EXHAUSTED */
  revert(): void;
  /** Whether the store ever reached the end of the chain it was first built from. Until then it answers nothing. */
  isComplete(): boolean;
  markComplete(): void;
  stop(): Promise<void>;
}

const completeKey = textKey("complete");

/** Opens the store. @throws PorticoError STORE_DAMAGED, STORE_FOREIGN; NOT_READY where it is another process that has to make it */
export const createStore = (options: StoreOptions, { rules, within, committed, ...needs }: StoreNeeds): Store => {
  const { access = "write", disposable = false } = options;
  const environment = openEnvironment(options.dataDir, rules.network.network.nethash, { access, disposable });
  const writer = createWriter(environment, rules, options);
  const lastState = createLastState(environment);
  /** lmdb-js reads on in one transaction until the event loop has turned; what another process commits meanwhile is not in that one. */
  const readTip = (): Tip | undefined => {
    environment.root.resetReadTxn();
    return lastState()?.tip;
  };
  /** Kept by the one process that writes; others look it up. */
  let ownTip = readTip();
  let complete = environment.db.meta.get(completeKey) === true;

  const searches = createSearches(needs.searches);
  const views = createViews({ environment, rules, lastState });

  const snapshot = ({ searchRows = Infinity }: SnapshotBounds = {}): ChainSnapshot | undefined => {
    const view = access === "write" ? views.ofNow() : views.ofLastCommit();
    return view === undefined ? undefined : createSnapshot(view, createSearch(searches, searchRows), views.take(view));
  };

  const write = (work: () => void): void => {
    try {
      environment.root.transactionSync(work);
    } catch (error) {
      writer.aborted();
      throw error;
    }
    views.changed();
    ownTip = readTip();
    committed?.();
  };

  return {
    environment,
    snapshot,
    tip: access === "write" ? () => ownTip : readTip,
    apply: (blocks, chainHeight = 0) => {
      write(() => writer.apply(blocks, chainHeight - options.undoBlocks, (full) => within?.({ kind: "applied", full })));
    },
    revert: () => {
      write(() => {
        const full = writer.revert();
        if (full !== undefined) within?.({ kind: "reverted", full });
      });
    },
    isComplete: () => (complete ||= environment.db.meta.get(completeKey) === true),
    markComplete: () => {
      environment.root.transactionSync(() => environment.db.meta.putSync(completeKey, true));
      complete = true;
    },
    stop: async () => {
      await searches.stop();
      views.forget();
      await environment.close();
    },
  };
};
