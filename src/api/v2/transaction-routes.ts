import { Type } from "@sinclair/typebox";
import { isVote, voteKind } from "../../chain/blocks/transaction-types.js";
import { PorticoError } from "../../errors.js";
import { InputOf, Text } from "../../http/input/schema.js";
import { type Route, routesOf } from "../../http/route.js";
import { andThen } from "../../async/maybe-promise.js";
import { findUnconfirmed, listUnconfirmed, mostSubmitted, PoolResultResource, submitTransactions } from "./pool.js";
import {
  listTransactions,
  presentTransactionOf,
  presentTransactionTypes,
  transactionFilter,
  TransactionListQuery,
  transactionNamed,
  TransactionResource,
  TransactionSearchBody,
  TransactionSearchQuery,
  TransactionTypesResource,
  UnconfirmedTransactionResource,
  VoteListQuery,
} from "./transactions.js";
import { DataOf, largestSearch } from "../fields.js";
import { presentStaticFees, StaticFees } from "./configuration.js";
import { presentTransactionSchemas, TransactionSchemasResource } from "./transaction-schemas.js";
import type { ApiState } from "../state.js";

const { item, list } = routesOf<ApiState>();
const common = { versions: [2], resource: "transactions" } as const;
const params = Type.Object({ id: Text({ description: "Id of the transaction." }) });

/** Not checked here: the handler replies 422 if it is not a list of transactions, as deployed nodes do. */
const Submitted = InputOf<unknown>(
  {
    parse: (value) => ({ value }),
    accepts: { type: "array", minItems: 1, maxItems: mostSubmitted, items: { type: "object", properties: { id: { type: "string", description: "Hexadecimal, as its bytes give it." } }, required: ["id"], additionalProperties: true } },
  },
  { description: "Signed transactions in their wire form (`/transactions/schemas`)." },
);

export const transactionRoutes: Route<ApiState>[] = [
  list({
    ...common,
    method: "GET",
    path: "/transactions",
    atHeight: true,
    summary: "Lists transactions, newest first.",
    query: TransactionListQuery,
    item: TransactionResource,
    answer: ({ query: { orderBy, ...query }, page }, state) => listTransactions({ filter: transactionFilter(query), orderBy, page }, state),
  }),
  item({
    ...common,
    method: "POST",
    path: "/transactions",
    operation: "submitTransactions",
    summary: "Submits signed transactions to the node's pool.",
    body: Type.Object({ transactions: Type.Optional(Submitted) }),
    errors: [422, 501],
    reply: PoolResultResource,
    answer: async ({ body: { transactions } }, state) => {
      const { accept, broadcast, excess, invalid, errors } = await submitTransactions(transactions, state);
      return { data: { accept, broadcast, excess, invalid }, ...(errors === undefined ? {} : { errors }) };
    },
  }),
  list({
    ...common,
    method: "POST",
    path: "/transactions/search",
    reserved: true,
    atHeight: true,
    mostBody: largestSearch,
    summary: "Searches transactions.",
    query: TransactionSearchQuery,
    body: TransactionSearchBody,
    bodyOptional: true,
    item: TransactionResource,
    answer: ({ query, body: { orderBy = query.orderBy, ...filter }, page }, state) => listTransactions({ filter, orderBy, page }, state),
  }),
  list({
    ...common,
    method: "GET",
    path: "/transactions/unconfirmed",
    operation: "getUnconfirmedTransactions",
    summary: "Lists the transactions in the node's pool, in the pool's order.",
    cache: "never",
    stateless: true,
    item: UnconfirmedTransactionResource,
    answer: ({ page }, state) => listUnconfirmed(page, state),
  }),
  item({
    ...common,
    method: "GET",
    path: "/transactions/unconfirmed/{id}",
    operation: "getUnconfirmedTransaction",
    summary: "Returns a transaction in the node's pool.",
    cache: "never",
    stateless: true,
    params,
    errors: [404],
    reply: DataOf(UnconfirmedTransactionResource),
    answer: async ({ params: { id } }, state) => ({ data: await findUnconfirmed(id, state) }),
  }),
  item({
    ...common,
    method: "GET",
    path: "/transactions/types",
    atHeight: true,
    hasHostParts: true,
    summary: "Lists the transaction types with their numbers.",
    stateless: true,
    cache: "tip",
    reply: DataOf(TransactionTypesResource),
    answer: (_request, { rules }) => ({ data: presentTransactionTypes(rules.types.all) }),
  }),
  item({
    ...common,
    method: "GET",
    path: "/transactions/fees",
    atHeight: true,
    summary: "Returns the static fees at the tip, by transaction type.",
    reply: DataOf(StaticFees),
    answer: (_request, { chain, rules }) => ({ data: presentStaticFees(rules.milestones.at(chain.tip.height)) }),
  }),
  item({
    ...common,
    method: "GET",
    path: "/transactions/schemas",
    summary: "Returns the schema of each transaction type's wire form, by type group and type.",
    reply: DataOf(TransactionSchemasResource),
    answer: (_request, { chain, rules }) => ({ data: presentTransactionSchemas(rules, chain.tip.height) }),
  }),
  item({
    ...common,
    method: "GET",
    path: "/transactions/{id}",
    atHeight: true,
    summary: "Returns a transaction.",
    params,
    errors: [404],
    reply: DataOf(TransactionResource),
    answer: ({ params: { id } }, state) =>
      andThen(transactionNamed(id, state), (transaction) => {
        if (transaction === undefined) throw new PorticoError("TRANSACTION_NOT_FOUND");
        return { data: presentTransactionOf(transaction, state) };
      }),
  }),
];

const votes = { method: "GET", versions: [2], resource: "votes" } as const;

export const voteRoutes: Route<ApiState>[] = [
  list({
    ...votes,
    path: "/votes",
    atHeight: true,
    summary: "Lists votes: transactions of type 3.",
    query: VoteListQuery,
    item: TransactionResource,
    answer: ({ query: { orderBy, ...query }, page }, state) => listTransactions({ filter: { ...query, ...voteKind }, orderBy, page }, state),
  }),
  item({
    ...votes,
    path: "/votes/{id}",
    atHeight: true,
    summary: "Returns a vote.",
    params,
    errors: [404],
    reply: DataOf(TransactionResource),
    answer: async ({ params: { id } }, state) => {
      const transaction = await transactionNamed(id, state);
      if (transaction === undefined || !isVote(transaction)) throw new PorticoError("VOTE_NOT_FOUND");
      return { data: presentTransactionOf(transaction, state) };
    },
  }),
];
