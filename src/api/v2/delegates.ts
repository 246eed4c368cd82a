import { type Static, Type } from "@sinclair/typebox";
import type { MaybePromise } from "../../../types/chain-adapter.js";
import type { DelegateFilter, DelegateOrder, DelegateQuery } from "../../../types/chain-queries.js";
import type { Delegate, RoundDelegate } from "../../../types/chain.js";
import {
  Amount,
  DataOf,
  inKnownCase,
  inputsOf,
  largestSearch,
  type ListRequest,
  overlap,
  pageOf,
  TimestampResource,
  within,
} from "../fields.js";
import { type ApiState, requireSupport } from "../state.js";
import { BlockListQuery, BlockResource, listBlocks } from "./blocks.js";
import { balancesOfVoters, BalancesResource, listWallets, walletFilter, WalletListQuery, WalletResource } from "./wallets.js";
import { andThen } from "../../async/maybe-promise.js";
import type { Epoch } from "../../chain/epoch.js";
import { delegateList } from "../../chain/lists.js";
import { PorticoError } from "../../errors.js";
import { OneOf, OrderBy, Text } from "../../http/input/schema.js";
import { type PageAnswer, type Route, routesOf } from "../../http/route.js";

const uncounted = "Absent if the chain's adapter does not count them.";

export const DelegateResource = Type.Object(
  {
    username: Type.String(),
    address: Type.String(),
    publicKey: Type.String(),
    votes: Amount,
    voters: Type.Optional(Type.Integer({ description: `Number of wallets that vote for it. ${uncounted}` })),
    rank: Type.Optional(Type.Integer({ description: "Absent if the last round did not rank the delegate." })),
    isResigned: Type.Boolean(),
    blocks: Type.Object({
      produced: Type.Integer(),
      missed: Type.Optional(
        Type.Integer({
          description: `Slots of this delegate without a block, counted between blocks from the second block on. ${uncounted}`,
        }),
      ),
      last: Type.Optional(
        Type.Object(
          { id: Type.String(), height: Type.Integer(), timestamp: TimestampResource },
          { description: "Absent before its first block." },
        ),
      ),
    }),
    production: Type.Object({
      approval: Type.Number({ description: "Percentage of the supply, to two decimals." }),
      productivity: Type.Optional(
        Type.Unsafe<number | null>({
          type: ["number", "null"],
          description: `\`blocks.produced\` as a percentage of \`blocks.produced\` + \`blocks.missed\`, to two decimals; null before the first. ${uncounted}`,
        }),
      ),
    }),
    forged: Type.Object({ fees: Amount, rewards: Amount, total: Amount }),
  },
  { title: "Delegate" },
);

/** What a reply shows of a delegate. */
const shownOfDelegate = [
  "username",
  "address",
  "publicKey",
  "voteBalance",
  "voters",
  "rank",
  "resigned",
  "producedBlocks",
  "missedBlocks",
  "lastBlock",
  "approval",
  "productivity",
  "forgedFees",
  "forgedRewards",
  "forgedTotal",
] as const satisfies (keyof Delegate)[];

type ShownDelegate = Pick<Delegate, (typeof shownOfDelegate)[number]>;

export const presentDelegate = (delegate: ShownDelegate, epoch: Epoch): Static<typeof DelegateResource> => ({
  username: delegate.username,
  address: delegate.address,
  publicKey: delegate.publicKey,
  votes: delegate.voteBalance,
  ...(delegate.voters === undefined ? {} : { voters: delegate.voters }),
  ...(delegate.rank === null ? {} : { rank: delegate.rank }),
  isResigned: delegate.resigned,
  blocks: {
    produced: delegate.producedBlocks,
    ...(delegate.missedBlocks === undefined ? {} : { missed: delegate.missedBlocks }),
    ...(delegate.lastBlock === null ? {} : { last: presentTip(delegate.lastBlock, epoch) }),
  },
  production: { approval: delegate.approval, ...(delegate.productivity === undefined ? {} : { productivity: delegate.productivity }) },
  forged: { fees: delegate.forgedFees, rewards: delegate.forgedRewards, total: delegate.forgedTotal },
});

const presentTip = ({ id, height, timestamp }: NonNullable<Delegate["lastBlock"]>, epoch: Epoch) => ({
  id,
  height,
  timestamp: epoch.timestamp(timestamp),
});

/** `type` takes the place of `resigned`. */
const { resigned: _resigned, ...filters } = delegateList.filters;

const orders = {
  username: "username",
  rank: "rank",
  votes: "voteBalance",
  address: "address",
  publicKey: "publicKey",
  approval: "approval",
  producedBlocks: "producedBlocks",
  missedBlocks: "missedBlocks",
  productivity: "productivity",
  forgedFees: "forgedFees",
  forgedRewards: "forgedRewards",
  forgedTotal: "forgedTotal",
  voteBalance: "voteBalance",
  voters: "voters",
} as const satisfies Record<DelegateOrder | "votes", DelegateOrder>;
const order = { default: "rank:asc", description: "Delegates without a rank, or a productivity, come last." };

const types = ["resigned", "never-forged"] as const;

const DelegateListQuery = Type.Object({
  ...inputsOf(filters, { exact: true }),
  type: Type.Optional(OneOf(types, { description: "Only those that resigned, or that forged no block." })),
  orderBy: OrderBy(orders, order),
});
const DelegateSearchQuery = Type.Object({ orderBy: OrderBy(orders, order) });
const DelegateSearchBody = Type.Object({ ...inputsOf(filters, { exact: false }), orderBy: Type.Optional(OrderBy(orders)) });

/** Turns the list's `type` into a filter of the adapter. */
const delegateFilter = ({ type, ...filter }: DelegateFilter & { type?: (typeof types)[number] }): DelegateFilter => {
  if (type === undefined) return filter;
  if (type === "resigned") return { ...filter, resigned: true };
  return { ...filter, producedBlocks: { ...overlap(filter.producedBlocks, { to: 0 }) } };
};

const countedFigures = ["voters", "missedBlocks", "productivity"] as const satisfies (keyof DelegateFilter & DelegateOrder)[];

const listDelegates = (
  request: ListRequest<DelegateFilter, DelegateQuery["order"]>,
  state: ApiState,
): MaybePromise<PageAnswer<Static<typeof DelegateResource>>> => {
  const { filter, orderBy } = request;
  if (countedFigures.some((name) => filter?.[name] !== undefined || orderBy.field === name)) requireSupport("delegateFigures", state);
  return pageOf(request, (query) => state.chain.delegates(query), (delegate) => presentDelegate(delegate, state.rules.epoch));
};

/** A delegate by username, address or public key. @throws PorticoError DELEGATE_NOT_FOUND */
export const findDelegate = (identifier: string, { chain }: ApiState): MaybePromise<ShownDelegate> =>
  andThen(chain.delegate(inKnownCase(identifier), shownOfDelegate), (found) => {
    if (found === undefined) throw new PorticoError("DELEGATE_NOT_FOUND", identifier === "search" ? "Delegate not found. To search delegates, use POST /delegates/search." : undefined);
    return found;
  });

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
    errors: [501],
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
    errors: [501],
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

const RoundDelegateResource = Type.Object(
  {
    publicKey: Type.String(),
    username: Type.String(),
    votes: Type.Unsafe<bigint>({ ...Amount, description: "Vote balance with which the delegate entered the round." }),
  },
  { title: "RoundDelegate" },
);

const presentRoundDelegate = ({ publicKey, username, voteBalance }: RoundDelegate): Static<typeof RoundDelegateResource> => ({
  publicKey,
  username,
  votes: voteBalance,
});

export const roundRoutes: Route<ApiState>[] = [
  item({
    method: "GET",
    versions: [2],
    resource: "rounds",
    path: "/rounds/{id}/delegates",
    atHeight: true,
    summary: "Lists the active delegates of a round, by rank.",
    params: Type.Object({ id: Text({ description: "Number of the round, from 1." }) }),
    errors: [404, 501],
    reply: DataOf(Type.Array(RoundDelegateResource)),
    answer: async ({ params: { id } }, state) => {
      requireSupport("rounds", state);
      const delegates = /^[1-9][0-9]{0,14}$/.test(id) ? await state.chain.round(Number(id)) : undefined;
      if (delegates === undefined) throw new PorticoError("ROUND_NOT_FOUND");
      return { data: delegates.map(presentRoundDelegate) };
    },
  }),
];
