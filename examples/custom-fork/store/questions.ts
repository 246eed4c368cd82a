import type {
  Block,
  BlockFilter,
  BlockOrder,
  Delegate,
  DelegateFilter,
  DelegateOrder,
  ListQuery,
  Lock,
  LockFilter,
  LockOrder,
  Page,
  Range,
  Transaction,
  TransactionFilter,
  TransactionOrder,
  Wallet,
  WalletFilter,
  WalletOrder,
} from "portico";
import { blockList, delegateList, type ListFilter, lockList, transactionList, walletList } from "portico/chain";
import { boundText } from "./amounts.js";
import { blockColumns, lockColumns, rowFrom, transactionColumns } from "./columns.js";
import type { Database, SqlRow, SqlValue } from "./database.js";
import { delegateFrom, walletFrom } from "./wallet-rows.js";
import type { State } from "./revisions.js";
import { alive } from "./schema.js";

/** Adds a value to a statement's parameters, and returns its placeholder: `?7`. */
type Bind = (value: SqlValue) => string;
type Condition<Value> = (value: Value, bind: Bind, state: State) => string;

/** One list as SQL: the condition of each filter, the expression of each order, and how ties are broken in `desc`. */
export interface List<Row, Filter, Field extends string> {
  table: string;
  /** Condition for the table's rows that are in the list. Default: all. */
  only?: string;
  filters: { [Name in keyof Required<Filter>]: Condition<Required<Filter>[Name]> };
  orders: { [Name in Field]: string };
  /** Orders for which some rows have no value. */
  gaps: readonly Field[];
  ties: readonly { by: string; first: "ASC" | "DESC" }[];
  rowFrom(found: SqlRow, state: State): Row;
}

const between = ({ from, to }: Range<bigint | number>, expression: string, bind: Bind): string => {
  const bound = (value: bigint | number): string => bind(typeof value === "bigint" ? boundText(value) : value);
  // Rows without a value pass no range, whatever its bounds.
  const bounds = [from === undefined ? "1" : `${expression} >= ${bound(from)}`, to === undefined ? "1" : `${expression} <= ${bound(to)}`];
  return [`${expression} IS NOT NULL`, ...bounds].join(" AND ");
};

/** The condition that a filter stands for, by how the table of its list (`portico/chain`) says that rows are compared with it. */
const conditions: Record<ListFilter["by"], (expression: string) => Condition<unknown>> = {
  value: (expression) => (value, bind) =>
    `${expression} = ${bind(typeof value === "bigint" ? boundText(value) : typeof value === "boolean" ? Number(value) : (value as SqlValue))}`,
  any: (expression) => (values, bind) => `${expression} IN (${(values as string[]).map(bind).join(", ")})`,
  part: (expression) => (value, bind) => `instr(${expression}, ${bind(value as string)}) > 0`,
  range: (expression) => (value, bind) => between(value as Range<bigint | number>, expression, bind),
};

/** A list's filters and orders: by the columns of the same names, except those that are given. */
const byColumns = <Filter, Field extends string>(
  list: { filters: Readonly<Record<keyof Filter & string, ListFilter>>; orders: readonly Field[] },
  given: { filters?: { [Name in keyof Filter]?: Condition<Required<Filter>[Name]> }; orders?: Partial<Record<Field, string>> } = {},
): Pick<List<unknown, Filter, Field>, "filters" | "orders"> => {
  const filters = Object.entries<ListFilter>(list.filters).map(([name, { by, of }]) => [name, conditions[by](of ?? name)]);
  const orders = list.orders.map((field) => [field, field]);
  return {
    filters: { ...Object.fromEntries(filters), ...given.filters } as List<unknown, Filter, Field>["filters"],
    orders: { ...Object.fromEntries(orders), ...given.orders } as Record<Field, string>,
  };
};

const wallets: List<Wallet, WalletFilter, WalletOrder> = {
  table: "wallets",
  ...byColumns(walletList),
  gaps: ["publicKey", "username"],
  ties: [{ by: "address", first: "ASC" }],
  rowFrom: walletFrom,
};

/** Vote balance as a share of the supply at the queried state, whose revision is ?1 in every statement. */
const approval = "approval(voteBalance, (SELECT supply FROM states WHERE revision = ?1))";

const delegates: List<Delegate, DelegateFilter, DelegateOrder> = {
  table: "wallets",
  only: "username IS NOT NULL",
  ...byColumns<DelegateFilter, DelegateOrder>(delegateList, { orders: { approval }, filters: { approval: conditions.range(approval) } }),
  gaps: ["rank", "productivity"],
  ties: [{ by: "username", first: "ASC" }],
  rowFrom: delegateFrom,
};

const blocks: List<Block, BlockFilter, BlockOrder> = {
  table: "blocks",
  ...byColumns<BlockFilter, BlockOrder>(blockList, { orders: { timestamp: "height" } }),
  gaps: [],
  ties: [{ by: "height", first: "DESC" }],
  // `previousBlock` of genesis is null, not absent.
  rowFrom: (found) => rowFrom(blockColumns, found, "null"),
};

const received = (addresses: string): string => `number IN (SELECT number FROM recipients WHERE address IN (${addresses}))`;
const owned = (addresses: string): string => `(senderId IN (${addresses}) OR ${received(addresses)})`;

const transactions: List<Transaction, TransactionFilter, TransactionOrder> = {
  table: "transactions",
  ...byColumns<TransactionFilter, TransactionOrder>(transactionList, {
    orders: { timestamp: "blockHeight" },
    filters: {
      recipientId: (address, bind) => received(bind(address)),
      ownerId: (address, bind) => owned(bind(address)),
      addresses: (addresses, bind) => owned(addresses.map(bind).join(", ")),
      vendorField: (text, bind) => `vendorFieldHex = ${bind(Buffer.from(text, "utf8").toString("hex"))}`,
    },
  }),
  gaps: [],
  ties: [
    { by: "blockHeight", first: "DESC" },
    { by: "sequence", first: "DESC" },
  ],
  rowFrom: (found) => rowFrom(transactionColumns, found, "absent"),
};

const locks: List<Lock, LockFilter, LockOrder> = {
  table: "locks",
  ...byColumns<LockFilter, LockOrder>(lockList, {
    filters: {
      vendorField: (text, bind) => `vendorField = ${bind(JSON.stringify(text))}`,
      isExpired: (expired, bind, { tip }) =>
        `(expirationValue <= CASE expirationType WHEN 1 THEN ${bind(tip.timestamp)} ELSE ${bind(tip.height)} END) = ${bind(Number(expired))}`,
    },
  }),
  gaps: [],
  ties: [{ by: "lockId", first: "ASC" }],
  rowFrom: (found) => rowFrom(lockColumns, found, "absent"),
};

export const lists = { wallets, delegates, blocks, transactions, locks };

const orderOf = <Row, Filter, Field extends string>(
  { field, direction }: { field: Field; direction: "asc" | "desc" },
  { orders, gaps, ties }: List<Row, Filter, Field>,
): string => {
  const value = orders[field];
  const way = (first: "ASC" | "DESC"): string => (direction === "desc" ? first : first === "ASC" ? "DESC" : "ASC");
  const [key] = ties;
  // Rows without a value come last in both directions, by ascending key.
  const last = gaps.includes(field) && key !== undefined ? [`${value} IS NULL`, `CASE WHEN ${value} IS NULL THEN ${key.by} END`] : [];
  return [...last, `${value} ${direction}`, ...ties.map(({ by, first }) => `${by} ${way(first)}`)].join(", ");
};

const source = ({ table, only = "1" }: { table: string; only?: string }): string => `FROM ${table} WHERE ${alive(table, "?1")} AND ${only}`;

/** One page of a list at a state, and the number of rows on all pages. */
export const ask = <Row, Filter extends object, Field extends string>(
  database: Database,
  state: State,
  list: List<Row, Filter, Field>,
  { filter, order, offset, limit }: ListQuery<Filter, Field>,
): Page<Row> => {
  const values: SqlValue[] = [state.revision];
  const bind: Bind = (value) => `?${values.push(value)}`;
  const filters = list.filters as Readonly<Record<string, Condition<unknown>>>;
  const conditions = Object.entries(filter).flatMap(([name, value]) => (value === undefined ? [] : [filters[name]?.(value, bind, state) ?? "0"]));
  const found = [source(list), ...conditions].join(" AND ");
  const total = database.get(`SELECT count(*) AS total ${found}`, values)?.total as number;
  const page = `LIMIT ${bind(limit)} OFFSET ${bind(offset)}`;
  const rows = database.all(`SELECT * ${found} ORDER BY ${orderOf(order, list)} ${page}`, values);
  return { rows: rows.map((row) => list.rowFrom(row, state)), total };
};

/** The row of a list that has `value` in one of the columns. */
export const find = <Row, Filter extends object, Field extends string>(
  database: Database,
  state: State,
  list: List<Row, Filter, Field>,
  columns: readonly string[],
  value: string | number,
): Row | undefined => {
  const named = columns.map((column) => `${column} = ?2`).join(" OR ");
  const found = database.get(`SELECT * ${source(list)} AND (${named}) LIMIT 1`, [state.revision, value]);
  return found === undefined ? undefined : list.rowFrom(found, state);
};
