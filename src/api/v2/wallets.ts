import { Type } from "@sinclair/typebox";
import { voteKind } from "../../chain/blocks/transaction-types.js";
import { Text } from "../../http/input/schema.js";
import { type Route, routesOf } from "../../http/route.js";
import { andThen } from "../../async/maybe-promise.js";
import { listLocks, LockListQuery, LockResource } from "../resources/locks.js";
import { largestSearch, within } from "../resources/lists.js";
import {
  listTransactions,
  OwnedTransactionListQuery,
  ReceivedTransactionListQuery,
  TransactionResource,
  VoteListQuery,
} from "../resources/transactions.js";
import {
  findWallet,
  listWallets,
  presentWallet,
  walletFilter,
  WalletListQuery,
  WalletResource,
  WalletSearchBody,
  WalletSearchQuery,
} from "../resources/wallets.js";
import { DataOf } from "../resources/values.js";
import { type ApiState, requireSupport } from "../state.js";

const { item, list } = routesOf<ApiState>();
const common = { versions: [2], resource: "wallets" } as const;
const params = Type.Object({ id: Text({ description: "Address, public key or username." }) });
const ofOne = { ...common, method: "GET", params, errors: [404] } as const;

export const walletRoutes: Route<ApiState>[] = [
  list({
    ...common,
    method: "GET",
    path: "/wallets",
    summary: "Lists wallets, including empty ones.",
    query: WalletListQuery,
    item: WalletResource,
    answer: ({ query: { orderBy, ...query }, page }, state) => listWallets({ filter: walletFilter(query), orderBy, page }, state),
  }),
  list({
    ...common,
    method: "GET",
    path: "/wallets/top",
    operation: "getTopWallets",
    summary: "Lists the richest wallets.",
    query: WalletListQuery,
    item: WalletResource,
    answer: ({ query: { orderBy, ...query }, page }, state) => listWallets({ filter: walletFilter(query), orderBy, page }, state),
  }),
  list({
    ...common,
    method: "POST",
    path: "/wallets/search",
    mostBody: largestSearch,
    summary: "Searches wallets.",
    query: WalletSearchQuery,
    body: WalletSearchBody,
    bodyOptional: true,
    item: WalletResource,
    answer: ({ query, body: { orderBy = query.orderBy, ...body }, page }, state) =>
      listWallets({ filter: walletFilter(body), orderBy, page }, state),
  }),
  item({
    ...ofOne,
    path: "/wallets/{id}",
    atHeight: true,
    summary: "Returns a wallet.",
    reply: DataOf(WalletResource),
    answer: ({ params: { id } }, state) => andThen(findWallet(id, state), (wallet) => ({ data: presentWallet(wallet) })),
  }),
  list({
    ...ofOne,
    path: "/wallets/{id}/transactions",
    atHeight: true,
    summary: "Lists the transactions that a wallet sent or received.",
    query: OwnedTransactionListQuery,
    item: TransactionResource,
    answer: ({ params: { id }, query: { orderBy, ownerId, ...query }, page }, state) =>
      andThen(findWallet(id, state), ({ address }) => {
        const filter = { ...query, ownerId: address, ...(ownerId === undefined ? {} : { addresses: [ownerId] }) };
        return listTransactions({ filter, orderBy, page }, state);
      }),
  }),
  list({
    ...ofOne,
    path: "/wallets/{id}/transactions/received",
    atHeight: true,
    summary: "Lists the transactions that a wallet received, including multipayments.",
    query: ReceivedTransactionListQuery,
    item: TransactionResource,
    answer: ({ params: { id }, query: { orderBy, ...query }, page }, state) =>
      andThen(findWallet(id, state), ({ address }) =>
        listTransactions({ filter: { ...query, recipientId: address }, orderBy, page }, state),
      ),
  }),
  list({
    ...ofOne,
    path: "/wallets/{id}/transactions/sent",
    atHeight: true,
    summary: "Lists the transactions that a wallet sent.",
    query: OwnedTransactionListQuery,
    item: TransactionResource,
    answer: ({ params: { id }, query: { orderBy, ...query }, page }, state) =>
      andThen(findWallet(id, state), ({ address }) =>
        listTransactions({ filter: within(query, { senderId: address }), orderBy, page }, state),
      ),
  }),
  list({
    ...ofOne,
    path: "/wallets/{id}/votes",
    atHeight: true,
    summary: "Lists the votes that a wallet cast.",
    query: VoteListQuery,
    item: TransactionResource,
    answer: ({ params: { id }, query: { orderBy, ...query }, page }, state) =>
      andThen(findWallet(id, state), ({ address }) =>
        listTransactions({ filter: within({ ...query, ...voteKind }, { senderId: address }), orderBy, page }, state),
      ),
  }),
  list({
    ...ofOne,
    path: "/wallets/{id}/locks",
    summary: "Lists the open locks that a wallet created.",
    query: LockListQuery,
    errors: [404, 501],
    item: LockResource,
    answer: async ({ params: { id }, query: { orderBy, ...query }, page }, state) => {
      requireSupport("locks", state);
      const { address } = await findWallet(id, state);
      return listLocks({ filter: within(query, { senderId: address }), orderBy, page }, state);
    },
  }),
];
