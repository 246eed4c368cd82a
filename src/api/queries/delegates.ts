import { type Static, Type } from "@sinclair/typebox";
import type { MaybePromise } from "../../../types/chain-adapter.js";
import type { DelegateFilter, DelegateOrder, DelegateQuery } from "../../../types/chain-queries.js";
import { delegateList } from "../../chain/lists.js";
import { PorticoError } from "../../errors.js";
import { OneOf, OrderBy } from "../../http/input/schema.js";
import type { PageAnswer } from "../../http/route.js";
import { andThen } from "../../async/maybe-promise.js";
import { type DelegateResource, presentDelegate, type ShownDelegate, shownOfDelegate } from "../resources/delegate.js";
import type { ApiState } from "../state.js";
import { inKnownCase, inputsOf } from "./fields.js";
import { type ListRequest, overlap, pageOf } from "./page.js";

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
