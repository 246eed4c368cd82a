import type { blockList, delegateList, List, ListFilter, lockList, transactionList, walletList } from "../src/chain/lists.js";

/** Inclusive bounds; an absent one is unbounded. Rows without a value pass no range. */
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
 * and ascending lock id (locks). The one exception is rows without a value for the field (no public key, username, rank or productivity):
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

/** The value of a filter, by its row in the table of its list. */
type ValueOf<Kind extends ListFilter["kind"]> = Kind extends "amount" | "count" ? bigint : Kind extends "number" | "decimal" | "time" ? number : Kind extends "flag" ? boolean : string;
type WantedBy<Filter extends ListFilter> = Filter["by"] extends "range" ? Range<ValueOf<Filter["kind"]> & (bigint | number)> : Filter["by"] extends "any" ? ValueOf<Filter["kind"]>[] : ValueOf<Filter["kind"]>;
/** What clients of a list may ask for, by the list's table. */
export type FilterBy<Filters extends List["filters"]> = { -readonly [Name in keyof Filters]?: WantedBy<Filters[Name]> };

export type WalletFilter = FilterBy<typeof walletList.filters>;
/** `voteBalance` is 0 for a wallet that is not a delegate, and can be below 0 for one that is: its voters' balances can be. */
export type WalletOrder = (typeof walletList.orders)[number];

export type DelegateFilter = FilterBy<typeof delegateList.filters>;
export type DelegateOrder = (typeof delegateList.orders)[number];

export type BlockFilter = FilterBy<typeof blockList.filters>;
/** `timestamp` orders as `height` does, since blocks never go back in time. */
export type BlockOrder = (typeof blockList.orders)[number];

export type TransactionFilter = FilterBy<typeof transactionList.filters>;
/** `timestamp` orders by height, then position in the block. */
export type TransactionOrder = (typeof transactionList.orders)[number];

export type LockFilter = FilterBy<typeof lockList.filters>;
export type LockOrder = (typeof lockList.orders)[number];

/** Fees paid in blocks with a timestamp in `from`..`to` (epoch time, inclusive), genesis left out. */
export interface FeeQuery {
  from: number;
  to: number;
  /** Fees below it are left out. Default: none. */
  minFee?: bigint;
}

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
