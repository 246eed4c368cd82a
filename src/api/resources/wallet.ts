import { type Static, Type } from "@sinclair/typebox";
import type { Wallet } from "../../../types/chain.js";
import { Amount } from "./values/amount.js";
import { TextOrNull } from "./values/text.js";

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
    multiSignature: Type.Optional(
      Type.Object({ min: Type.Integer(), publicKeys: Type.Array(Type.String()) }, { description: "Only for a multisignature wallet." }),
    ),
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
});
