import { type Static, Type } from "@sinclair/typebox";
import type { Transaction } from "../../../types/chain.js";
import type { MaybePromise } from "../../../types/chain-adapter.js";
import type { TransactionFilter, TransactionQuery } from "../../../types/chain-queries.js";
import { transactionList } from "../../chain/lists.js";
import { inputError } from "../../errors.js";
import { OrderBy } from "../../http/input/schema.js";
import type { PageAnswer } from "../../http/route.js";
import { andThen } from "../../async/maybe-promise.js";
import { presentTransaction, type TransactionResource } from "../resources/transactions/transaction.js";
import type { ApiState } from "../state.js";
import { blockIdNamed } from "./blocks.js";
import { inKnownCase, inputsOf } from "./fields.js";
import { type ListRequest, pageOf } from "./page.js";

const { orders, filters } = transactionList;
const { addresses: someAddresses, ...others } = filters;

const addresses = inputsOf({ addresses: someAddresses }, { exact: true });

const order = { default: "timestamp:desc", description: "`timestamp` orders by place in the chain." };
const orderBy = OrderBy(orders, order);

const { type, typeGroup, ...ofOneType } = inputsOf(others, { exact: true });
const { recipientId, ...ofOneRecipient } = inputsOf(others, { exact: true });

/** `address` is another name for `addresses`, used by clients of third-generation nodes. */
export const TransactionListQuery = Type.Object({ ...ofOneType, type, typeGroup, ...addresses, address: addresses.addresses, orderBy });
/** For the transactions of one wallet. `addresses` is not accepted: the routes use it themselves, for a second owner. */
export const OwnedTransactionListQuery = Type.Object({ ...ofOneRecipient, recipientId, orderBy });
/** For the transactions that a wallet received. The path already fixes `recipientId`, and a filter can name only one recipient. */
export const ReceivedTransactionListQuery = Type.Object({ ...ofOneRecipient, orderBy });
export const VoteListQuery = Type.Object({ ...ofOneType, ...addresses, orderBy });
export const TransactionSearchQuery = Type.Object({ orderBy });
export const TransactionSearchBody = Type.Object({ ...inputsOf(others, { exact: false }), ...addresses, orderBy: Type.Optional(OrderBy(orders)) });

/** Turns the list's `address` into `addresses`. @throws PorticoError BAD_REQUEST if both are given: a filter can hold only one such list. */
export const transactionFilter = ({ address, ...filter }: TransactionFilter & { address?: string[] }): TransactionFilter => {
  if (address === undefined) return filter;
  if (filter.addresses === undefined) return { ...filter, addresses: address };
  throw inputError("query", "address", 'cannot be given together with "addresses"');
};

/** A transaction by its id in either letter case; undefined if it is not in the chain. */
export const transactionNamed = (id: string, { chain }: ApiState): MaybePromise<Transaction | undefined> => chain.transaction(inKnownCase(id));

/** The adapter's order, as `ListQuery` defines it: ties go by place in the chain, and `asc` is the exact reverse of `desc`. */
export const compareTransactions = ({ field, direction }: TransactionQuery["order"]): ((a: Transaction, b: Transaction) => number) => {
  const sign = direction === "asc" ? 1 : -1;
  const inChain = (a: Transaction, b: Transaction): number => a.blockHeight - b.blockHeight || a.sequence - b.sequence;
  if (field === "timestamp") return (a, b) => sign * inChain(a, b);
  return (a, b) => sign * (a[field] < b[field] ? -1 : a[field] > b[field] ? 1 : inChain(a, b));
};

export const presentTransactionOf = (transaction: Transaction, { chain, rules }: ApiState): Static<typeof TransactionResource> =>
  presentTransaction(transaction, { tipHeight: chain.tip.height, epoch: rules.epoch });

/** Resolves the block that a filter names by id or height, as paths do, to its id. */
export const withBlockId = ({ blockId, ...filter }: TransactionFilter, state: ApiState): MaybePromise<TransactionFilter> =>
  blockId === undefined ? filter : andThen(blockIdNamed(blockId, state), (id) => ({ blockId: id, ...filter }));

type TransactionRequest = ListRequest<TransactionFilter, TransactionQuery["order"]>;
type TransactionPage = MaybePromise<PageAnswer<Static<typeof TransactionResource>>>;

/** `blockId` of the filter is an id: one of few digits is no height. */
export const pageOfTransactions = (request: TransactionRequest, state: ApiState): TransactionPage =>
  pageOf(
    request,
    (query) => state.chain.transactions(query),
    (transaction) => presentTransactionOf(transaction, state),
  );

/** `blockId` of the filter is what a client has given: an id or a height. */
export const listTransactions = ({ filter, ...rest }: TransactionRequest, state: ApiState): TransactionPage =>
  andThen(filter === undefined ? undefined : withBlockId(filter, state), (narrowed) => pageOfTransactions({ filter: narrowed, ...rest }, state));
