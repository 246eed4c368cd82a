import type { Block, Delegate, Lock, Transaction, Wallet } from "../../types/chain.js";
import type {
  BlockOrder,
  DelegateOrder,
  ListQuery,
  LockOrder,
  Order,
  Page,
  TransactionOrder,
  WalletOrder,
} from "../../types/chain-queries.js";

type Value = bigint | number | string | null;

/** How a list is ordered: the value of a field, and which of two rows with equal values comes first when the order is `desc`. */
export interface Ordering<Row, Field extends string> {
  value(row: Row, field: Field): Value;
  tie(a: Row, b: Row): number;
  /** Orders rows that have no value for the field. */
  key(row: Row): string;
}

const ascending = (a: Value, b: Value): number => {
  if (a === b) return 0;
  return (a as string) < (b as string) ? -1 : 1;
};

export const wallets: Ordering<Wallet, WalletOrder> = {
  value: (wallet, field) => wallet[field],
  tie: (a, b) => ascending(a.address, b.address),
  key: ({ address }) => address,
};

export const delegates: Ordering<Delegate, DelegateOrder> = {
  value: (delegate, field) => delegate[field] ?? null,
  tie: (a, b) => ascending(a.username, b.username),
  key: ({ username }) => username,
};

export const blocks: Ordering<Block, BlockOrder> = {
  value: (block, field) => block[field === "timestamp" ? "height" : field],
  tie: (a, b) => b.height - a.height,
  key: ({ id }) => id,
};

const place = (a: Transaction, b: Transaction): number => b.blockHeight - a.blockHeight || b.sequence - a.sequence;

export const transactions: Ordering<Transaction, TransactionOrder> = {
  value: (transaction, field) => (field === "timestamp" ? transaction.blockHeight : transaction[field]),
  tie: place,
  key: ({ id }) => id,
};

export const locks: Ordering<Lock, LockOrder> = {
  value: (lock, field) => (field === "expirationValue" ? lock.expiration.value : lock[field]),
  tie: (a, b) => ascending(a.lockId, b.lockId),
  key: ({ lockId }) => lockId,
};

const sorted = <Row, Field extends string>(
  rows: Row[],
  { field, direction }: Order<Field>,
  ordering: Ordering<Row, Field>,
): Row[] => {
  const has = (row: Row): boolean => ordering.value(row, field) !== null;
  const descending = rows
    .filter(has)
    .sort((a, b) => ascending(ordering.value(b, field), ordering.value(a, field)) || ordering.tie(a, b));
  const without = rows.filter((row) => !has(row)).sort((a, b) => ascending(ordering.key(a), ordering.key(b)));
  return [...(direction === "desc" ? descending : descending.reverse()), ...without];
};

/** Filters, sorts and slices. */
export const list = <Row, Filter extends object, Field extends string>(
  rows: Row[],
  { filter, order, offset, limit }: ListQuery<Filter, Field>,
  tester: (filter: Filter) => ((row: Row) => boolean) | undefined,
  ordering: Ordering<Row, Field>,
): Page<Row> => {
  const found = sorted(
    rows.filter(tester(filter) ?? (() => true)),
    order,
    ordering,
  );
  return { rows: found.slice(offset, offset + limit), total: found.length };
};
