import { type Static, Type } from "@sinclair/typebox";
import type { MaybePromise } from "../../../types/chain-adapter.js";
import type { DelegateFilter, DelegateOrder, DelegateQuery } from "../../../types/chain-queries.js";
import type { Delegate } from "../../../types/chain.js";
import { andThen } from "../../async/maybe-promise.js";
import type { Epoch } from "../../chain/epoch.js";
import { delegateList } from "../../chain/lists.js";
import { PorticoError } from "../../errors.js";
import { OneOf, OrderBy } from "../../http/input/schema.js";
import type { PageAnswer } from "../../http/route.js";
import type { ApiState } from "../state.js";
import { inKnownCase, inputsOf, type ListRequest, overlap, pageOf } from "./lists.js";
import { Amount, TimestampResource } from "./values.js";

export const DelegateResource = Type.Object(
  {
    username: Type.String(),
    address: Type.String(),
    publicKey: Type.String(),
    votes: Amount,
    rank: Type.Optional(Type.Integer({ description: "Absent if the last round did not rank the delegate." })),
    isResigned: Type.Boolean(),
    blocks: Type.Object({
      produced: Type.Integer(),
      last: Type.Optional(
        Type.Object({ id: Type.String(), height: Type.Integer(), timestamp: TimestampResource }, { description: "Absent before its first block." }),
      ),
    }),
    production: Type.Object({ approval: Type.Number({ description: "Percentage of the supply, to two decimals." }) }),
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
  "rank",
  "resigned",
  "producedBlocks",
  "lastBlock",
  "approval",
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
  ...(delegate.rank === null ? {} : { rank: delegate.rank }),
  isResigned: delegate.resigned,
  blocks: {
    produced: delegate.producedBlocks,
    ...(delegate.lastBlock === null ? {} : { last: presentTip(delegate.lastBlock, epoch) }),
  },
  production: { approval: delegate.approval },
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
  forgedFees: "forgedFees",
  forgedRewards: "forgedRewards",
  forgedTotal: "forgedTotal",
  voteBalance: "voteBalance",
} as const satisfies Record<DelegateOrder | "votes", DelegateOrder>;
const order = { default: "rank:asc", description: "Delegates without a rank come last." };

const types = ["resigned", "never-forged"] as const;

export const DelegateListQuery = Type.Object({
  ...inputsOf(filters, { exact: true }),
  type: Type.Optional(OneOf(types, { description: "Only those that resigned, or that forged no block." })),
  orderBy: OrderBy(orders, order),
});
export const DelegateSearchQuery = Type.Object({ orderBy: OrderBy(orders, order) });
export const DelegateSearchBody = Type.Object({ ...inputsOf(filters, { exact: false }), orderBy: Type.Optional(OrderBy(orders)) });

/** Turns the list's `type` into a filter of the adapter. */
export const delegateFilter = ({ type, ...filter }: DelegateFilter & { type?: (typeof types)[number] }): DelegateFilter => {
  if (type === undefined) return filter;
  if (type === "resigned") return { ...filter, resigned: true };
  return { ...filter, producedBlocks: { ...overlap(filter.producedBlocks, { to: 0 }) } };
};

export const listDelegates = (
  request: ListRequest<DelegateFilter, DelegateQuery["order"]>,
  { chain, rules }: ApiState,
): MaybePromise<PageAnswer<Static<typeof DelegateResource>>> =>
  pageOf(request, (query) => chain.delegates(query), (delegate) => presentDelegate(delegate, rules.epoch));

/** A delegate by username, address or public key. @throws PorticoError DELEGATE_NOT_FOUND */
export const findDelegate = (identifier: string, { chain }: ApiState): MaybePromise<ShownDelegate> =>
  andThen(chain.delegate(inKnownCase(identifier), shownOfDelegate), (found) => {
    if (found === undefined) throw new PorticoError("DELEGATE_NOT_FOUND", identifier === "search" ? "Delegate not found. To search delegates, use POST /delegates/search." : undefined);
    return found;
  });
