import type { Block, Delegate, Lock, Transaction, Wallet } from "../../types/chain.js";
import type { ChainSnapshot, MaybePromise } from "../../types/chain-adapter.js";
import type {
  BlockFilter,
  BlockOrder,
  DelegateFilter,
  DelegateOrder,
  ListQuery,
  LockFilter,
  LockOrder,
  Order,
  Page,
  TransactionFilter,
  TransactionOrder,
  WalletFilter,
  WalletOrder,
} from "../../types/chain-queries.js";
import { type RowKind, rowsOf, same, show } from "./comparing.js";
import { exact, type FilterSpec, flag, oneOf, part, range, type Surroundings } from "./filters.js";

type Value = bigint | number | string | null;

/** Everything that the contract says about one list. */
export interface ListSpec<Row, Filter, Field extends string> {
  name: "wallets" | "delegates" | "blocks" | "transactions" | "locks";
  kind: RowKind;
  fields: readonly Field[];
  /** The interface's default order. */
  usual: Order<Field>;
  filters: readonly FilterSpec<Row>[];
  ask(snapshot: ChainSnapshot, query: ListQuery<Filter, Field>): MaybePromise<Page<Row>>;
  /** Looks a row up by its key. */
  find(snapshot: ChainSnapshot, row: Row): MaybePromise<Row | undefined>;
  keyOf(row: Row): string;
  valueOf(row: Row, field: Field): Value;
  /** Compares two rows with equal values in descending order. */
  tie(a: Row, b: Row): number;
}

const text = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

export const walletSpec: ListSpec<Wallet, WalletFilter, WalletOrder> = {
  name: "wallets",
  kind: "wallet",
  fields: ["address", "publicKey", "username", "balance", "voteBalance", "nonce"],
  usual: { field: "balance", direction: "desc" },
  filters: [
    exact("address", (row) => row.address),
    oneOf("addresses", (row) => [row.address]),
    exact("publicKey", (row) => row.publicKey),
    exact("secondPublicKey", (row) => row.secondPublicKey),
    exact("vote", (row) => row.vote),
    exact("username", (row) => row.username),
    range("balance", (row) => row.balance),
    range("voteBalance", (row) => row.voteBalance),
    range("producedBlocks", (row) => row.producedBlocks),
    range("nonce", (row) => row.nonce),
  ],
  ask: (snapshot, query) => snapshot.wallets(query),
  find: (snapshot, { address }) => snapshot.wallet(address),
  keyOf: ({ address }) => address,
  valueOf: (row, field) => row[field],
  tie: (a, b) => text(a.address, b.address),
};

export const delegateSpec: ListSpec<Delegate, DelegateFilter, DelegateOrder> = {
  name: "delegates",
  kind: "delegate",
  fields: [
    "username",
    "rank",
    "address",
    "publicKey",
    "approval",
    "producedBlocks",
    "missedBlocks",
    "productivity",
    "forgedFees",
    "forgedRewards",
    "forgedTotal",
    "voteBalance",
    "voters",
  ],
  usual: { field: "rank", direction: "asc" },
  filters: [
    exact("address", (row) => row.address),
    exact("publicKey", (row) => row.publicKey),
    part("username", (row) => row.username, { least: 1 }),
    oneOf("usernames", (row) => [row.username]),
    exact("secondPublicKey", (row, { secondPublicKeys }) => secondPublicKeys.get(row.address) ?? null),
    exact("vote", (row) => row.vote),
    range("balance", (row) => row.balance),
    range("approval", (row) => row.approval),
    range("forgedFees", (row) => row.forgedFees),
    range("forgedRewards", (row) => row.forgedRewards),
    range("forgedTotal", (row) => row.forgedTotal),
    range("producedBlocks", (row) => row.producedBlocks),
    range("missedBlocks", (row) => row.missedBlocks ?? null),
    range("productivity", (row) => row.productivity ?? null),
    range("voteBalance", (row) => row.voteBalance),
    range("voters", (row) => row.voters ?? null),
    flag("resigned", (row) => row.resigned),
  ],
  ask: (snapshot, query) => snapshot.delegates(query),
  find: (snapshot, { username }) => snapshot.delegate(username),
  keyOf: ({ username }) => username,
  valueOf: (row, field) => row[field] ?? null,
  tie: (a, b) => text(a.username, b.username),
};

/** Members, filters and orders of delegates that adapters without `delegateFigures` do not have. */
export const delegateFigures: readonly string[] = ["voters", "missedBlocks", "productivity"];

/** The list as an adapter without `delegateFigures` answers it. */
export const withoutFigures = <Row, Filter, Field extends string>(spec: ListSpec<Row, Filter, Field>): ListSpec<Row, Filter, Field> => ({
  ...spec,
  fields: spec.fields.filter((field) => !delegateFigures.includes(field)),
  filters: spec.filters.filter(({ name }) => !delegateFigures.includes(name)),
});

export const blockSpec: ListSpec<Block, BlockFilter, BlockOrder> = {
  name: "blocks",
  kind: "block",
  fields: ["height", "timestamp", "version", "id", "numberOfTransactions", "totalAmount", "totalFee", "reward", "payloadLength"],
  usual: { field: "height", direction: "desc" },
  filters: [
    exact("id", (row) => row.id),
    exact("version", (row) => row.version),
    exact("previousBlock", (row) => row.previousBlock),
    exact("payloadHash", (row) => row.payloadHash),
    exact("generatorPublicKey", (row) => row.generatorPublicKey),
    exact("blockSignature", (row) => row.blockSignature),
    range("timestamp", (row) => row.timestamp),
    range("height", (row) => row.height),
    range("numberOfTransactions", (row) => row.numberOfTransactions),
    range("totalAmount", (row) => row.totalAmount),
    range("totalFee", (row) => row.totalFee),
    range("reward", (row) => row.reward),
    range("payloadLength", (row) => row.payloadLength),
  ],
  ask: (snapshot, query) => snapshot.blocks(query),
  find: (snapshot, { height }) => snapshot.block({ height }),
  keyOf: ({ id }) => id,
  valueOf: (row, field) => (field === "timestamp" ? row.height : row[field]),
  tie: (a, b) => b.height - a.height,
};

/** Addresses that a transaction names as recipients, those of its payments included; a vote that names none goes to its sender. */
const recipientsOf = ({ asset, recipientId, senderId, typeGroup, type }: Transaction): string[] => {
  const payments = (asset?.["payments"] ?? []) as { recipientId: string }[];
  const named = recipientId ?? (typeGroup === 1 && type === 3 ? senderId : undefined);
  return [...(named === undefined ? [] : [named]), ...payments.map((payment) => payment.recipientId)];
};

const ownersOf = (row: Transaction): string[] => [row.senderId, ...recipientsOf(row)];

export const transactionSpec: ListSpec<Transaction, TransactionFilter, TransactionOrder> = {
  name: "transactions",
  kind: "transaction",
  fields: ["timestamp", "type", "amount", "fee", "version", "id"],
  usual: { field: "timestamp", direction: "desc" },
  filters: [
    exact("id", (row) => row.id),
    exact("blockId", (row) => row.blockId),
    exact("version", (row) => row.version),
    exact("typeGroup", (row) => row.typeGroup),
    exact("type", (row) => row.type),
    exact("senderPublicKey", (row) => row.senderPublicKey),
    exact("senderId", (row) => row.senderId),
    exact("recipientId", recipientsOf),
    exact("ownerId", ownersOf),
    oneOf("addresses", ownersOf),
    exact("vendorField", (row) => row.vendorField ?? null),
    part(
      "vendorFieldHex",
      (row) => (row.vendorField === undefined ? null : Buffer.from(row.vendorField, "utf8").toString("hex")),
      { least: 2 },
    ),
    range("timestamp", (row) => row.timestamp),
    range("amount", (row) => row.amount),
    range("fee", (row) => row.fee),
    exact("nonce", (row) => row.nonce ?? null),
  ],
  ask: (snapshot, query) => snapshot.transactions(query),
  find: (snapshot, { id }) => snapshot.transaction(id),
  keyOf: ({ id }) => id,
  valueOf: (row, field) => (field === "timestamp" ? row.blockHeight * 1_000_000 + row.sequence : row[field]),
  tie: (a, b) => b.blockHeight - a.blockHeight || b.sequence - a.sequence,
};

export const lockSpec: ListSpec<Lock, LockFilter, LockOrder> = {
  name: "locks",
  kind: "lock",
  fields: ["timestamp", "amount", "expirationValue", "lockId"],
  usual: { field: "timestamp", direction: "desc" },
  filters: [
    exact("lockId", (row) => row.lockId),
    exact("senderPublicKey", (row) => row.senderPublicKey),
    exact("senderId", (row) => row.senderId),
    exact("recipientId", (row) => row.recipientId),
    exact("secretHash", (row) => row.secretHash),
    exact("vendorField", (row) => row.vendorField ?? null),
    exact("expirationType", (row) => row.expiration.type),
    range("amount", (row) => row.amount),
    range("expirationValue", (row) => row.expiration.value),
    range("timestamp", (row) => row.timestamp),
    flag("isExpired", ({ expiration: { type, value } }, { height, timestamp }) => value <= (type === 1 ? timestamp : height)),
  ],
  ask: (snapshot, query) => snapshot.locks(query),
  find: (snapshot, { lockId }) => snapshot.lock(lockId),
  keyOf: ({ lockId }) => lockId,
  valueOf: (row, field) => (field === "expirationValue" ? row.expiration.value : row[field]),
  tie: (a, b) => text(a.lockId, b.lockId),
};

const compare = (a: Value, b: Value): number => {
  if (a === null || b === null || a === b) return 0;
  return a < b ? -1 : 1;
};

/** Sorts rows in the documented order: ascending is descending reversed, and rows without a value come last in both. */
export const sorted = <Row, Filter, Field extends string>(
  rows: readonly Row[],
  { field, direction }: Order<Field>,
  spec: ListSpec<Row, Filter, Field>,
): Row[] => {
  const has = (row: Row): boolean => spec.valueOf(row, field) !== null;
  const descending = rows.filter(has).sort((a, b) => compare(spec.valueOf(b, field), spec.valueOf(a, field)) || spec.tie(a, b));
  const without = rows.filter((row) => !has(row)).sort((a, b) => text(spec.keyOf(a), spec.keyOf(b)));
  return [...(direction === "desc" ? descending : descending.reverse()), ...without];
};

/** Rows per page when a list is walked: the most that a client of the interface can ask for. */
export const mostRows = 100;

/** Asks for one page, and checks that the answer is one. */
export const askPage = async <Row, Filter, Field extends string>(
  snapshot: ChainSnapshot,
  spec: ListSpec<Row, Filter, Field>,
  query: ListQuery<Filter, Field>,
): Promise<Page<Row>> => {
  const page = (await spec.ask(snapshot, query)) as Page<Row> | undefined;
  const at = `${spec.name} ${show(query)}`;
  same(Array.isArray(page?.rows) ? "list" : typeof page?.rows, "list", `${at}: type of \`rows\``);
  same(typeof page?.total, "number", `${at}: type of \`total\``);
  return page as Page<Row>;
};

/** Reads a list page by page. Every page but the last must be full, and all must have the same total. */
export const walk = async <Row, Filter, Field extends string>(
  snapshot: ChainSnapshot,
  spec: ListSpec<Row, Filter, Field>,
  { filter, order, limit = mostRows }: { filter: Filter; order: Order<Field>; limit?: number },
): Promise<Row[]> => {
  const rows: Row[] = [];
  const first = await askPage(snapshot, spec, { filter, order, offset: 0, limit });
  for (let offset = 0; offset < first.total; offset += limit) {
    const page = offset === 0 ? first : await askPage(snapshot, spec, { filter, order, offset, limit });
    const at = `${spec.name} ${show({ filter, order, offset, limit })}`;
    same(page.total, first.total, `${at}: total`);
    same(page.rows.length, Math.min(limit, first.total - offset), `${at}: number of rows, for a total of ${first.total}`);
    rows.push(...page.rows);
  }
  return rows;
};

/** Every row of a list, in its usual order. */
export const everyRow = <Row, Filter, Field extends string>(
  snapshot: ChainSnapshot,
  spec: ListSpec<Row, Filter, Field>,
): Promise<Row[]> => walk(snapshot, spec, { filter: {} as Filter, order: spec.usual });

/** Queries with filters, and compares rows and total with a plain filter of `all`. */
export const expectFiltered = async <Row, Filter, Field extends string>(
  snapshot: ChainSnapshot,
  spec: ListSpec<Row, Filter, Field>,
  all: readonly Row[],
  around: Surroundings,
  filters: readonly (readonly [FilterSpec<Row>, unknown])[],
): Promise<void> => {
  const filter = Object.fromEntries(filters.map(([{ name }, value]) => [name, value])) as Filter;
  const expected = all.filter((row) => filters.every(([{ passes }, value]) => passes(row, value, around)));
  const found = await walk(snapshot, spec, { filter, order: spec.usual });
  same(found.map(spec.keyOf), sorted(expected, spec.usual, spec).map(spec.keyOf), `${spec.name} ${show({ filter })}`);
};

/** Compares whole rows, in order. */
export const sameRows = <Row extends object, Filter, Field extends string>(
  spec: ListSpec<Row, Filter, Field>,
  found: readonly Row[],
  expected: readonly Row[],
  what: string,
): void => {
  same(found.map(spec.keyOf), expected.map(spec.keyOf), what);
  same(rowsOf(spec.kind, found), rowsOf(spec.kind, expected), what);
};
