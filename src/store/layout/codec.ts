import type { Lock, Tip, Block, Transaction } from "../../../types/chain.js";
import type { WalletDraft } from "../../../types/transaction-type.js";
import type { EndedLock } from "../../chain/locks.js";

// Records as they are stored: the values of a fixed list of members, so that no record repeats their names.

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
  voters: number;
  producedBlocks: number;
  /** Slots in which it was its turn and no block was forged. */
  missedBlocks: number;
  /** Finished rounds in which it was active and forged nothing. */
  missedRounds: number;
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
const codecOf = <T extends object>(members: readonly (keyof T & string)[]): Codec<T> => ({
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
  "voters",
  "producedBlocks",
  "missedBlocks",
  "missedRounds",
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

export const endedLockCodec = codecOf<EndedLock>(["lockId", "senderId", "recipientId", "amount"]);

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

/**
 * Blocks and transactions as they are stored. They are mostly long texts of hex digits: these are kept together as one run of bytes,
 * half as long, before the values of all other members. If any of the texts is something else (the first networks numbered their
 * blocks), they are kept as they are, in an array.
 */
interface Layout<T, Digits extends readonly (keyof T & string)[], Members extends readonly (keyof T & string)[]> {
  /** The members of digits. The last one may be absent. */
  digits: Digits;
  /** How many digits each has, except for the last, which has the rest. */
  lengths: readonly number[];
  members: Members;
  /** By name: to set members in a loop over names takes longer, and so does all that reads them later. */
  compose(texts: ValuesOf<T, Digits>, packed: [digits: unknown, ...values: ValuesOf<T, Members>]): T;
}

type ValuesOf<T, Names extends readonly (keyof T)[]> = { -readonly [Index in keyof Names]: T[Names[Index]] };

/**
 * The bytes of a text of hex digits in lower case; undefined for any other text. A search for what is no digit: a repetition would take
 * stack for each of the digits (see `endOfDigits`).
 */
const hexBytes = (text: string): Buffer | undefined =>
  text !== "" && text.length % 2 === 0 && !/[^0-9a-f]/.test(text) ? Buffer.from(text, "hex") : undefined;

/** One run of bytes; undefined if the texts are not all of digits, or have other lengths. */
const bytesOf = (texts: readonly unknown[], lengths: readonly number[]): Buffer | undefined => {
  let all = "";
  for (const [i, length] of lengths.entries()) {
    const text = texts[i];
    if (typeof text !== "string" || text.length !== length) return undefined;
    all += text;
  }
  const last = texts[lengths.length];
  if (last === undefined) return hexBytes(all);
  return typeof last === "string" && last !== "" ? hexBytes(all + last) : undefined;
};

const textsOf = (packed: unknown, lengths: readonly number[]): unknown[] => {
  if (!(packed instanceof Uint8Array)) return packed as unknown[];
  const bytes = Buffer.isBuffer(packed) ? packed : Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  const all = bytes.toString("hex");
  const texts: string[] = [];
  let at = 0;
  for (const length of lengths) texts.push(all.slice(at, (at += length)));
  if (at < all.length) texts.push(all.slice(at));
  return texts;
};

const digitsCodecOf = <T extends object, Digits extends readonly (keyof T & string)[], Members extends readonly (keyof T & string)[]>({
  digits,
  lengths,
  members,
  compose,
}: Layout<T, Digits, Members>): Codec<T> => {
  const rest = codecOf<T>(members);
  return {
    pack: (value) => {
      const texts = digits.map((member) => value[member]);
      return [bytesOf(texts, lengths) ?? texts, ...rest.pack(value)];
    },
    unpack: (values) => compose(textsOf(values[0], lengths) as ValuesOf<T, Digits>, values as [unknown, ...ValuesOf<T, Members>]),
  };
};

const hashDigits = 64;
const keyDigits = 66;

const blockDigits = ["id", "previousBlock", "payloadHash", "generatorPublicKey", "blockSignature"] as const;
const blockMembers = ["version", "height", "timestamp", "numberOfTransactions", "totalAmount", "totalFee", "reward", "payloadLength"] as const;

export const blockCodec = digitsCodecOf<Block, typeof blockDigits, typeof blockMembers>({
  digits: blockDigits,
  lengths: [hashDigits, hashDigits, hashDigits, keyDigits],
  members: blockMembers,
  compose: (
    [id, previousBlock, payloadHash, generatorPublicKey, blockSignature],
    [, version, height, timestamp, numberOfTransactions, totalAmount, totalFee, reward, payloadLength],
  ) => ({
    id,
    version,
    height,
    timestamp,
    previousBlock,
    numberOfTransactions,
    totalAmount,
    totalFee,
    reward,
    payloadLength,
    payloadHash,
    generatorPublicKey,
    blockSignature,
  }),
});

/** A fork's asset may hold bytes. Those that were read are copied, as the next read overwrites them. */
const copyBytesIn = (asset: Record<string, unknown>): void => {
  for (const name in asset) {
    const member = asset[name];
    if (member instanceof Uint8Array) asset[name] = Uint8Array.from(member);
    else if (typeof member === "object" && member !== null) copyBytesIn(member as Record<string, unknown>);
  }
};

const transactionDigits = ["id", "blockId", "senderPublicKey", "signature"] as const;
const transactionMembers = [
  "version",
  "typeGroup",
  "type",
  "timestamp",
  "senderId",
  "amount",
  "fee",
  "blockHeight",
  "sequence",
  "recipientId",
  "nonce",
  "network",
  "expiration",
  "vendorField",
  "asset",
  "secondSignature",
  "signatures",
] as const;

export const transactionCodec = digitsCodecOf<Transaction, typeof transactionDigits, typeof transactionMembers>({
  digits: transactionDigits,
  lengths: [hashDigits, hashDigits, keyDigits],
  members: transactionMembers,
  compose: ([id, blockId, senderPublicKey, signature], packed) => {
    const [, version, typeGroup, type, timestamp, senderId, amount, fee, blockHeight, sequence, ...optional] = packed;
    const [recipientId, nonce, network, expiration, vendorField, asset, secondSignature, signatures] = optional;
    const transaction: Transaction = {
      id,
      version,
      typeGroup,
      type,
      timestamp,
      senderPublicKey,
      senderId,
      amount,
      fee,
      blockId,
      blockHeight,
      sequence,
    };
    if (recipientId !== undefined) transaction.recipientId = recipientId;
    if (nonce !== undefined) transaction.nonce = nonce;
    if (signature !== undefined) transaction.signature = signature;
    if (network !== undefined) transaction.network = network;
    if (expiration !== undefined) transaction.expiration = expiration;
    if (vendorField !== undefined) transaction.vendorField = vendorField;
    if (asset !== undefined) {
      copyBytesIn(asset);
      transaction.asset = asset;
    }
    if (secondSignature !== undefined) transaction.secondSignature = secondSignature;
    if (signatures !== undefined) transaction.signatures = signatures;
    return transaction;
  },
});
