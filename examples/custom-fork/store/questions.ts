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

const is =
  (column: string): Condition<string | number> =>
  (value, bind) =>
    `${column} = ${bind(value)}`;

const within =
  <Value>(expression: string, write: (bound: Value) => SqlValue): Condition<Range<Value>> =>
  ({ from, to }, bind) =>
    [
      from === undefined ? "1" : `${expression} >= ${bind(write(from))}`,
      to === undefined ? "1" : `${expression} <= ${bind(write(to))}`,
    ].join(" AND ");

const amount = (column: string): Condition<Range<bigint>> => within(column, boundText);
const number = (expression: string): Condition<Range<number>> => within(expression, (bound) => bound);

const anyOf =
  (column: string): Condition<string[]> =>
  (values, bind) =>
    `${column} IN (${values.map(bind).join(", ")})`;

const part =
  (column: string): Condition<string> =>
  (value, bind) =>
    `instr(${column}, ${bind(value)}) > 0`;

const wallets: List<Wallet, WalletFilter, WalletOrder> = {
  table: "wallets",
  filters: {
    address: is("address"),
    addresses: anyOf("address"),
    publicKey: is("publicKey"),
    secondPublicKey: is("secondPublicKey"),
    vote: is("vote"),
    username: is("username"),
    balance: amount("balance"),
    voteBalance: amount("voteBalance"),
    producedBlocks: number("producedBlocks"),
  },
  orders: { address: "address", publicKey: "publicKey", username: "username", balance: "balance", voteBalance: "voteBalance" },
  gaps: ["publicKey", "username"],
  ties: [{ by: "address", first: "ASC" }],
  rowFrom: walletFrom,
};

/** Vote balance as a share of the supply at the queried state, whose revision is ?1 in every statement. */
const approval = "approval(voteBalance, (SELECT supply FROM states WHERE revision = ?1))";

const delegates: List<Delegate, DelegateFilter, DelegateOrder> = {
  table: "wallets",
  only: "username IS NOT NULL",
  filters: {
    address: is("address"),
    publicKey: is("publicKey"),
    username: part("username"),
    usernames: anyOf("username"),
    secondPublicKey: is("secondPublicKey"),
    vote: is("vote"),
    balance: amount("balance"),
    approval: number(approval),
    forgedFees: amount("forgedFees"),
    forgedRewards: amount("forgedRewards"),
    forgedTotal: amount("forgedTotal"),
    producedBlocks: number("producedBlocks"),
    voteBalance: amount("voteBalance"),
    resigned: (resigned, bind) => `resigned = ${bind(Number(resigned))}`,
  },
  orders: {
    username: "username",
    rank: "rank",
    address: "address",
    publicKey: "publicKey",
    approval,
    producedBlocks: "producedBlocks",
    forgedFees: "forgedFees",
    forgedRewards: "forgedRewards",
    forgedTotal: "forgedTotal",
    voteBalance: "voteBalance",
  },
  gaps: ["rank"],
  ties: [{ by: "username", first: "ASC" }],
  rowFrom: delegateFrom,
};

const blocks: List<Block, BlockFilter, BlockOrder> = {
  table: "blocks",
  filters: {
    id: is("id"),
    version: is("version"),
    previousBlock: is("previousBlock"),
    payloadHash: is("payloadHash"),
    generatorPublicKey: is("generatorPublicKey"),
    blockSignature: is("blockSignature"),
    timestamp: number("timestamp"),
    height: number("height"),
    numberOfTransactions: number("numberOfTransactions"),
    totalAmount: amount("totalAmount"),
    totalFee: amount("totalFee"),
    reward: amount("reward"),
    payloadLength: number("payloadLength"),
  },
  orders: {
    height: "height",
    timestamp: "height",
    version: "version",
    id: "id",
    numberOfTransactions: "numberOfTransactions",
    totalAmount: "totalAmount",
    totalFee: "totalFee",
    reward: "reward",
    payloadLength: "payloadLength",
  },
  gaps: [],
  ties: [{ by: "height", first: "DESC" }],
  // `previousBlock` of genesis is null, not absent.
  rowFrom: (found) => rowFrom(blockColumns, found, "null"),
};

const received = (addresses: string): string => `number IN (SELECT number FROM recipients WHERE address IN (${addresses}))`;
const owned = (addresses: string): string => `(senderId IN (${addresses}) OR ${received(addresses)})`;

const transactions: List<Transaction, TransactionFilter, TransactionOrder> = {
  table: "transactions",
  filters: {
    id: is("id"),
    blockId: is("blockId"),
    version: is("version"),
    typeGroup: is("typeGroup"),
    type: is("type"),
    senderPublicKey: is("senderPublicKey"),
    senderId: is("senderId"),
    recipientId: (address, bind) => received(bind(address)),
    ownerId: (address, bind) => owned(bind(address)),
    addresses: (addresses, bind) => owned(addresses.map(bind).join(", ")),
    vendorField: (text, bind) => `vendorFieldHex = ${bind(Buffer.from(text, "utf8").toString("hex"))}`,
    vendorFieldHex: part("vendorFieldHex"),
    timestamp: number("timestamp"),
    amount: amount("amount"),
    fee: amount("fee"),
    nonce: (nonce, bind) => `nonce = ${bind(boundText(nonce))}`,
  },
  orders: { timestamp: "blockHeight", type: "type", amount: "amount", fee: "fee", version: "version", id: "id" },
  gaps: [],
  ties: [
    { by: "blockHeight", first: "DESC" },
    { by: "sequence", first: "DESC" },
  ],
  rowFrom: (found) => rowFrom(transactionColumns, found, "absent"),
};

const locks: List<Lock, LockFilter, LockOrder> = {
  table: "locks",
  filters: {
    lockId: is("lockId"),
    senderPublicKey: is("senderPublicKey"),
    senderId: is("senderId"),
    recipientId: is("recipientId"),
    secretHash: is("secretHash"),
    vendorField: (text, bind) => `vendorField = ${bind(JSON.stringify(text))}`,
    expirationType: is("expirationType"),
    amount: amount("amount"),
    expirationValue: number("expirationValue"),
    timestamp: number("timestamp"),
    isExpired: (expired, bind, { tip }) =>
      `(expirationValue <= CASE expirationType WHEN 1 THEN ${bind(tip.timestamp)} ELSE ${bind(tip.height)} END) = ${bind(Number(expired))}`,
  },
  orders: { timestamp: "timestamp", amount: "amount", expirationValue: "expirationValue", lockId: "lockId" },
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
