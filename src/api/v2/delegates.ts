import { Type } from "@sinclair/typebox";
import { Text } from "../../http/input/schema.js";
import { type Route, routesOf } from "../../http/route.js";
import { andThen } from "../../async/maybe-promise.js";
import { BlockListQuery, BlockResource, listBlocks } from "../resources/blocks.js";
import {
  delegateFilter,
  DelegateListQuery,
  DelegateResource,
  DelegateSearchBody,
  DelegateSearchQuery,
  findDelegate,
  listDelegates,
  presentDelegate,
} from "../resources/delegates.js";
import { largestSearch, within } from "../resources/lists.js";
import { balancesOfVoters, BalancesResource, listWallets, walletFilter, WalletListQuery, WalletResource } from "../resources/wallets.js";
import { DataOf } from "../resources/values.js";
import type { ApiState } from "../state.js";

const { item, list } = routesOf<ApiState>();
const common = { versions: [2], resource: "delegates" } as const;
const params = Type.Object({ id: Text({ description: "Username, address or public key." }) });
const ofOne = { ...common, method: "GET", params, errors: [404] } as const;

export const delegateRoutes: Route<ApiState>[] = [
  list({
    ...common,
    method: "GET",
    path: "/delegates",
    atHeight: true,
    summary: "Lists all registered delegates.",
    query: DelegateListQuery,
    item: DelegateResource,
    answer: ({ query: { orderBy, ...query }, page }, state) => listDelegates({ filter: delegateFilter(query), orderBy, page }, state),
  }),
  list({
    ...common,
    method: "POST",
    path: "/delegates/search",
    atHeight: true,
    mostBody: largestSearch,
    summary: "Searches delegates.",
    query: DelegateSearchQuery,
    body: DelegateSearchBody,
    bodyOptional: true,
    item: DelegateResource,
    answer: ({ query, body: { orderBy = query.orderBy, ...filter }, page }, state) => listDelegates({ filter, orderBy, page }, state),
  }),
  item({
    ...ofOne,
    path: "/delegates/{id}",
    atHeight: true,
    summary: "Returns a delegate.",
    reply: DataOf(DelegateResource),
    answer: ({ params: { id } }, state) =>
      andThen(findDelegate(id, state), (delegate) => ({ data: presentDelegate(delegate, state.rules.epoch) })),
  }),
  list({
    ...ofOne,
    path: "/delegates/{id}/blocks",
    atHeight: true,
    summary: "Lists the blocks that a delegate forged.",
    query: BlockListQuery,
    item: BlockResource,
    answer: async ({ params: { id }, query: { orderBy, ...query }, page }, state) => {
      const { publicKey } = await findDelegate(id, state);
      return listBlocks({ filter: within(query, { generatorPublicKey: publicKey }), orderBy, page }, state);
    },
  }),
  list({
    ...ofOne,
    path: "/delegates/{id}/voters",
    atHeight: true,
    summary: "Lists the wallets that vote for a delegate.",
    query: WalletListQuery,
    item: WalletResource,
    answer: async ({ params: { id }, query: { orderBy, ...query }, page }, state) => {
      const { publicKey } = await findDelegate(id, state);
      return listWallets({ filter: within(walletFilter(query), { vote: publicKey }), orderBy, page }, state);
    },
  }),
  item({
    ...ofOne,
    path: "/delegates/{id}/voters/balances",
    atHeight: true,
    summary: "Returns the balances of all wallets that vote for a delegate, by address, richest first.",
    reply: DataOf(BalancesResource),
    answer: async ({ params: { id } }, state) => {
      const { publicKey } = await findDelegate(id, state);
      return { data: await balancesOfVoters(publicKey, state) };
    },
  }),
];
