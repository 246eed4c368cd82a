import { Type } from "@sinclair/typebox";
import type { DelegateOrder, Order } from "../../../types/chain-queries.js";
import { turnsAfter } from "../../chain/rounds.js";
import { isDigits } from "../../text/digits.js";
import { inputError, PorticoError } from "../../errors.js";
import { InputOf, orderKind, Text, WholeNumber } from "../../http/input/schema.js";
import { type Route, routesOf } from "../../http/route.js";
import { Amount, inKnownCase, pageOf, PublicKey } from "../fields.js";
import { votersOf } from "../v2/wallets.js";
import { type ApiState, requireSupport } from "../state.js";
import { firstGeneration, paging, succeeded, SucceededWith } from "./input.js";
import { feeOf } from "./fees.js";
import {
  DelegateResource,
  FoundDelegateResource,
  presentDelegate,
  presentFoundDelegate,
  presentVoter,
  VoterResource,
} from "./resources.js";

const { item } = routesOf<ApiState>();
const common = { ...firstGeneration, resource: "delegates" } as const;

const byRank: Order<DelegateOrder> = { field: "rank", direction: "asc" };
const byColumn = orderKind({
  rank: "rank",
  rate: "rank",
  username: "username",
  address: "address",
  publicKey: "publicKey",
  vote: "voteBalance",
  votes: "voteBalance",
  voteBalance: "voteBalance",
  approval: "approval",
  producedBlocks: "producedBlocks",
  producedblocks: "producedBlocks",
  forged: "forgedTotal",
});

/** The contract declares a number, which names no column: as in deployed nodes, a number means the default order. */
const orderBy = InputOf<Order<DelegateOrder>>(
  {
    parse: (value, surroundings) =>
      typeof value === "string" && isDigits(value) ? { value: byRank } : byColumn.parse(value, surroundings),
    accepts: { anyOf: [byColumn.accepts, { type: "integer", minimum: 0 }] },
  },
  {
    default: "rank:asc",
    description: "The order of the rows: a column, alone or with `:asc` (the default) or `:desc`. A number means the default order.",
  },
);

const usualDelegates = 51;
const usualForgers = 10;

/** At most the number of active delegates. @throws PorticoError BAD_REQUEST */
const delegateLimit = (asked: number | undefined, { chain, rules }: ApiState): number => {
  const most = rules.milestones.at(chain.tip.height).activeDelegates;
  if (asked !== undefined && asked > most) throw inputError("query", "limit", `must be <= ${most}`);
  return asked ?? Math.min(usualDelegates, most);
};

const given = (text: string | undefined): string | undefined => (text === "" ? undefined : text);

/** The delegate that the host names as its own, or else the first by rank. */
const delegateOfNode = async ({ chain, host }: ApiState) =>
  (host.node?.delegate === undefined ? undefined : await chain.delegate(host.node.delegate)) ??
  (await chain.delegates({ filter: {}, order: byRank, offset: 0, limit: 1 })).rows[0];

export const delegateRoutes: Route<ApiState>[] = [
  item({
    ...common,
    path: "/delegates",
    summary: "Lists all registered delegates.",
    query: Type.Object({
      limit: Type.Optional(WholeNumber({ minimum: 1, description: "At most the number of active delegates. Default 51." })),
      offset: paging.offset,
      orderBy,
    }),
    reply: SucceededWith({ delegates: Type.Array(DelegateResource), totalCount: Type.Integer() }),
    answer: async ({ query: { limit, offset, orderBy } }, state) => {
      const page = { offset, limit: delegateLimit(limit, state) };
      const { rows, total } = await pageOf({ filter: {}, orderBy, page }, (query) => state.chain.delegates(query), presentDelegate);
      return succeeded({ delegates: rows, totalCount: total });
    },
  }),
  item({
    ...common,
    path: "/delegates/get",
    summary: "Returns a delegate.",
    query: Type.Object({
      publicKey: Type.Optional(Text({ description: "Takes precedence over username." })),
      username: Type.Optional(Text({ description: "Username of the delegate." })),
      id: Type.Optional(Text({ description: "Username, address or public key; used if neither of the others is given." })),
    }),
    reply: SucceededWith({ delegate: DelegateResource, delegates: Type.Array(DelegateResource, { minItems: 1, maxItems: 1 }) }),
    answer: async ({ query: { publicKey, username, id } }, { chain }) => {
      const name = given(publicKey) ?? given(username) ?? given(id);
      const found = name === undefined ? undefined : await chain.delegate(inKnownCase(name));
      if (found === undefined) throw new PorticoError("DELEGATE_NOT_FOUND");
      const delegate = presentDelegate(found);
      return succeeded({ delegate, delegates: [delegate] });
    },
  }),
  item({
    ...common,
    path: "/delegates/fee",
    summary: "Returns the fee of a delegate registration, and the node's own delegate or, if it has none, the first by rank.",
    reply: SucceededWith({ fee: Amount, delegate: Type.Optional(DelegateResource) }),
    answer: async (_request, state) => {
      const delegate = await delegateOfNode(state);
      const fee = feeOf("delegateRegistration", state);
      return succeeded({ fee, ...(delegate === undefined ? {} : { delegate: presentDelegate(delegate) }) });
    },
  }),
  item({
    ...common,
    path: "/delegates/count",
    summary: "Returns the number of registered delegates.",
    reply: SucceededWith({ count: Type.Integer() }),
    answer: async (_request, { chain }) =>
      succeeded({ count: (await chain.delegates({ filter: {}, order: byRank, offset: 0, limit: 1 })).total }),
  }),
  item({
    ...common,
    path: "/delegates/search",
    summary: "Searches delegates by part of their username.",
    query: Type.Object({
      q: Text({ minLength: 1, maxLength: 20, description: "Part of the username." }),
      limit: WholeNumber({ minimum: 1, maximum: 100, default: 100, description: "Rows, at most." }),
      offset: paging.offset,
      orderBy,
    }),
    reply: SucceededWith({ delegates: Type.Array(FoundDelegateResource) }),
    answer: async ({ query: { q, limit, offset, orderBy } }, { chain }) => {
      const request = { filter: { username: q }, orderBy, page: { offset, limit } };
      const { rows } = await pageOf(request, (query) => chain.delegates(query), presentFoundDelegate);
      return succeeded({ delegates: rows });
    },
  }),
  item({
    ...common,
    path: "/delegates/voters",
    summary: "Lists all accounts that vote for a delegate, richest first.",
    query: Type.Object({ publicKey: PublicKey }),
    reply: SucceededWith({ accounts: Type.Array(VoterResource) }),
    answer: async ({ query: { publicKey } }, state) => succeeded({ accounts: (await votersOf(publicKey, state)).map(presentVoter) }),
  }),
  item({
    ...common,
    path: "/delegates/forging/getForgedByAccount",
    operation: "getV1ForgedByAccount",
    summary: "Returns the total fees and rewards that a delegate has forged.",
    query: Type.Object({ generatorPublicKey: PublicKey }),
    reply: SucceededWith({ fees: Amount, rewards: Amount, forged: Amount }),
    answer: async ({ query: { generatorPublicKey } }, { chain }) => {
      const delegate = await chain.delegate(generatorPublicKey);
      if (delegate === undefined) return succeeded({ fees: 0n, rewards: 0n, forged: 0n });
      return succeeded({ fees: delegate.forgedFees, rewards: delegate.forgedRewards, forged: delegate.forgedTotal });
    },
  }),
  item({
    ...common,
    path: "/delegates/getNextForgers",
    operation: "getV1NextForgers",
    summary: "Lists the public keys of the delegates next in turn, as if their round did not end.",
    query: Type.Object({
      limit: WholeNumber({ minimum: 0, default: usualForgers, description: "Number of public keys; 0 means the default." }),
    }),
    errors: [501],
    reply: SucceededWith({ currentBlock: Type.Integer(), currentSlot: Type.Integer(), delegates: Type.Array(Type.String()) }),
    answer: async ({ query: { limit } }, state) => {
      requireSupport("rounds", state);
      const { current, next, order, forgerOf } = await turnsAfter(state.chain, state.rules.milestones);
      const slots = Array.from({ length: Math.min(limit === 0 ? usualForgers : limit, order.length) }, (_, i) => next + i);
      return succeeded({ currentBlock: state.chain.tip.height, currentSlot: current, delegates: slots.flatMap((slot) => forgerOf(slot)?.publicKey ?? []) });
    },
  }),
];
