import type { Block, Delegate, FeeStatistics, Lock, RoundDelegate, Tip, Transaction, Wallet } from "./chain.js";

/** An adapter may answer at once or later; callers await. */
export type MaybePromise<T> = T | Promise<T>;

/** Inclusive at both ends; either may be absent. */
export interface Range<T> {
  from?: T;
  to?: T;
}

export interface Order<Field extends string> {
  field: Field;
  direction: "asc" | "desc";
}

/**
 * One page of a list: the rows that pass every filter given, in `order`, from `offset`, at most `limit` of them.
 *
 * Orders are total, and `asc` is the exact reverse of `desc`. Ties in `desc` go by: ascending address (wallets), ascending
 * username (delegates), descending height (blocks), descending height, then descending position (transactions), ascending
 * lock id (locks). Only rows without a value of the field (no public key, no username, no rank) stand apart: they come
 * last in both directions, by ascending key. Text is compared by its UTF-16 code units, as JavaScript's `<` does; letter case
 * counts, in filters and look-ups too. Hashes and public keys in filters are in lower case.
 */
export interface ListQuery<Filter, Field extends string> {
  filter: Filter;
  order: Order<Field>;
  offset: number;
  limit: number;
}

export interface Page<T> {
  rows: T[];
  /** Exact number of rows that pass the filter, on all pages. */
  total: number;
}

export interface WalletFilter {
  address?: string;
  /** Any of these. */
  addresses?: string[];
  publicKey?: string;
  secondPublicKey?: string;
  /** Public key of the delegate voted for. */
  vote?: string;
  /** Exact. */
  username?: string;
  balance?: Range<bigint>;
  /** Of a wallet that is no delegate: 0. */
  voteBalance?: Range<bigint>;
  /** Of a wallet that is no delegate: 0. */
  producedBlocks?: Range<number>;
}
export type WalletOrder = "address" | "publicKey" | "username" | "balance" | "voteBalance";

export interface DelegateFilter {
  address?: string;
  publicKey?: string;
  /** Substring, letter case counts. */
  username?: string;
  /** Exact, any of these. */
  usernames?: string[];
  secondPublicKey?: string;
  /** Public key of the delegate that the delegate itself votes for. */
  vote?: string;
  balance?: Range<bigint>;
  /** Percent. */
  approval?: Range<number>;
  forgedFees?: Range<bigint>;
  forgedRewards?: Range<bigint>;
  forgedTotal?: Range<bigint>;
  producedBlocks?: Range<number>;
  voteBalance?: Range<bigint>;
  resigned?: boolean;
}
export type DelegateOrder =
  | "username"
  | "rank"
  | "address"
  | "publicKey"
  | "approval"
  | "producedBlocks"
  | "forgedFees"
  | "forgedRewards"
  | "forgedTotal"
  | "voteBalance";

export interface BlockFilter {
  id?: string;
  version?: number;
  previousBlock?: string;
  payloadHash?: string;
  generatorPublicKey?: string;
  blockSignature?: string;
  timestamp?: Range<number>;
  height?: Range<number>;
  numberOfTransactions?: Range<number>;
  totalAmount?: Range<bigint>;
  totalFee?: Range<bigint>;
  reward?: Range<bigint>;
  payloadLength?: Range<number>;
}
/** `timestamp` orders as `height` does: a chain's blocks never go back in time. */
export type BlockOrder =
  | "height"
  | "timestamp"
  | "version"
  | "id"
  | "numberOfTransactions"
  | "totalAmount"
  | "totalFee"
  | "reward"
  | "payloadLength";

export interface TransactionFilter {
  id?: string;
  blockId?: string;
  version?: number;
  typeGroup?: number;
  type?: number;
  senderPublicKey?: string;
  /** Address of the sender. */
  senderId?: string;
  /** Address: recipient of the transaction or of one of its payments. */
  recipientId?: string;
  /** Address: `senderId` or `recipientId`, as above. */
  ownerId?: string;
  /** Any of these addresses is sender or recipient, as above. */
  addresses?: string[];
  /** Exact. */
  vendorField?: string;
  /** Lower-case hex; a substring of the hex of the vendor field's UTF-8 bytes. */
  vendorFieldHex?: string;
  /** Epoch time of `Transaction.timestamp`. */
  timestamp?: Range<number>;
  amount?: Range<bigint>;
  fee?: Range<bigint>;
  nonce?: bigint;
}
/** `timestamp` orders by height, then position in the block. */
export type TransactionOrder = "timestamp" | "type" | "amount" | "fee" | "version" | "id";

export interface LockFilter {
  lockId?: string;
  senderPublicKey?: string;
  senderId?: string;
  recipientId?: string;
  secretHash?: string;
  /** Exact. */
  vendorField?: string;
  expirationType?: number;
  amount?: Range<bigint>;
  expirationValue?: Range<number>;
  timestamp?: Range<number>;
  /** Whether the lock has expired at the snapshot's tip: `isExpired` of src/chain/locks.ts. */
  isExpired?: boolean;
}
export type LockOrder = "timestamp" | "amount" | "expirationValue" | "lockId";

export type WalletQuery = ListQuery<WalletFilter, WalletOrder>;
export type DelegateQuery = ListQuery<DelegateFilter, DelegateOrder>;
export type BlockQuery = ListQuery<BlockFilter, BlockOrder>;
export type TransactionQuery = ListQuery<TransactionFilter, TransactionOrder>;
export type LockQuery = ListQuery<LockFilter, LockOrder>;

/** The state of the chain at one tip. Every answer of one snapshot is computed from that state alone. */
export interface ChainSnapshot {
  readonly tip: Tip;
  /** Genesis amount + all rewards up to the tip. */
  readonly supply: bigint;

  /** By address, public key or username. */
  wallet(identifier: string): MaybePromise<Wallet | undefined>;
  wallets(query: WalletQuery): MaybePromise<Page<Wallet>>;

  /** By username, address or public key. */
  delegate(identifier: string): MaybePromise<Delegate | undefined>;
  delegates(query: DelegateQuery): MaybePromise<Page<Delegate>>;

  block(key: { height: number } | { id: string }): MaybePromise<Block | undefined>;
  blocks(query: BlockQuery): MaybePromise<Page<Block>>;

  transaction(id: string): MaybePromise<Transaction | undefined>;
  transactions(query: TransactionQuery): MaybePromise<Page<Transaction>>;

  /** Open locks only. */
  lock(id: string): MaybePromise<Lock | undefined>;
  locks(query: LockQuery): MaybePromise<Page<Lock>>;

  /**
   * The active delegates of a round, by rank: not in forging order, which is `forgingOrder` of this list.
   * Undefined for a round that has not begun by the block after the tip.
   */
  round(round: number): MaybePromise<RoundDelegate[] | undefined>;

  /** One item for each type seen in blocks with a timestamp in `from`..`to` (epoch time, inclusive), by group, then type. */
  feeStatistics(window: { from: number; to: number }): MaybePromise<FeeStatistics[]>;

  /** Lets go of whatever held the state still. Called once, when the last answer has been read. */
  release?(): void;
}

/** What a request asks of the snapshot that it is answered from. */
export interface SnapshotBounds {
  /**
   * Rows that its answers may look at, all together; without it there is no bound. An answer that would need more is refused, with
   * an error of the code SEARCH_TOO_WIDE: it is never cut short or estimated. What an index answers outright is not counted. An
   * adapter that answers everything from indexes, or from memory, need not mind it.
   */
  searchRows?: number;
}

/**
 * How chain state is read: the only door between the routes and whatever a host keeps its chain in.
 * The LMDB store is one implementation; `portico/conformance` says whether another is right.
 */
export interface ChainAdapter {
  /** What the adapter cannot answer: routes that ask for it reply 501. Missing means everything is answered. */
  readonly supports?: { locks?: boolean; rounds?: boolean; feeStatistics?: boolean };
  /** Opens what has to be open before `snapshot`. May be called again after `stop`. */
  start?(): Promise<void>;
  stop?(): Promise<void>;
  /** The state at the tip of now; undefined while there is none yet (routes reply 503). */
  snapshot(bounds?: SnapshotBounds): MaybePromise<ChainSnapshot | undefined>;
}
