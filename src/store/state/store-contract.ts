import type { Block, Tip } from "../../../types/chain.js";
import type { ChainAdapter, ChainSnapshot, ChangesView, SnapshotBounds } from "../../../types/chain-adapter.js";
import type { FullBlock } from "../../chain/blocks/block.js";
import type { ChainRules } from "../../chain/rules.js";
import type { FullClock } from "../../async/clock.js";
import type { Environment, StoreAccess, WriteWatch } from "../lmdb/environment.js";
import type { SearchesOptions } from "../query/search.js";
import type { FillProgress } from "../write/account-indexes.js";
import type { TimesOf } from "../write/writer.js";
import type { Rebuild } from "./rebuild.js";

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

export interface StoreNeeds {
  rules: ChainRules;
  /** Is told how writes go. */
  writes?: WriteWatch;
  /** How searches share the process. */
  searches?: Partial<SearchesOptions> | undefined;
  /** Called when `changesView` gives another state. */
  changed?: (() => void) | undefined;
  /** Default: the system's. */
  clock?: FullClock | undefined;
  /** Given by a replica. */
  timesOf?: TimesOf | undefined;
}

export type BlockName = Pick<Block, "height" | "id">;

/** A block whose reward is not the one that the milestones give at its height. */
export interface OtherReward {
  block: Block;
  expected: bigint;
}

/** The LMDB store: a ChainAdapter, and the writing of blocks. */
export interface Store extends ChainAdapter {
  readonly environment: Environment;
  /** In a process that does not write blocks: undefined, too, while the store is not complete. */
  snapshot(bounds?: SnapshotBounds): ChainSnapshot | undefined;
  /** @throws PorticoError HISTORY_MISSING, NOT_SUPPORTED */
  snapshotAt(height: number, bounds?: SnapshotBounds): ChainSnapshot | undefined;
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
  /**
   * Removes undo records and digests of blocks that can no longer be reverted, because `undoBlocks` is less than it was; ends early if
   * `isStopped`.
   */
  trimUndo(isStopped?: () => boolean): Promise<void>;
  /** How far the ranked sets are filled that the store did not have when it was opened; undefined where all are full. */
  filling(): FillProgress | undefined;
  /** Fills a part of them. Returns whether there is more to do. */
  fillSets(): Promise<boolean>;
  /** Id of the block at a height of the chain that this process writes; undefined where there is none. */
  idAt(height: number): string | undefined;
  /** The first block from a height on whose reward is not that of the milestones. */
  firstOtherReward(from: number): OtherReward | undefined;
  /** Whether every block above a height can be reverted. */
  canRevertTo(height: number): boolean;
  /**
   * Removes the whole chain, for another one that shares its blocks up to the height `fork`. From the first moment on nothing is served;
   * the blocks above `fork` are kept for readers that follow the chain.
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
  /** Whether the store has reached the end of the chain since it was made, or made anew. Until then nothing is served from it. */
  isComplete(): boolean;
  markComplete(): void;
  /** To be called now and then: frees pages that are held by readers that were killed, or by a state that has been current for long. */
  freePages(): void;
  stop(): Promise<void>;
}
