/** Inclusive bounds; an absent one is unbounded. */
export interface Range<T> {
  from?: T;
  to?: T;
}

export interface Order<Field extends string> {
  field: Field;
  direction: "asc" | "desc";
}

/**
 * Asks for one page of a list: at most `limit` of the rows that pass every given filter, in `order`, starting at `offset`.
 *
 * Orders are total, and `asc` is the exact reverse of `desc`. Ties in `desc` are broken by ascending address (wallets),
 * ascending username (delegates), descending height (blocks), descending height, then descending position (transactions),
 * and ascending lock id (locks). The one exception is rows without a value for the field (no public key, username or rank):
 * they come last in both directions, by ascending key (address or username). Text is compared by UTF-16 code units, as
 * JavaScript's `<` does. Filters and look-ups are case-sensitive; hashes and public keys in filters are in lower case.
 */
export interface ListQuery<Filter, Field extends string> {
  filter: Filter;
  order: Order<Field>;
  offset: number;
  limit: number;
}

export interface Page<T> {
  rows: T[];
  /** Exact number of rows on all pages. */
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
  /** Counts as 0 for a wallet that is not a delegate. */
  voteBalance?: Range<bigint>;
  /** Counts as 0 for a wallet that is not a delegate. */
  producedBlocks?: Range<number>;
}
/** `voteBalance` is 0 for a wallet that is not a delegate, and can be below 0 for one that is: its voters' balances can be. */
export type WalletOrder = "address" | "publicKey" | "username" | "balance" | "voteBalance";

export interface DelegateFilter {
  address?: string;
  publicKey?: string;
  /** Substring; case-sensitive. */
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
/** `timestamp` orders as `height` does, since blocks never go back in time. */
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
  /** Address of the recipient of the transaction or of one of its payments. */
  recipientId?: string;
  /** Address that is sender or recipient, as `senderId` and `recipientId` define them. */
  ownerId?: string;
  /** Any of these addresses is sender or recipient, as in `ownerId`. */
  addresses?: string[];
  /** Exact. */
  vendorField?: string;
  /** A substring of the vendor field's UTF-8 bytes in lower-case hex. */
  vendorFieldHex?: string;
  /** Epoch time: `Transaction.timestamp`. */
  timestamp?: Range<number>;
  amount?: Range<bigint>;
  fee?: Range<bigint>;
  nonce?: bigint;
}
/** `timestamp` orders by height, then position in the block. */
/** Fees paid in blocks with a timestamp in `from`..`to` (epoch time, inclusive), genesis left out. */
export interface FeeQuery {
  from: number;
  to: number;
  /** Fees below it are left out. Default: none. */
  minFee?: bigint;
}

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
  /** Whether the lock has expired at the snapshot's tip, by `isExpired` of `portico/chain`. */
  isExpired?: boolean;
}
export type LockOrder = "timestamp" | "amount" | "expirationValue" | "lockId";

export type WalletQuery = ListQuery<WalletFilter, WalletOrder>;
export type DelegateQuery = ListQuery<DelegateFilter, DelegateOrder>;
export type BlockQuery = ListQuery<BlockFilter, BlockOrder>;
export type TransactionQuery = ListQuery<TransactionFilter, TransactionOrder>;
export type LockQuery = ListQuery<LockFilter, LockOrder>;

export interface WalletChangesQuery {
  address: string;
  /** Heights of the blocks. */
  heights: Range<number>;
  /** By height. */
  direction: "asc" | "desc";
  offset: number;
  limit: number;
}

/** A block that changed a wallet's balance, locked balance, vote or nonce, and what the wallet had after it. */
export interface WalletChange {
  height: number;
  balance: bigint;
  /** The balance after the block less that before it. */
  change: bigint;
  lockedBalance: bigint;
  vote: string | null;
  nonce: bigint;
}
