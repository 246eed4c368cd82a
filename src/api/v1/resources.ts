import { type Static, Type } from "@sinclair/typebox";
import type { Delegate, Wallet } from "../../../types/chain.js";
import { Amount, AmountText, TextOrNull } from "../fields.js";
import { productivityOf } from "../../chain/amount.js";

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

export const TopAccountResource = Type.Object(
  { address: Type.String(), balance: AmountText, publicKey: TextOrNull },
  { title: "TopAccount" },
);

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

const common = {
  username: Type.String(),
  address: Type.String(),
  publicKey: Type.String(),
  producedblocks: Type.Integer(),
  missedblocks: Type.Integer({
    description: "Finished rounds in which it was active and forged no block; 0 if the chain's adapter does not count them.",
  }),
  productivity: Type.Number({ description: "producedblocks as a percentage of producedblocks + missedblocks, to two decimals." }),
  approval: Type.Number({ description: "Percentage of the supply, to two decimals." }),
  rate: Type.Optional(Type.Integer({ description: "Rank; absent if the last round did not rank the delegate." })),
  forged: Amount,
};

/** The form in lists, `get` and `fee`. */
export const DelegateResource = Type.Object(
  { ...common, vote: Type.Unsafe<string | null>({ ...TextOrNull, description: "Public key of the delegate that this one votes for." }) },
  { title: "FlatDelegate" },
);

/** The form in searches and accounts/delegates. */
export const FoundDelegateResource = Type.Object({ ...common, vote: AmountText }, { title: "FoundDelegate" });

const presentCommon = (delegate: Delegate) => {
  const missedblocks = delegate.missedRounds ?? 0;
  return {
    username: delegate.username,
    address: delegate.address,
    publicKey: delegate.publicKey,
    producedblocks: delegate.producedBlocks,
    missedblocks,
    productivity: productivityOf(delegate.producedBlocks, missedblocks) ?? 0,
    approval: delegate.approval,
    ...(delegate.rank === null ? {} : { rate: delegate.rank }),
    forged: delegate.forgedTotal,
  };
};

export const presentDelegate = (delegate: Delegate): Static<typeof DelegateResource> => ({
  ...presentCommon(delegate),
  vote: delegate.vote,
});

export const presentFoundDelegate = (delegate: Delegate): Static<typeof FoundDelegateResource> => ({
  ...presentCommon(delegate),
  vote: delegate.voteBalance.toString(),
});
