import { type Static, Type } from "@sinclair/typebox";
import type { Wallet } from "../../../types/chain.js";
import type { Range as Bounds, WalletFilter, WalletOrder, WalletQuery } from "../../../types/chain-adapter.js";
import { PorticoError } from "../../errors.js";
import { Amount, ListOf, OrderBy, Range, Text, WholeNumber } from "../../http/input.js";
import type { PageAnswer } from "../../http/route.js";
import { presentWallet, type WalletResource } from "../resources/wallet.js";
import type { ApiState } from "../state.js";
import { Address, PublicKey } from "./fields.js";
import { type ListRequest, pageOf } from "./page.js";

const fields = ({ exact }: { exact: boolean }) => ({
  address: Type.Optional(Address),
  addresses: Type.Optional(ListOf(Address, { minItems: 1, maxItems: 50, description: "Any of these addresses." })),
  publicKey: Type.Optional(PublicKey),
  secondPublicKey: Type.Optional(PublicKey),
  vote: Type.Optional(PublicKey),
  username: Type.Optional(Text({ description: "Exact." })),
  producedBlocks: Type.Optional(Range(WholeNumber(), { exact: true, description: "0 for a wallet that is no delegate." })),
  balance: Type.Optional(Range(Amount(), { exact })),
  voteBalance: Type.Optional(Range(Amount(), { exact, description: "0 for a wallet that is no delegate." })),
  votebalance: Type.Optional(Range(Amount(), { exact, description: "The same as voteBalance." })),
});

const orders: readonly WalletOrder[] = ["address", "publicKey", "username", "balance", "voteBalance"];
const order = { default: "balance:desc", description: "Rows without the field come last." };

export const WalletListQuery = Type.Object({ ...fields({ exact: true }), orderBy: OrderBy(orders, order) });
export const WalletSearchQuery = Type.Object({ orderBy: OrderBy(orders, order) });
export const WalletSearchBody = Type.Object({ ...fields({ exact: false }), orderBy: Type.Optional(OrderBy(orders)) });

const both = <T extends bigint>(a: Bounds<T> | undefined, b: Bounds<T> | undefined): Bounds<T> | undefined => {
  if (a === undefined || b === undefined) return a ?? b;
  const from = a.from === undefined || (b.from !== undefined && b.from > a.from) ? b.from : a.from;
  const to = a.to === undefined || (b.to !== undefined && b.to < a.to) ? b.to : a.to;
  return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
};

/** Accepted input, less the order, as a question: the contract's `votebalance` is the same filter as `voteBalance`. */
export const walletFilter = ({ votebalance, voteBalance, ...filter }: WalletFilter & { votebalance?: Bounds<bigint> }): WalletFilter => {
  const range = both(voteBalance, votebalance);
  return range === undefined ? filter : { ...filter, voteBalance: range };
};

export const listWallets = (
  request: ListRequest<WalletFilter, WalletQuery["order"]>,
  { chain }: ApiState,
): Promise<PageAnswer<Static<typeof WalletResource>>> => pageOf(request, (query) => chain.wallets(query), presentWallet);

/**
 * A wallet by address, public key or username. The key of a cold wallet is not known to the chain, but its address is.
 * @throws PorticoError WALLET_NOT_FOUND
 */
export const findWallet = async (identifier: string, { chain, rules }: ApiState): Promise<Wallet> => {
  const found =
    (await chain.wallet(identifier)) ??
    (/^0[23][0-9a-f]{64}$/.test(identifier) ? await chain.wallet(rules.addressOf(identifier)) : undefined);
  if (found === undefined) throw new PorticoError("WALLET_NOT_FOUND");
  return found;
};

const stride = 1000;

/** Every wallet that votes for a delegate, the richest first. */
export const votersOf = async (vote: string, { chain }: ApiState): Promise<Wallet[]> => {
  const voters: Wallet[] = [];
  for (let total = 1; voters.length < total; ) {
    const page = await chain.wallets({ filter: { vote }, order: { field: "balance", direction: "desc" }, offset: voters.length, limit: stride });
    voters.push(...page.rows);
    total = page.rows.length === 0 ? voters.length : page.total;
  }
  return voters;
};

/** Balance by address of every wallet that votes for a delegate, the richest first. */
export const balancesOfVoters = async (vote: string, state: ApiState): Promise<Record<string, bigint>> =>
  Object.fromEntries((await votersOf(vote, state)).map(({ address, balance }) => [address, balance]));
