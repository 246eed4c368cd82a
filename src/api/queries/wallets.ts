import { type Static, Type } from "@sinclair/typebox";
import type { Wallet } from "../../../types/chain.js";
import type { MaybePromise } from "../../../types/chain-adapter.js";
import type { Range as Bounds, WalletFilter, WalletQuery } from "../../../types/chain-queries.js";
import { isPublicKey } from "../../chain/address.js";
import { walletList } from "../../chain/lists.js";
import { PorticoError } from "../../errors.js";
import { Amount, amountUnit, ListOf, OrderBy, Range } from "../../http/input/schema.js";
import type { PageAnswer } from "../../http/route.js";
import { andThen } from "../../async/maybe-promise.js";
import { presentWallet, type WalletResource } from "../resources/wallet.js";
import type { ApiState } from "../state.js";
import { Address, inKnownCase, inputsOf } from "./fields.js";
import { type ListRequest, overlap, pageOf } from "./page.js";

const fields = (exactly: { exact: boolean }) => ({
  ...inputsOf(walletList.filters, exactly),
  votebalance: Type.Optional(Range(Amount(), { ...exactly, description: `The same as voteBalance. ${amountUnit}` })),
});

const { orders } = walletList;
const order = { default: "balance:desc", description: "Rows without the field come last." };

/** Clients of third-generation nodes pass several addresses under this name. */
const address = Type.Optional(ListOf(Address, { minItems: 1, maxItems: 50, description: "Any of these addresses." }));

export const WalletListQuery = Type.Object({ ...fields({ exact: true }), address, orderBy: OrderBy(orders, order) });
export const WalletSearchQuery = Type.Object({ orderBy: OrderBy(orders, order) });
export const WalletSearchBody = Type.Object({ ...fields({ exact: false }), orderBy: Type.Optional(OrderBy(orders)) });

type WalletInput = Omit<WalletFilter, "address"> & { address?: string | string[]; votebalance?: Bounds<bigint> };

/** A list means any of its addresses; if both members are lists, any address that is in both. */
const addressFilter = (address: string | string[] | undefined, addresses: string[] | undefined): Pick<WalletFilter, "address" | "addresses"> => {
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

/** Every wallet that votes for the delegate with public key `vote`, richest first. */
export const votersOf = async (vote: string, { chain }: ApiState): Promise<Wallet[]> => {
  const ask = (offset: number, limit: number) => chain.wallets({ filter: { vote }, order: { field: "balance", direction: "desc" }, offset, limit });
  const { rows, total } = await ask(0, 100);
  return rows.length === total ? rows : [...rows, ...(await ask(rows.length, total - rows.length)).rows];
};

/** Balance by address of the same wallets as `votersOf`, in the same order. */
export const balancesOfVoters = async (vote: string, state: ApiState): Promise<Record<string, bigint>> =>
  Object.fromEntries((await votersOf(vote, state)).map(({ address, balance }) => [address, balance]));
