import { type Static, Type } from "@sinclair/typebox";
import type { MaybePromise } from "../../../types/chain-adapter.js";
import type { Range as Bounds, WalletChange, WalletFilter, WalletQuery } from "../../../types/chain-queries.js";
import type { Block, Wallet } from "../../../types/chain.js";
import {
  Address,
  Amount,
  AmountText,
  DataOf,
  inKnownCase,
  inputsOf,
  largestSearch,
  type ListRequest,
  overlap,
  pageOf,
  TextOrNull,
  TimestampResource,
  within,
} from "../fields.js";
import { type AskPage, everyRow } from "../pages.js";
import { type ApiState, requireSupport } from "../state.js";
import { listLocks, LockListQuery, LockResource } from "./locks.js";
import {
  listTransactions,
  OwnedTransactionListQuery,
  ReceivedTransactionListQuery,
  TransactionResource,
  VoteListQuery,
} from "./transactions.js";
import { andThen } from "../../async/maybe-promise.js";
import { isPublicKey } from "../../chain/address.js";
import { voteKind } from "../../chain/blocks/transaction-types.js";
import type { Epoch } from "../../chain/epoch.js";
import { walletList } from "../../chain/lists.js";
import { PorticoError } from "../../errors.js";
import { Amount as AmountInput, amountUnit, ListOf, OrderBy, Range, Text } from "../../http/input/schema.js";
import { type PageAnswer, type Route, routesOf } from "../../http/route.js";

export const BalancesResource = Type.Unsafe<Record<string, bigint>>({
  type: "object",
  additionalProperties: { ...Amount },
  description: "Address -> balance.",
});

const MultiSignatureResource = Type.Object(
  { min: Type.Integer(), publicKeys: Type.Array(Type.String()) },
  { description: "Only for a multisignature wallet." },
);

/** As wallets of ARK Core 3 have them, for clients of later years: what there is not is absent, nothing is null. */
export const AttributesResource = Type.Object(
  {
    delegate: Type.Optional(
      Type.Object({
        username: Type.String(),
        voteBalance: AmountText,
        forgedFees: AmountText,
        forgedRewards: AmountText,
        producedBlocks: Type.Integer(),
        rank: Type.Optional(Type.Integer({ description: "Absent before the first round that ranks it, and once it has resigned." })),
        resigned: Type.Optional(Type.Boolean({ description: "Absent unless the delegate has resigned." })),
      }),
    ),
    vote: Type.Optional(Type.String({ description: "Public key." })),
    secondPublicKey: Type.Optional(Type.String()),
    multiSignature: Type.Optional(MultiSignatureResource),
    htlc: Type.Optional(Type.Object({ lockedBalance: AmountText })),
  },
  { title: "WalletAttributes" },
);

const presentAttributes = (wallet: Wallet): Static<typeof AttributesResource> => ({
  ...(wallet.username === null ? {} : { delegate: { ...presentAsDelegate(wallet), username: wallet.username } }),
  ...(wallet.vote === null ? {} : { vote: wallet.vote }),
  ...(wallet.secondPublicKey === null ? {} : { secondPublicKey: wallet.secondPublicKey }),
  ...(wallet.multiSignature === null ? {} : { multiSignature: wallet.multiSignature }),
  ...(wallet.lockedBalance === 0n ? {} : { htlc: { lockedBalance: wallet.lockedBalance.toString() } }),
});

const presentAsDelegate = ({ voteBalance, forgedFees, forgedRewards, producedBlocks, rank, resigned }: Wallet) => ({
  voteBalance: voteBalance.toString(),
  forgedFees: forgedFees.toString(),
  forgedRewards: forgedRewards.toString(),
  producedBlocks,
  ...(rank === null ? {} : { rank }),
  ...(resigned ? { resigned } : {}),
});

export const WalletResource = Type.Object(
  {
    address: Type.String(),
    publicKey: TextOrNull,
    username: TextOrNull,
    secondPublicKey: TextOrNull,
    balance: Amount,
    isDelegate: Type.Boolean(),
    vote: TextOrNull,
    lockedBalance: Amount,
    nonce: Type.String({ pattern: "^[0-9]+$", description: "Number of transactions sent; the nonce of the next one is this plus 1." }),
    isResigned: Type.Boolean(),
    multiSignature: Type.Optional(MultiSignatureResource),
    attributes: AttributesResource,
  },
  { title: "Wallet" },
);

export const presentWallet = (wallet: Wallet): Static<typeof WalletResource> => ({
  address: wallet.address,
  publicKey: wallet.publicKey,
  username: wallet.username,
  secondPublicKey: wallet.secondPublicKey,
  balance: wallet.balance,
  isDelegate: wallet.isDelegate,
  vote: wallet.vote,
  lockedBalance: wallet.lockedBalance,
  nonce: wallet.nonce.toString(),
  isResigned: wallet.resigned,
  ...(wallet.multiSignature === null ? {} : { multiSignature: wallet.multiSignature }),
  attributes: presentAttributes(wallet),
});

export const WalletChangeResource = Type.Object(
  {
    height: Type.Integer(),
    blockId: Type.String(),
    timestamp: TimestampResource,
    balance: Amount,
    change: Amount,
    lockedBalance: Amount,
    vote: TextOrNull,
    nonce: Type.String({ pattern: "^[0-9]+$" }),
  },
  { title: "WalletChange" },
);

export const presentWalletChange = ({ height, balance, change, lockedBalance, vote, nonce }: WalletChange, block: Block | undefined, epoch: Epoch): Static<typeof WalletChangeResource> => {
  if (block === undefined) throw new PorticoError("INTERNAL", `the chain has no block ${height}`);
  return { height, blockId: block.id, timestamp: epoch.timestamp(block.timestamp), balance, change, lockedBalance, vote, nonce: nonce.toString() };
};

const fields = (exactly: { exact: boolean }) => ({
  ...inputsOf(walletList.filters, exactly),
  votebalance: Type.Optional(Range(AmountInput(), { ...exactly, description: `The same as voteBalance. ${amountUnit}` })),
});

const { orders } = walletList;
const order = { default: "balance:desc", description: "Rows without the field come last." };

/** Clients of third-generation nodes pass several addresses under this name. */
const address = Type.Optional(ListOf(Address, { minItems: 1, maxItems: 50, description: "Any of these addresses." }));

export const WalletListQuery = Type.Object({ ...fields({ exact: true }), address, orderBy: OrderBy(orders, order) });
const WalletSearchQuery = Type.Object({ orderBy: OrderBy(orders, order) });
const WalletSearchBody = Type.Object({ ...fields({ exact: false }), orderBy: Type.Optional(OrderBy(orders)) });

type WalletInput = Omit<WalletFilter, "address"> & { address?: string | string[]; votebalance?: Bounds<bigint> };

/** A list means any of its addresses; if both members are lists, any address that is in both. */
const addressFilter = (
  address: string | string[] | undefined,
  addresses: string[] | undefined,
): Pick<WalletFilter, "address" | "addresses"> => {
  if (!Array.isArray(address)) return { ...(address === undefined ? {} : { address }), ...(addresses === undefined ? {} : { addresses }) };
  return { addresses: addresses === undefined ? address : address.filter((each) => addresses.includes(each)) };
};

/** Turns accepted input, without its order, into a filter of the adapter. `votebalance` is another name for `voteBalance`. */
export const walletFilter = ({ votebalance, voteBalance, address, addresses, ...filter }: WalletInput): WalletFilter => {
  const range = overlap(voteBalance, votebalance);
  return { ...filter, ...addressFilter(address, addresses), ...(range === undefined ? {} : { voteBalance: range }) };
};

export const listWallets = (
  request: ListRequest<WalletFilter, WalletQuery["order"]>,
  { chain }: ApiState,
): MaybePromise<PageAnswer<Static<typeof WalletResource>>> => pageOf(request, (query) => chain.wallets(query), presentWallet);

/**
 * A wallet by address, public key or username. The chain does not know the public key of a cold wallet, so that is tried by its address.
 * @throws PorticoError WALLET_NOT_FOUND
 */
export const findWallet = (name: string, { chain, rules }: ApiState): MaybePromise<Wallet> => {
  const identifier = inKnownCase(name);
  const byKey = (): MaybePromise<Wallet | undefined> =>
    isPublicKey(identifier) ? chain.wallet(rules.addressOf(identifier)) : undefined;
  return andThen(
    andThen(chain.wallet(identifier), (wallet) => wallet ?? byKey()),
    (found) => {
      if (found === undefined) throw new PorticoError("WALLET_NOT_FOUND", name === "search" ? "Wallet not found. To search wallets, use POST /wallets/search." : undefined);
      return found;
    },
  );
};

/** Every wallet that votes for the delegate with public key `vote`, richest first. `paced`: asks for the pages when there is time. */
export const votersOf = (
  vote: string,
  { chain }: Pick<ApiState, "chain">,
  paced: (ask: AskPage<Wallet>) => AskPage<Wallet> = (ask) => ask,
): Promise<Wallet[]> =>
  everyRow(paced((offset, limit) => chain.wallets({ filter: { vote }, order: { field: "balance", direction: "desc" }, offset, limit })));

/** Balance by address of the same wallets as `votersOf`, in the same order. */
export const balancesOfVoters = async (vote: string, state: ApiState): Promise<Record<string, bigint>> =>
  Object.fromEntries((await votersOf(vote, state)).map(({ address, balance }) => [address, balance]));

const { item, list } = routesOf<ApiState>();
const common = { versions: [2], resource: "wallets" } as const;
const params = Type.Object({ id: Text({ description: "Address, public key or username." }) });
const ofOne = { ...common, method: "GET", params, errors: [404] } as const;

export const walletRoutes: Route<ApiState>[] = [
  list({
    ...common,
    method: "GET",
    path: "/wallets",
    summary: "Lists wallets, including empty ones.",
    query: WalletListQuery,
    item: WalletResource,
    answer: ({ query: { orderBy, ...query }, page }, state) => listWallets({ filter: walletFilter(query), orderBy, page }, state),
  }),
  list({
    ...common,
    method: "GET",
    path: "/wallets/top",
    operation: "getTopWallets",
    summary: "Lists the richest wallets.",
    query: WalletListQuery,
    item: WalletResource,
    answer: ({ query: { orderBy, ...query }, page }, state) => listWallets({ filter: walletFilter(query), orderBy, page }, state),
  }),
  list({
    ...common,
    method: "POST",
    path: "/wallets/search",
    mostBody: largestSearch,
    summary: "Searches wallets.",
    query: WalletSearchQuery,
    body: WalletSearchBody,
    bodyOptional: true,
    item: WalletResource,
    answer: ({ query, body: { orderBy = query.orderBy, ...body }, page }, state) =>
      listWallets({ filter: walletFilter(body), orderBy, page }, state),
  }),
  item({
    ...ofOne,
    path: "/wallets/{id}",
    atHeight: true,
    summary: "Returns a wallet.",
    reply: DataOf(WalletResource),
    answer: ({ params: { id } }, state) => andThen(findWallet(id, state), (wallet) => ({ data: presentWallet(wallet) })),
  }),
  list({
    ...ofOne,
    path: "/wallets/{id}/transactions",
    atHeight: true,
    summary: "Lists the transactions that a wallet sent or received.",
    query: OwnedTransactionListQuery,
    item: TransactionResource,
    answer: ({ params: { id }, query: { orderBy, ownerId, ...query }, page }, state) =>
      andThen(findWallet(id, state), ({ address }) => {
        const filter = { ...query, ownerId: address, ...(ownerId === undefined ? {} : { addresses: [ownerId] }) };
        return listTransactions({ filter, orderBy, page }, state);
      }),
  }),
  list({
    ...ofOne,
    path: "/wallets/{id}/transactions/received",
    atHeight: true,
    summary: "Lists the transactions that a wallet received, including multipayments.",
    query: ReceivedTransactionListQuery,
    item: TransactionResource,
    answer: ({ params: { id }, query: { orderBy, ...query }, page }, state) =>
      andThen(findWallet(id, state), ({ address }) =>
        listTransactions({ filter: { ...query, recipientId: address }, orderBy, page }, state),
      ),
  }),
  list({
    ...ofOne,
    path: "/wallets/{id}/transactions/sent",
    atHeight: true,
    summary: "Lists the transactions that a wallet sent.",
    query: OwnedTransactionListQuery,
    item: TransactionResource,
    answer: ({ params: { id }, query: { orderBy, ...query }, page }, state) =>
      andThen(findWallet(id, state), ({ address }) =>
        listTransactions({ filter: within(query, { senderId: address }), orderBy, page }, state),
      ),
  }),
  list({
    ...ofOne,
    path: "/wallets/{id}/votes",
    atHeight: true,
    summary: "Lists the votes that a wallet cast.",
    query: VoteListQuery,
    item: TransactionResource,
    answer: ({ params: { id }, query: { orderBy, ...query }, page }, state) =>
      andThen(findWallet(id, state), ({ address }) =>
        listTransactions({ filter: within({ ...query, ...voteKind }, { senderId: address }), orderBy, page }, state),
      ),
  }),
  list({
    ...ofOne,
    path: "/wallets/{id}/locks",
    summary: "Lists the open locks that a wallet created.",
    query: LockListQuery,
    errors: [404, 501],
    item: LockResource,
    answer: async ({ params: { id }, query: { orderBy, ...query }, page }, state) => {
      requireSupport("locks", state);
      const { address } = await findWallet(id, state);
      return listLocks({ filter: within(query, { senderId: address }), orderBy, page }, state);
    },
  }),
];
