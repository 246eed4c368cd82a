import type { Page, WalletQuery, DelegateQuery, BlockQuery, TransactionQuery, LockQuery, FeeQuery, WalletChangesQuery, WalletChange } from "./chain-queries.js";
import type { Block, Delegate, FeeStatistics, Lock, RoundDelegate, Tip, Transaction, Wallet } from "./chain.js";

/** An adapter may answer synchronously or with a promise; callers await either. */
export type MaybePromise<T> = T | Promise<T>;

/** The state of the chain at one tip. Every answer is computed from that state alone. */
export interface ChainSnapshot {
  readonly tip: Tip;
  /** `totalAmount` of genesis + all rewards up to the tip. */
  readonly supply: bigint;
  /** Digest of this state (`digestOf` in `portico/chain`), as 64 hex digits in lower case; absent if the adapter keeps none. */
  readonly digest?: string | undefined;

  /** By address, public key or username. */
  wallet(identifier: string): MaybePromise<Wallet | undefined>;
  wallets(query: WalletQuery): MaybePromise<Page<Wallet>>;

  /**
   * By username, address or public key. `only` names the members that the caller reads, if not all. The adapter may leave out the others,
   * or ignore `only`.
   */
  delegate<Member extends keyof Delegate = keyof Delegate>(identifier: string, only?: readonly Member[]): MaybePromise<Pick<Delegate, Member> | undefined>;
  delegates(query: DelegateQuery): MaybePromise<Page<Delegate>>;

  block(key: { height: number } | { id: string }): MaybePromise<Block | undefined>;
  blocks(query: BlockQuery): MaybePromise<Page<Block>>;

  transaction(id: string): MaybePromise<Transaction | undefined>;
  transactions(query: TransactionQuery): MaybePromise<Page<Transaction>>;

  /** Open locks only. */
  lock(id: string): MaybePromise<Lock | undefined>;
  locks(query: LockQuery): MaybePromise<Page<Lock>>;

  /**
   * The active delegates of a round, by rank; `forgingOrder` of this list gives the forging order.
   * Undefined for any round after that of the next block (tip + 1).
   */
  round(round: number): MaybePromise<RoundDelegate[] | undefined>;

  /** One item for each type found, by group, then type. */
  feeStatistics(query: FeeQuery): MaybePromise<FeeStatistics[]>;

  /**
   * Every block in a range of heights that changed a wallet. With `supports.history` only.
   * @throws PorticoError HISTORY_MISSING, as `snapshotAt` does, if the range begins with blocks whose changes are not known
   */
  walletChanges?(query: WalletChangesQuery): MaybePromise<Page<WalletChange>>;

  /** Frees whatever kept the state from changing. Called once, after the last answer has been read. */
  release?(): void;
}

/** Limits on what one snapshot may cost. */
export interface SnapshotBounds {
  /**
   * Rows that all answers of the snapshot together may scan; absent: no limit. An answer that would need more is refused with
   * PorticoError SEARCH_TOO_WIDE, never truncated or estimated. Rows found directly through an index do not count. An adapter
   * that answers everything from indexes or from memory may ignore it.
   */
  searchRows?: number;
}

/** A block with its transactions, as readers that follow the chain get it. */
export interface KeptBlock {
  block: Block;
  transactions: Transaction[];
  /** The locks that its claims and refunds end, as they were opened. Without them, bookings of claims and refunds have no amounts. */
  locks?: readonly Pick<Lock, "lockId" | "senderId" | "recipientId" | "amount">[] | undefined;
  /** Milliseconds since 1970: when this node applied it. Absent if it read the block while catching up; the block's own time then counts. */
  appliedAt?: number | undefined;
  /** How often this node had applied the block before, and reverted it. Default: 0. */
  times?: number | undefined;
  /** Digest of the state after the block, if that is known. */
  digest?: string | undefined;
}

/** A block that was taken off the chain. */
export interface OrphanBlock extends KeptBlock {
  /** Milliseconds since 1970: when this node reverted it. */
  revertedAt: number;
}

/** The chain at one tip, for readers that follow it. All answers are of that one state. */
export interface ChangesView {
  readonly tip: Tip;
  /** Id of the chain's block at a height; undefined below 1 and above the tip. */
  idAt(height: number): MaybePromise<string | undefined>;
  /** Blocks of the chain from a height on, ascending; at least one where there is one, and at most `limit`. */
  blocks(from: number, limit: number): MaybePromise<readonly KeptBlock[]>;
  /** A block that is not on the chain, but was; undefined where it is not kept. */
  orphan(id: string): MaybePromise<OrphanBlock | undefined>;
  /**
   * `times` of the chain's block at a height (`kind` applied), or of a kept block off the chain (reverted). Optional. Without it, the whole
   * block is read to see whether readers have had it before.
   */
  timesOf?(kind: "applied" | "reverted", block: { height: number; id: string }): MaybePromise<number>;
  /** As in `ChainSnapshot`. */
  round(round: number): MaybePromise<readonly RoundDelegate[] | undefined>;
  /** Frees whatever kept the state from changing. Called once. */
  release?(): void;
}

/**
 * What Portico needs to follow a chain. `/events`, `/changes` and webhooks then go by blocks, from the first on and through
 * reorganisations.
 *
 * The next change after a block follows from the chain alone. If the block is on the chain, it is the block above. If it is not, but kept,
 * it is its reversal, and then whatever comes after its parent.
 */
export interface ChainChanges {
  /** The state at the current tip; undefined while there is none. */
  view(): MaybePromise<ChangesView | undefined>;
  /** Calls `changed` whenever `view` returns another tip. Returns a function that ends this. */
  watch(changed: () => void): () => void;
}

/**
 * How chain state is read: the only interface between the routes and the host's store.
 * The LMDB store is one implementation; `portico/conformance` tests others.
 */
export interface ChainAdapter {
  /** Parts set to false are not supported, and routes that need them reply 501. Default: everything is supported. */
  readonly supports?: {
    locks?: boolean;
    rounds?: boolean;
    feeStatistics?: boolean;
    /** Whether delegates have `voters`, `missedBlocks` and `productivity`, and are filtered and ordered by them. */
    delegateFigures?: boolean;
    /** Whether there are `snapshotAt` and, in snapshots, `walletChanges`. Default: whether there is `snapshotAt`. */
    history?: boolean;
  };
  /** Opens whatever `snapshot` needs. May be called again after `stop`. */
  start?(): Promise<void>;
  /** The plugin waits for it for `stopTimeout`, but at least 2 s. */
  stop?(): Promise<void>;
  /**
   * The state at the current tip; undefined while there is none yet (routes reply 503). Requests wait `hostTimeout` for it, and for each of
   * its answers, before they get 503 (`HOST_SILENT`). A snapshot that comes later is released.
   */
  snapshot(bounds?: SnapshotBounds): MaybePromise<ChainSnapshot | undefined>;
  /**
   * Optional. Without it, readers that follow the chain get blocks and transactions as the host emits them. These are kept in the log of
   * the host's events (`followHostEvents`), and cursors are positions in that log. `/changes` replies 501, and no replica can follow.
   */
  readonly changes?: ChainChanges;
  /**
   * The state as it was when the block at a height was the tip; undefined above the tip, and while there is no state. Only these are
   * called: `wallet`, `wallets` with the filter `vote` (and any others), `delegate`, `delegates`, `block`, `transaction`, `blocks` by
   * `height` or `timestamp`, `transactions` by `timestamp`, `round`, `feeStatistics`, `walletChanges`.
   * @throws PorticoError HISTORY_MISSING if that state is not known, with `members: { oldest: { height, id } }`, the oldest that is
   */
  snapshotAt?(height: number, bounds?: SnapshotBounds): MaybePromise<ChainSnapshot | undefined>;
}
