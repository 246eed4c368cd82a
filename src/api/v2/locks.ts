import { Type } from "@sinclair/typebox";
import { Text } from "../../http/input/schema.js";
import { type Route, routesOf } from "../../http/route.js";
import {
  findLock,
  listLocks,
  listUnlocked,
  LockListQuery,
  LockResource,
  LockSearchBody,
  LockSearchQuery,
  UnlockedBody,
} from "../resources/locks.js";
import { TransactionResource, TransactionSearchQuery } from "../resources/transactions.js";
import { largestSearch } from "../resources/lists.js";
import { DataOf } from "../resources/values.js";
import { type ApiState, requireSupport } from "../state.js";

const { item, list } = routesOf<ApiState>();
const common = { versions: [2], resource: "locks", errors: [501] } as const;

export const lockRoutes: Route<ApiState>[] = [
  list({
    ...common,
    method: "GET",
    path: "/locks",
    summary: "Lists open locks.",
    query: LockListQuery,
    item: LockResource,
    answer: ({ query: { orderBy, ...filter }, page }, state) => {
      requireSupport("locks", state);
      return listLocks({ filter, orderBy, page }, state);
    },
  }),
  list({
    ...common,
    method: "POST",
    path: "/locks/search",
    mostBody: largestSearch,
    reserved: true,
    summary: "Searches open locks.",
    query: LockSearchQuery,
    body: LockSearchBody,
    bodyOptional: true,
    item: LockResource,
    answer: ({ query, body: { orderBy = query.orderBy, ...filter }, page }, state) => {
      requireSupport("locks", state);
      return listLocks({ filter, orderBy, page }, state);
    },
  }),
  list({
    ...common,
    method: "POST",
    path: "/locks/unlocked",
    operation: "getUnlockedLocks",
    summary: "Lists the transactions that claimed or refunded the given locks.",
    query: TransactionSearchQuery,
    body: UnlockedBody,
    item: TransactionResource,
    answer: ({ query: { orderBy }, body: { ids }, page }, state) => {
      requireSupport("locks", state);
      return listUnlocked({ ids, orderBy, page }, state);
    },
  }),
  item({
    ...common,
    method: "GET",
    path: "/locks/{id}",
    summary: "Returns an open lock.",
    params: Type.Object({ id: Text({ description: "Id of the lock transaction." }) }),
    errors: [404, 501],
    reply: DataOf(LockResource),
    answer: async ({ params: { id } }, state) => {
      requireSupport("locks", state);
      return { data: await findLock(id, state) };
    },
  }),
];
