import type { Lock, Tip } from "../../../types/chain.js";
import type { WalletDraft } from "../../../types/transaction-type.js";

/**
 * Records as they are stored: the values of a fixed list of members, so that no record repeats their names. Those of blocks and
 * transactions are in block-codec.ts.
 */

/** A wallet, its number, and how long its lists are. */
export interface WalletRecord extends WalletDraft {
  /** From 0, in the order in which wallets first appeared. */
  number: number;
  sent: number;
  received: number;
  owned: number;
  voted: number;
}

/** What a delegate has beyond its wallet. */
export interface DelegateRecord {
  address: string;
  publicKey: string;
  voteBalance: bigint;
  producedBlocks: number;
  /** Finished rounds in which it was active and forged nothing. */
  missedBlocks: number;
  forgedFees: bigint;
  forgedRewards: bigint;
  lastBlock: Tip | null;
}

/** Fees of one type in one hour. */
export interface FeeRecord {
  count: number;
  sum: bigint;
  min: bigint;
  max: bigint;
}

/** How many transactions there are of a group, type and wire version. */
export interface KindRecord {
  typeGroup: number;
  type: number;
  version: number;
  count: number;
}

/**
 * How far transactions' own times have been from their blocks', in seconds: at most `lag` before and at most `lead` after. From the
 * number `until` on, every transaction has the time of its block.
 */
export interface TimesApart {
  lag: number;
  lead: number;
  until: number;
}

/** What is known of the chain as a whole. */
export interface StateRecord {
  tip: Tip;
  supply: bigint;
  transactions: number;
  wallets: number;
  /** Every wire kind seen, in order of appearance; a kind's index here names its list. */
  kinds: KindRecord[];
  timesApart: TimesApart;
}

export interface Codec<T> {
  pack(value: T): unknown[];
  unpack(values: unknown[]): T;
}

/** Undefined members are absent after unpacking; trailing ones take no room. */
export const codecOf = <T extends object>(members: readonly (keyof T & string)[]): Codec<T> => ({
  pack: (value) => {
    const values: unknown[] = members.map((member) => value[member]);
    while (values.length > 0 && values[values.length - 1] === undefined) values.pop();
    return values;
  },
  unpack: (values) => {
    const value: Record<string, unknown> = {};
    for (let i = 0; i < values.length; i++) {
      const member = members[i];
      if (member !== undefined && values[i] !== undefined) value[member] = values[i];
    }
    return value as T;
  },
});

export const walletCodec = codecOf<WalletRecord>([
  "address",
  "number",
  "publicKey",
  "balance",
  "nonce",
  "sent",
  "received",
  "owned",
  "voted",
  "vote",
  "username",
  "secondPublicKey",
  "lockedBalance",
  "resigned",
  "multiSignature",
]);

export const delegateCodec = codecOf<DelegateRecord>([
  "address",
  "publicKey",
  "voteBalance",
  "producedBlocks",
  "missedBlocks",
  "forgedFees",
  "forgedRewards",
  "lastBlock",
]);

export const lockCodec = codecOf<Lock>([
  "lockId",
  "senderPublicKey",
  "senderId",
  "recipientId",
  "amount",
  "secretHash",
  "timestamp",
  "expiration",
  "vendorField",
]);

export const feeCodec = codecOf<FeeRecord>(["count", "sum", "min", "max"]);

export const stateCodec = codecOf<StateRecord>(["tip", "supply", "transactions", "wallets", "kinds", "timesApart"]);

/** A delegate's place in a ranking. */
export interface RankedDelegate {
  publicKey: string;
  username: string;
  voteBalance: bigint;
}

export const rankingCodec: Codec<RankedDelegate[]> = {
  pack: (ranking) => ranking.map(({ publicKey, username, voteBalance }) => [Buffer.from(publicKey, "hex"), username, voteBalance]),
  unpack: (values) =>
    (values as [Uint8Array, string, bigint][]).map(([publicKey, username, voteBalance]) => ({
      publicKey: Buffer.from(publicKey).toString("hex"),
      username,
      voteBalance,
    })),
};

