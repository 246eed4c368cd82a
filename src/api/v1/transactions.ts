import { type Static, Type } from "@sinclair/typebox";
import type { ChainSnapshot } from "../../../types/chain-adapter.js";
import type { Page, TransactionFilter, TransactionOrder, TransactionQuery } from "../../../types/chain-queries.js";
import type { Transaction } from "../../../types/chain.js";
import type { TransactionData } from "../../../types/events.js";
import { runSliced, type Sliced } from "../../async/time-slicing.js";
import type { UnconfirmedTransaction } from "../../chain/blocks/block.js";
import { inputError, PorticoError } from "../../errors.js";
import { Amount as AmountInput, OrderBy, Text, WholeNumber } from "../../http/input/schema.js";
import { type PageRequest, type Route, routesOf } from "../../http/route.js";
import { Address, Amount, BlockId, Hash, PublicKey } from "../fields.js";
import { allUnconfirmed, readUnconfirmed, unconfirmedNamed } from "../v2/pool.js";
import { compareTransactions, FlatAssetResource, presentAsset, transactionNamed, withBlockId } from "../v2/transactions.js";
import type { ApiState } from "../state.js";
import { firstGeneration, pageOfQuery, paging, requireAddress, succeeded, SucceededWith } from "./input.js";

// Lists of transactions that pass any of several filters, built from lists that pass all of them, the only ones that an adapter
// offers. The total is exact, by inclusion and exclusion: |A or B| = |A| + |B| - |A and B|, and so on.

type Order = TransactionQuery["order"];

/** Each further filter doubles the number of queries. */
const mostFilters = 5;
/** Largest distance of a page from the nearer end of the list, in rows; each filter's rows are read from there to the page. */
export const deepest = 10_000;

const anyOrder: Order = { field: "timestamp", direction: "desc" };

const totalOf = async (filter: TransactionFilter, chain: ChainSnapshot): Promise<number> =>
  (await chain.transactions({ filter, order: anyOrder, offset: 0, limit: 1 })).total;

/**
 * The sum over all subsets of filters, odd ones added and even ones subtracted. If nothing passes a subset, nothing passes a larger
 * one either, so those are skipped.
 */
const countAny = async (filters: readonly TransactionFilter[], chain: ChainSnapshot, chosen: TransactionFilter = {}, sign = 1): Promise<number> => {
  let sum = 0;
  for (const [index, filter] of filters.entries()) {
    const all = { ...chosen, ...filter };
    const total = await totalOf(all, chain);
    if (total > 0) sum += sign * total + (await countAny(filters.slice(index + 1), chain, all, -sign));
  }
  return sum;
};

const reversed = ({ field, direction }: Order): Order => ({ field, direction: direction === "asc" ? "desc" : "asc" });

const rowsFrom = async (filters: readonly TransactionFilter[], order: Order, { offset, limit }: PageRequest, chain: ChainSnapshot): Promise<Transaction[]> => {
  const rows = new Map<string, Transaction>();
  for (const filter of filters) {
    const first = await chain.transactions({ filter, order, offset: 0, limit: offset + limit });
    for (const row of first.rows) rows.set(row.id, row);
  }
  return [...rows.values()].sort(compareTransactions(order)).slice(offset, offset + limit);
};

/** @throws PorticoError BAD_REQUEST for a page so far from both ends that it would cost too much. */
const rowsOfAny = async (
  filters: readonly TransactionFilter[],
  { order, page, total }: { order: Order; page: PageRequest; total: number },
  chain: ChainSnapshot,
): Promise<Transaction[]> => {
  const { offset } = page;
  const limit = Math.max(0, Math.min(page.limit, total - offset));
  if (limit === 0) return [];
  const after = total - offset - limit;
  if (Math.min(offset, after) > deepest) {
    throw inputError("query", "offset", `must be within ${deepest} of either end of the list when several filters are given`);
  }
  if (offset <= after) return rowsFrom(filters, order, { offset, limit }, chain);
  return (await rowsFrom(filters, reversed(order), { offset: after, limit }, chain)).reverse();
};

/**
 * One page of the transactions that pass any of the filters, or of all transactions if there is no filter.
 * @throws PorticoError BAD_REQUEST for more than `mostFilters`, and for a page of several filters deeper than `deepest`
 */
export const transactionsOfAny = async (
  filters: readonly TransactionFilter[],
  { order, page }: { order: Order; page: PageRequest },
  chain: ChainSnapshot,
): Promise<Page<Transaction>> => {
  const [only] = filters;
  if (filters.length <= 1) return chain.transactions({ filter: only ?? {}, order, ...page });
  if (filters.length > mostFilters) throw inputError("query", "value", `must not have more than ${mostFilters} filters`);
  const total = await countAny(filters, chain);
  return { rows: await rowsOfAny(filters, { order, page, total }, chain), total };
};

const members = {
  id: Type.String(),
  version: Type.Integer(),
  typeGroup: Type.Integer(),
  type: Type.Integer(),
  amount: Amount,
  fee: Amount,
  recipientId: Type.String({
    description:
      "The sender, if the transaction names no recipient or has several payments. Filters match only recipients that are named.",
  }),
  senderId: Type.String(),
  senderPublicKey: Type.String(),
  vendorField: Type.Optional(Type.String()),
  signature: Type.Optional(Type.String()),
  signSignature: Type.Optional(Type.String()),
  signatures: Type.Optional(Type.Array(Type.String())),
  asset: FlatAssetResource,
};

const Timestamp = Type.Integer({ description: "Seconds since the network's epoch." });

export const TransactionResource = Type.Object(
  {
    ...members,
    blockid: Type.String(),
    timestamp: Timestamp,
    confirmations: Type.Integer({ description: "Height of the tip minus that of its block, plus 1." }),
  },
  { title: "FlatTransaction" },
);

/** A transaction in the pool: it has no block yet, and in version 2 no timestamp. */
export const UnconfirmedTransactionResource = Type.Object(
  { ...members, timestamp: Type.Optional(Timestamp), confirmations: Type.Literal(0) },
  { title: "FlatUnconfirmedTransaction" },
);

const presentCommon = (transaction: UnconfirmedTransaction) => ({
  id: transaction.id,
  version: transaction.version,
  typeGroup: transaction.typeGroup,
  type: transaction.type,
  amount: transaction.amount,
  fee: transaction.fee,
  recipientId: transaction.recipientId ?? transaction.senderId,
  senderId: transaction.senderId,
  senderPublicKey: transaction.senderPublicKey,
  ...(transaction.vendorField === undefined ? {} : { vendorField: transaction.vendorField }),
  ...(transaction.signature === undefined ? {} : { signature: transaction.signature }),
  ...(transaction.secondSignature === undefined ? {} : { signSignature: transaction.secondSignature }),
  ...(transaction.signatures === undefined ? {} : { signatures: transaction.signatures }),
  asset: presentAsset(transaction.asset ?? {}),
});

const presentTransaction = (transaction: Transaction, tipHeight: number): Static<typeof TransactionResource> => ({
  ...presentCommon(transaction),
  blockid: transaction.blockId,
  timestamp: transaction.timestamp,
  confirmations: tipHeight - transaction.blockHeight + 1,
});

export const presentUnconfirmed = (transaction: UnconfirmedTransaction): Static<typeof UnconfirmedTransactionResource> => ({
  ...presentCommon(transaction),
  ...(transaction.timestamp === undefined ? {} : { timestamp: transaction.timestamp }),
  confirmations: 0,
});

const { item } = routesOf<ApiState>();
const common = { ...firstGeneration, resource: "transactions" } as const;

const orders: readonly TransactionOrder[] = ["timestamp", "type", "amount", "fee", "version", "id"];

const Filters = Type.Object({
  id: Type.Optional(Hash),
  blockId: Type.Optional(BlockId),
  type: Type.Optional(WholeNumber({ minimum: 0, description: "Number of the type." })),
  version: Type.Optional(WholeNumber({ minimum: 1, description: "Version of the transaction's layout: 1 or 2." })),
  senderPublicKey: Type.Optional(PublicKey),
  senderId: Type.Optional(Address),
  recipientId: Type.Optional(Address),
  ownerPublicKey: Type.Optional(Type.Unsafe<string>({ ...PublicKey, description: "Sender or recipient." })),
  ownerAddress: Type.Optional(Type.Unsafe<string>({ ...Address, description: "Sender or recipient." })),
  vendorField: Type.Optional(Text({ description: "Exact match." })),
  timestamp: Type.Optional(
    WholeNumber({ minimum: 0, description: "Its own time in version 1, that of its block otherwise: seconds since the network's epoch." }),
  ),
  amount: Type.Optional(AmountInput({ description: "What it transfers, in units of 1e-8 of the token." })),
  fee: Type.Optional(AmountInput({ description: "What its sender paid, in units of 1e-8 of the token." })),
});
type Filters = Static<typeof Filters>;

const exactly = <T>(value: T): { from: T; to: T } => ({ from: value, to: value });

/**
 * The filters, one per alternative. If sender and recipient are the same address, that is one alternative, its owner: wallets ask
 * this way, and the chain can answer it directly.
 */
const alternatives = (
  { senderId, recipientId, ownerPublicKey, ownerAddress, timestamp, amount, fee, ...given }: Filters,
  { rules }: ApiState,
): TransactionFilter[] => {
  const own = senderId !== undefined && senderId === recipientId;
  const owners = [own ? senderId : undefined, ownerAddress, ownerPublicKey === undefined ? undefined : rules.addressOf(ownerPublicKey)];
  const addresses = [...new Set(owners.filter((owner) => owner !== undefined))];
  const [owner] = addresses;
  return [
    ...(Object.entries(given) as [string, unknown][]).map(([name, value]): TransactionFilter => ({ [name]: value })),
    ...(own || senderId === undefined ? [] : [{ senderId }]),
    ...(own || recipientId === undefined ? [] : [{ recipientId }]),
    ...(owner === undefined ? [] : [addresses.length === 1 ? { ownerId: owner } : { addresses }]),
    ...(timestamp === undefined ? [] : [{ timestamp: exactly(timestamp) }]),
    ...(amount === undefined ? [] : [{ amount: exactly(amount) }]),
    ...(fee === undefined ? [] : [{ fee: exactly(fee) }]),
  ];
};

const requireAddresses = async (filters: Filters, state: ApiState): Promise<void> => {
  for (const key of ["senderId", "recipientId", "ownerAddress"] as const) {
    const address = filters[key];
    if (address !== undefined) await requireAddress(key, address, state);
  }
};

/**
 * The addresses of sender and recipients. `recipientsOf` expects a transaction with a place in the chain, so a made-up one is filled in.
 */
const parties = (transaction: UnconfirmedTransaction, { rules }: ApiState): string[] => [
  transaction.senderId,
  ...rules.recipientsOf({ timestamp: 0, ...transaction, blockId: "", blockHeight: 0, sequence: 0 }),
];

interface PoolFilter {
  senderPublicKey: string | undefined;
  address: string | undefined;
}

const passing = function* (all: readonly TransactionData[], { senderPublicKey, address }: PoolFilter, state: ApiState): Sliced<TransactionData[]> {
  const found: TransactionData[] = [];
  for (const data of all) {
    yield;
    if (senderPublicKey !== undefined && data.senderPublicKey !== senderPublicKey) continue;
    if (address === undefined || parties(readUnconfirmed(data, state), state).includes(address)) found.push(data);
  }
  return found;
};

/** In slices: a pool may have many thousands of transactions, and each has to be parsed to know whom it pays. */
const poolOf = async (filter: PoolFilter, state: ApiState): Promise<readonly TransactionData[]> => {
  const all = await allUnconfirmed(state);
  return filter.senderPublicKey === undefined && filter.address === undefined ? all : runSliced(passing(all, filter, state), "cooperative");
};

const byId = Type.Object({ id: Text({ minLength: 1, description: "Id of the transaction." }) });

export const transactionRoutes: Route<ApiState>[] = [
  item({
    ...common,
    path: "/transactions",
    summary: "Lists the transactions that pass any of the given filters, newest first.",
    query: Type.Object({ ...Filters.properties, ...paging, orderBy: OrderBy(orders, { default: "timestamp:desc" }) }),
    reply: SucceededWith({
      transactions: Type.Array(TransactionResource),
      count: Type.Integer({ description: "Transactions on all pages." }),
    }),
    answer: async ({ query: { limit, offset, orderBy, ...filters } }, state) => {
      await requireAddresses(filters, state);
      const asked = { order: orderBy, page: pageOfQuery({ limit, offset }) };
      const named = await Promise.all(alternatives(filters, state).map(async (filter) => withBlockId(filter, state)));
      const { rows, total } = await transactionsOfAny(named, asked, state.chain);
      return succeeded({ transactions: rows.map((row) => presentTransaction(row, state.chain.tip.height)), count: total });
    },
  }),
  item({
    ...common,
    path: "/transactions/get",
    summary: "Returns a transaction.",
    query: byId,
    reply: SucceededWith({ transaction: TransactionResource }),
    answer: async ({ query: { id } }, state) => {
      const found = await transactionNamed(id, state);
      if (found === undefined) throw new PorticoError("TRANSACTION_NOT_FOUND", "No transactions found");
      return succeeded({ transaction: presentTransaction(found, state.chain.tip.height) });
    },
  }),
  item({
    ...common,
    path: "/transactions/unconfirmed",
    operation: "getV1UnconfirmedTransactions",
    summary: "Lists the transactions in the node's pool, in the pool's order.",
    cache: "never",
    stateless: true,
    query: Type.Object({
      senderPublicKey: Type.Optional(PublicKey),
      address: Type.Optional(Type.Unsafe<string>({ ...Address, description: "Sender or recipient." })),
      ...paging,
    }),
    reply: SucceededWith({
      transactions: Type.Array(UnconfirmedTransactionResource),
      count: Type.Integer({ description: "Transactions on all pages." }),
    }),
    answer: async ({ query: { senderPublicKey, address, ...asked } }, state) => {
      const { offset, limit } = pageOfQuery(asked);
      const all = await poolOf({ senderPublicKey, address }, state);
      const rows = all.slice(offset, offset + limit).map((data) => presentUnconfirmed(readUnconfirmed(data, state)));
      return succeeded({ transactions: rows, count: all.length });
    },
  }),
  item({
    ...common,
    path: "/transactions/unconfirmed/get",
    operation: "getV1UnconfirmedTransaction",
    summary: "Returns a transaction in the node's pool.",
    cache: "never",
    stateless: true,
    query: byId,
    reply: SucceededWith({ transaction: UnconfirmedTransactionResource }),
    answer: async ({ query: { id } }, state) => succeeded({ transaction: presentUnconfirmed(await unconfirmedNamed(id, state)) }),
  }),
];
