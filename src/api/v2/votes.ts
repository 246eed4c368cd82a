import { Type } from "@sinclair/typebox";
import { isVote, voteKind } from "../../chain/blocks/transaction-types.js";
import { PorticoError } from "../../errors.js";
import { Text } from "../../http/input/schema.js";
import { type Route, routesOf } from "../../http/route.js";
import { listTransactions, presentTransactionOf, transactionNamed, TransactionResource, VoteListQuery } from "../resources/transactions.js";
import { DataOf } from "../resources/values.js";
import type { ApiState } from "../state.js";

const { item, list } = routesOf<ApiState>();
const common = { method: "GET", versions: [2], resource: "votes" } as const;

export const voteRoutes: Route<ApiState>[] = [
  list({
    ...common,
    path: "/votes",
    atHeight: true,
    summary: "Lists votes: transactions of type 3.",
    query: VoteListQuery,
    item: TransactionResource,
    answer: ({ query: { orderBy, ...query }, page }, state) => listTransactions({ filter: { ...query, ...voteKind }, orderBy, page }, state),
  }),
  item({
    ...common,
    path: "/votes/{id}",
    atHeight: true,
    summary: "Returns a vote.",
    params: Type.Object({ id: Text({ description: "Id of the transaction." }) }),
    errors: [404],
    reply: DataOf(TransactionResource),
    answer: async ({ params: { id } }, state) => {
      const transaction = await transactionNamed(id, state);
      if (transaction === undefined || !isVote(transaction)) throw new PorticoError("VOTE_NOT_FOUND");
      return { data: presentTransactionOf(transaction, state) };
    },
  }),
];
