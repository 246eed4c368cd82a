import type { Block, Lock, Tip, Transaction } from "../../types/chain.js";
import type { WalletDraft } from "../../types/transaction-type.js";

/** Records as they are stored: the values of a fixed list of members, so that no record repeats their names. */

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

/** Undefined members are absent after unpacking; trailing ones take no room. `start`: number of values before the members. */
const codecOf = <T extends object>(members: readonly (keyof T & string)[], start = 0): Codec<T> => ({
  pack: (value) => {
    const values: unknown[] = members.map((member) => value[member]);
    while (values.length > 0 && values[values.length - 1] === undefined) values.pop();
    return values;
  },
  unpack: (values) => {
    const value: Record<string, unknown> = {};
    for (let i = start; i < values.length; i++) {
      const member = members[i - start];
      if (member !== undefined && values[i] !== undefined) value[member] = values[i];
    }
    return value as T;
  },
});

/** A member of hexadecimal digits, and how many it has. */
type Digits<T> = readonly [member: keyof T & string, count: number];

/** The bytes of a text of hex digits in lower case; undefined for any other text. */
const hexBytes = (text: string): Buffer | undefined => (text.length % 2 === 0 && /^[0-9a-f]+$/.test(text) ? Buffer.from(text, "hex") : undefined);

/** The texts of digits of a record, as they were packed. The last one may be absent. */
const unpackDigits = (packed: unknown, digits: readonly (readonly [member: string, count: number])[]): string[] => {
  if (!(packed instanceof Uint8Array)) return packed as string[];
  const all = (Buffer.isBuffer(packed) ? packed : Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength)).toString("hex");
  const texts: string[] = [];
  let at = 0;
  for (const [, count] of digits) texts.push(all.slice(at, (at += count)));
  if (at < all.length) texts.push(all.slice(at));
  return texts;
};

/**
 * As `codecOf`, for records that are mostly long texts of hex digits: these are kept together as one run of bytes, half as long.
 * `last` has the remaining digits, or is absent. If any of them is something else (the first networks numbered their blocks), they
 * are kept as they are, in an array.
 */
const hexCodecOf = <T extends object>(digits: readonly Digits<T>[], last: keyof T & string, members: readonly (keyof T & string)[]): Codec<T> => {
  const rest = codecOf<T>(members, 1);
  const asBytes = (value: T): Buffer | undefined => {
    let text = "";
    for (const [member, count] of digits) {
      const part = value[member];
      if (typeof part !== "string" || part.length !== count) return undefined;
      text += part;
    }
    const end = value[last];
    if (end === undefined) return hexBytes(text);
    return typeof end === "string" && end !== "" ? hexBytes(text + end) : undefined;
  };
  const asTexts = (value: T): unknown[] => [...digits.map(([member]) => value[member]), value[last]];

  return {
    pack: (value) => [asBytes(value) ?? asTexts(value), ...rest.pack(value)],
    unpack: (values) => {
      const value = rest.unpack(values) as Record<string, unknown>;
      const texts = unpackDigits(values[0], digits);
      digits.forEach(([member], i) => (value[member] = texts[i]));
      const end = texts[digits.length];
      if (end !== undefined) value[last] = end;
      return value as T;
    },
  };
};

const hashDigits = 64;
const keyDigits = 66;

export const blockCodec = hexCodecOf<Block>(
  [
    ["id", hashDigits],
    ["previousBlock", hashDigits],
    ["payloadHash", hashDigits],
    ["generatorPublicKey", keyDigits],
  ],
  "blockSignature",
  ["version", "height", "timestamp", "numberOfTransactions", "totalAmount", "totalFee", "reward", "payloadLength"],
);

const transactionDigits: readonly Digits<Transaction>[] = [
  ["id", hashDigits],
  ["blockId", hashDigits],
  ["senderPublicKey", keyDigits],
];

const transactionMembers = hexCodecOf<Transaction>(transactionDigits, "signature", [
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
]);

/** What `transactionMembers` packs. */
type PackedTransaction = [
  digits: unknown,
  version: number,
  typeGroup: number,
  type: number,
  timestamp: number,
  senderId: string,
  amount: bigint,
  fee: bigint,
  blockHeight: number,
  sequence: number,
  recipientId?: string,
  nonce?: bigint,
  network?: number,
  expiration?: number,
  vendorField?: string,
  asset?: Record<string, unknown>,
  secondSignature?: string,
  signatures?: string[],
];

/**
 * Unpacks the members by name, not in a loop: that is faster in itself, and so is all that is done with objects of few shapes. A page
 * has up to a hundred transactions.
 */
export const transactionCodec: Codec<Transaction> = {
  pack: transactionMembers.pack,
  unpack: (values) => {
    const packed = values as PackedTransaction;
    const [digits, version, typeGroup, type, timestamp, senderId, amount, fee, blockHeight, sequence, recipientId, nonce] = packed;
    const [id = "", blockId = "", senderPublicKey = "", signature] = unpackDigits(digits, transactionDigits);
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
    const [, , , , , , , , , , , , network, expiration, vendorField, asset, secondSignature, signatures] = packed;
    if (recipientId !== undefined) transaction.recipientId = recipientId;
    if (nonce !== undefined) transaction.nonce = nonce;
    if (signature !== undefined) transaction.signature = signature;
    if (network !== undefined) transaction.network = network;
    if (expiration !== undefined) transaction.expiration = expiration;
    if (vendorField !== undefined) transaction.vendorField = vendorField;
    if (asset !== undefined) transaction.asset = asset;
    if (secondSignature !== undefined) transaction.secondSignature = secondSignature;
    if (signatures !== undefined) transaction.signatures = signatures;
    return transaction;
  },
};

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

