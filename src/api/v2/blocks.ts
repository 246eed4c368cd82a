import { Type } from "@sinclair/typebox";
import { Text } from "../../http/input/schema.js";
import { type Route, routesOf } from "../../http/route.js";
import { BlockListQuery, BlockResource, BlockSearchBody, BlockSearchQuery, findBlock, listBlocks, showBlock } from "../resources/blocks.js";
import { largestSearch, within } from "../resources/lists.js";
import {
  pageOfTransactions,
  transactionFilter,
  TransactionListQuery,
  TransactionResource,
  withBlockId,
} from "../resources/transactions.js";
import { DataOf } from "../resources/values.js";
import type { ApiState } from "../state.js";

const { item, list } = routesOf<ApiState>();
const common = { versions: [2], resource: "blocks" } as const;
const params = Type.Object({ id: Text({ description: "Height or id." }) });

export const blockRoutes: Route<ApiState>[] = [
  list({
    ...common,
    method: "GET",
    path: "/blocks",
    atHeight: true,
    summary: "Lists blocks, newest first.",
    query: BlockListQuery,
    item: BlockResource,
    answer: ({ query: { orderBy, ...filter }, page }, state) => listBlocks({ filter, orderBy, page }, state),
  }),
  item({
    ...common,
    method: "GET",
    path: "/blocks/first",
    atHeight: true,
    operation: "getFirstBlock",
    summary: "Returns the genesis block.",
    reply: DataOf(BlockResource),
    answer: (_request, state) => showBlock("1", state),
  }),
  item({
    ...common,
    method: "GET",
    path: "/blocks/last",
    atHeight: true,
    operation: "getLastBlock",
    summary: "Returns the last block.",
    reply: DataOf(BlockResource),
    answer: (_request, state) => showBlock(String(state.chain.tip.height), state),
  }),
  list({
    ...common,
    method: "POST",
    path: "/blocks/search",
    reserved: true,
    atHeight: true,
    mostBody: largestSearch,
    summary: "Searches blocks.",
    query: BlockSearchQuery,
    body: BlockSearchBody,
    bodyOptional: true,
    item: BlockResource,
    answer: ({ query, body: { orderBy = query.orderBy, ...filter }, page }, state) => listBlocks({ filter, orderBy, page }, state),
  }),
  item({
    ...common,
    method: "GET",
    path: "/blocks/{id}",
    atHeight: true,
    summary: "Returns a block.",
    params,
    errors: [404],
    reply: DataOf(BlockResource),
    answer: ({ params: { id } }, state) => showBlock(id, state),
  }),
  list({
    ...common,
    method: "GET",
    path: "/blocks/{id}/transactions",
    atHeight: true,
    summary: "Lists the transactions of a block, last first.",
    params,
    query: TransactionListQuery,
    errors: [404],
    item: TransactionResource,
    answer: async ({ params: { id }, query: { orderBy, ...query }, page }, state) => {
      const block = await findBlock(id, state);
      return pageOfTransactions({ filter: within(await withBlockId(transactionFilter(query), state), { blockId: block.id }), orderBy, page }, state);
    },
  }),
];
