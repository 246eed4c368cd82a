import { type Static, Type } from "@sinclair/typebox";
import type { MaybePromise } from "../../../types/chain-adapter.js";
import type { DelegateFilter, DelegateOrder, DelegateQuery } from "../../../types/chain-queries.js";
import { PorticoError } from "../../errors.js";
import { Amount, amountUnit, DecimalNumber, ListOf, OneOf, OrderBy, Range, Text, WholeNumber } from "../../http/input/schema.js";
import type { PageAnswer } from "../../http/route.js";
import { andThen } from "../../async/maybe-promise.js";
import { type DelegateResource, presentDelegate, type ShownDelegate, shownOfDelegate } from "../resources/delegate.js";
import type { ApiState } from "../state.js";
import { Address, inKnownCase, PublicKey } from "./fields.js";
import { type ListRequest, overlap, pageOf } from "./page.js";

const fields = ({ exact }: { exact: boolean }) => ({
  address: Type.Optional(Address),
  publicKey: Type.Optional(PublicKey),
  secondPublicKey: Type.Optional(PublicKey),
  vote: Type.Optional(PublicKey),
  username: Type.Optional(Text({ description: "Part of the username." })),
  usernames: Type.Optional(ListOf(Text(), { minItems: 1, maxItems: 100, description: "Any of these usernames." })),
  balance: Type.Optional(Range(Amount(), { exact, description: `Balance. ${amountUnit}` })),
  approval: Type.Optional(Range(DecimalNumber(), { exact, description: "Share of the supply that votes for it, in percent." })),
  forgedFees: Type.Optional(Range(Amount(), { exact, description: `Fees of the transactions in its blocks. ${amountUnit}` })),
  forgedRewards: Type.Optional(Range(Amount(), { exact, description: `Rewards of its blocks. ${amountUnit}` })),
  forgedTotal: Type.Optional(Range(Amount(), { exact, description: `Fees and rewards of its blocks. ${amountUnit}` })),
  producedBlocks: Type.Optional(Range(WholeNumber(), { exact, description: "Number of blocks it has forged." })),
  voteBalance: Type.Optional(Range(Amount(), { exact, description: `Sum of the balances that vote for it. ${amountUnit}` })),
});

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
} as const satisfies Record<string, DelegateOrder>;
const order = { default: "rank:asc", description: "Delegates without a rank come last." };

const types = ["resigned", "never-forged"] as const;

export const DelegateListQuery = Type.Object({
  ...fields({ exact: true }),
  type: Type.Optional(OneOf(types, { description: "Only those that resigned, or that forged no block." })),
  orderBy: OrderBy(orders, order),
});
export const DelegateSearchQuery = Type.Object({ orderBy: OrderBy(orders, order) });
export const DelegateSearchBody = Type.Object({ ...fields({ exact: false }), orderBy: Type.Optional(OrderBy(orders)) });

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
