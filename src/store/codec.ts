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

/** A member of hexadecimal digits, and how many it has. */
type Digits<T> = readonly [member: keyof T & string, count: number];

/** The bytes of a text of hex digits in lower case; undefined for any other text. */
const hexBytes = (text: string): Buffer | undefined => (text.length % 2 === 0 && /^[0-9a-f]+$/.test(text) ? Buffer.from(text, "hex") : undefined);

const hexOf = (bytes: Uint8Array): string => (Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)).toString("hex");

/**
 * Packs as `codecOf` does, for records that are mostly long texts of hex digits: these are kept together as one run of bytes, half as
 * long, before all other members. `last` has the remaining digits, or is absent. If any of them is something else (the first networks
 * numbered their blocks), they are kept as they are, in an array.
 */
const packingDigits = <T extends object>(digits: readonly Digits<T>[], last: keyof T & string, members: readonly (keyof T & string)[]): Codec<T>["pack"] => {
  const rest = codecOf<T>(members);
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
  return (value) => [asBytes(value) ?? asTexts(value), ...rest.pack(value)];
};

/** The texts that `packingDigits` has packed; the last one may be absent. */
const unpackDigits = (packed: unknown, digits: readonly (readonly [member: string, count: number])[]): unknown[] => {
  if (!(packed instanceof Uint8Array)) return packed as unknown[];
  const all = hexOf(packed);
  const texts: string[] = [];
  let at = 0;
  for (const [, count] of digits) texts.push(all.slice(at, (at += count)));
  if (at < all.length) texts.push(all.slice(at));
  return texts;
};

const hashDigits = 64;
const keyDigits = 66;

const blockDigits: readonly Digits<Block>[] = [
  ["id", hashDigits],
  ["previousBlock", hashDigits],
  ["payloadHash", hashDigits],
  ["generatorPublicKey", keyDigits],
];

/** What is packed of a block. */
type PackedBlock = [
  digits: unknown,
  version: number,
  height: number,
  timestamp: number,
  numberOfTransactions: number,
  totalAmount: bigint,
  totalFee: bigint,
  reward: bigint,
  payloadLength: number,
];

/** Blocks and transactions are unpacked by name: a loop over names would take twice as long, and a page has up to a hundred of them. */
export const blockCodec: Codec<Block> = {
  pack: packingDigits<Block>(blockDigits, "blockSignature", [
    "version",
    "height",
    "timestamp",
    "numberOfTransactions",
    "totalAmount",
    "totalFee",
    "reward",
    "payloadLength",
  ]),
  unpack: (values) => {
    const [digits, version, height, timestamp, numberOfTransactions, totalAmount, totalFee, reward, payloadLength] = values as PackedBlock;
    const [id, previousBlock, payloadHash, generatorPublicKey, blockSignature] = unpackDigits(digits, blockDigits) as [string, string | null, string, string, string];
    return {
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
    };
  },
};

const transactionDigits: readonly Digits<Transaction>[] = [
  ["id", hashDigits],
  ["blockId", hashDigits],
  ["senderPublicKey", keyDigits],
];

/** What is packed of a transaction. */
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

/** A fork's asset may hold bytes. Those that were read are copied, as the next read overwrites them. */
const copyBytesIn = (asset: Record<string, unknown>): void => {
  for (const name in asset) {
    const member = asset[name];
    if (member instanceof Uint8Array) asset[name] = Uint8Array.from(member);
    else if (typeof member === "object" && member !== null) copyBytesIn(member as Record<string, unknown>);
  }
};

export const transactionCodec: Codec<Transaction> = {
  pack: packingDigits<Transaction>(transactionDigits, "signature", [
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
  ]),
  unpack: (values) => {
    const [
      digits,
      version,
      typeGroup,
      type,
      timestamp,
      senderId,
      amount,
      fee,
      blockHeight,
      sequence,
      recipientId,
      nonce,
      network,
      expiration,
      vendorField,
      asset,
      secondSignature,
      signatures,
    ] = values as PackedTransaction;
    const [id, blockId, senderPublicKey, signature] = unpackDigits(digits, transactionDigits) as [string, string, string, string?];
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
      publicKey: hexOf(publicKey),
      username,
      voteBalance,
    })),
};

