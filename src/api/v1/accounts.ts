import { Type } from "@sinclair/typebox";
import type { Wallet } from "../../../types/chain.js";
import type { WalletQuery } from "../../../types/chain-queries.js";
import { PorticoError } from "../../errors.js";
import { Text } from "../../http/input/schema.js";
import { type Route, routesOf } from "../../http/route.js";
import { AmountText, pageOf, TextOrNull } from "../fields.js";
import type { ApiState } from "../state.js";
import { firstGeneration, pageOfQuery, paging, requireAddress, succeeded, SucceededWith } from "./input.js";
import { feeOf, FeeReply } from "./fees.js";
import {
  AccountResource,
  FoundDelegateResource,
  presentAccount,
  presentFoundDelegate,
  presentTopAccount,
  TopAccountResource,
} from "./resources.js";

const { item } = routesOf<ApiState>();
const common = { ...firstGeneration, resource: "accounts" } as const;
const byAddress = Type.Object({ address: Text({ description: "Address of the account." }) });
const richestFirst: WalletQuery["order"] = { field: "balance", direction: "desc" };

/** Undefined for an address without a wallet. @throws PorticoError BAD_REQUEST for anything that is not an address */
const walletAt = async (address: string, state: ApiState): Promise<Wallet | undefined> => {
  const wallet = await state.chain.wallet(address);
  if (wallet?.address === address) return wallet;
  await requireAddress("address", address, state);
  return undefined;
};

/** As `walletAt`. @throws PorticoError WALLET_NOT_FOUND with the message `missing` */
const existingWalletAt = async (address: string, state: ApiState, missing = "Account not found"): Promise<Wallet> => {
  const wallet = await walletAt(address, state);
  if (wallet === undefined) throw new PorticoError("WALLET_NOT_FOUND", missing);
  return wallet;
};

/** Deployed clients use both spellings of the path. */
const publicKeyRoute = (path: string, operation: string): Route<ApiState> =>
  item({
    ...common,
    path,
    operation,
    summary: "Returns the public key of an account; null for a cold wallet.",
    query: byAddress,
    reply: SucceededWith({ publicKey: TextOrNull }),
    answer: async ({ query: { address } }, state) => succeeded({ publicKey: (await existingWalletAt(address, state)).publicKey }),
  });

export const accountRoutes: Route<ApiState>[] = [
  item({
    ...common,
    path: "/accounts",
    operation: "getV1Account",
    summary: "Returns an account.",
    query: byAddress,
    reply: SucceededWith({ account: AccountResource }),
    answer: async ({ query: { address } }, state) => succeeded({ account: presentAccount(await existingWalletAt(address, state)) }),
  }),
  item({
    ...common,
    path: "/accounts/getAllAccounts",
    operation: "getV1AllAccounts",
    summary: "Lists accounts, including empty ones, richest first.",
    query: Type.Object(paging),
    reply: SucceededWith({ accounts: Type.Array(AccountResource), totalCount: Type.Integer() }),
    answer: async ({ query }, { chain }) => {
      const request = { filter: {}, orderBy: richestFirst, page: pageOfQuery(query) };
      const { rows, total } = await pageOf(request, (asked) => chain.wallets(asked), presentAccount);
      return succeeded({ accounts: rows, totalCount: total });
    },
  }),
  item({
    ...common,
    path: "/accounts/getBalance",
    summary: "Returns the balance of an account; 0 for an unknown address.",
    query: byAddress,
    reply: SucceededWith({ balance: AmountText, unconfirmedBalance: AmountText }),
    answer: async ({ query: { address } }, state) => {
      const balance = String((await walletAt(address, state))?.balance ?? 0n);
      return succeeded({ balance, unconfirmedBalance: balance });
    },
  }),
  publicKeyRoute("/accounts/getPublicKey", "getV1AccountsPublicKey"),
  publicKeyRoute("/accounts/getPublickey", "getV1AccountsPublicKeyAlias"),
  item({
    ...common,
    path: "/accounts/delegates",
    summary: "Returns the delegate that an account votes for.",
    query: byAddress,
    reply: SucceededWith({ delegates: Type.Array(FoundDelegateResource, { minItems: 1, maxItems: 1 }) }),
    answer: async ({ query: { address } }, state) => {
      const { vote } = await existingWalletAt(address, state, "Address not found.");
      const delegate = vote === null ? undefined : await state.chain.delegate(vote);
      if (delegate === undefined) throw new PorticoError("VOTE_NOT_FOUND", `Address ${address} hasn't voted yet.`);
      return succeeded({ delegates: [presentFoundDelegate(delegate)] });
    },
  }),
  item({
    ...common,
    path: "/accounts/delegates/fee",
    summary: "Returns the fee of a delegate registration.",
    reply: FeeReply,
    answer: (_request, state) => succeeded({ fee: feeOf("delegateRegistration", state) }),
  }),
  item({
    ...common,
    path: "/accounts/count",
    summary: "Returns the number of accounts, including empty ones.",
    reply: SucceededWith({ count: Type.Integer() }),
    answer: async (_request, { chain }) =>
      succeeded({ count: (await chain.wallets({ filter: {}, order: richestFirst, offset: 0, limit: 1 })).total }),
  }),
  item({
    ...common,
    path: "/accounts/top",
    operation: "getV1TopAccounts",
    summary: "Lists the richest accounts.",
    query: Type.Object(paging),
    reply: SucceededWith({ accounts: Type.Array(TopAccountResource) }),
    answer: async ({ query }, { chain }) => {
      const request = { filter: {}, orderBy: richestFirst, page: pageOfQuery(query) };
      const { rows } = await pageOf(request, (asked) => chain.wallets(asked), presentTopAccount);
      return succeeded({ accounts: rows });
    },
  }),
];
