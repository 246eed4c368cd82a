import { type Static, Type } from "@sinclair/typebox";
import type { Wallet } from "../../../../types/chain.js";
import { Amount, AmountText } from "../../resources/values/amount.js";
import { TextOrNull } from "../../resources/values/text.js";

const Keys = Type.Array(Type.String());
const Bit = Type.Integer({ minimum: 0, maximum: 1, description: "1 if there is a second public key, otherwise 0." });

/** The unconfirmed members repeat the confirmed values: deployed nodes never told them apart. */
export const AccountResource = Type.Object(
  {
    address: Type.String(),
    publicKey: TextOrNull,
    secondPublicKey: TextOrNull,
    username: TextOrNull,
    vote: Type.Unsafe<string | null>({ ...TextOrNull, description: "Public key of the delegate voted for." }),
    balance: AmountText,
    unconfirmedBalance: AmountText,
    multisignatures: Type.Array(Type.String(), { description: "Public keys of a multisignature wallet." }),
    u_multisignatures: Keys,
    secondSignature: Bit,
    unconfirmedSignature: Bit,
  },
  { title: "Account" },
);

export const presentAccount = (wallet: Wallet): Static<typeof AccountResource> => {
  const balance = wallet.balance.toString();
  const keys = wallet.multiSignature?.publicKeys ?? [];
  const second = wallet.secondPublicKey === null ? 0 : 1;
  return {
    address: wallet.address,
    publicKey: wallet.publicKey,
    secondPublicKey: wallet.secondPublicKey,
    username: wallet.username,
    vote: wallet.vote,
    balance,
    unconfirmedBalance: balance,
    multisignatures: keys,
    u_multisignatures: keys,
    secondSignature: second,
    unconfirmedSignature: second,
  };
};

export const TopAccountResource = Type.Object({ address: Type.String(), balance: AmountText, publicKey: TextOrNull }, { title: "TopAccount" });

export const presentTopAccount = ({ address, balance, publicKey }: Wallet): Static<typeof TopAccountResource> => ({
  address,
  balance: balance.toString(),
  publicKey,
});

export const VoterResource = Type.Object(
  { username: TextOrNull, address: Type.String(), publicKey: TextOrNull, balance: Amount },
  { title: "VoterAccount" },
);

export const presentVoter = ({ username, address, publicKey, balance }: Wallet): Static<typeof VoterResource> => ({
  username,
  address,
  publicKey,
  balance,
});
