import { hash } from "node:crypto";

// The registry of what is kept where in the LMDB environment: databases by name, and how their keys are encoded.
// Keys are bytes that compare as what they stand for.

/** How a store is laid out. A store that does not name this number under `formatKey` is refused. */
export const layoutVersion = 2;

/**
 * Databases. `record`s are MessagePack, as are `digits`, which begin with a run of bytes (codec.ts); `raw` values are bytes, and so are
 * those of a `view`, which last until the next read (environment.ts).
 */
export const databases = {
  /**
   * What is known of the whole: `store` (`formatKey`), `written by` (rules-fingerprint.ts), `state`, `ranking`, `complete`, `rebuild`
   * (rebuild.ts), `disowned`, `sets` (account-indexes.ts).
   */
  meta: "record",
  /** Height -> block. */
  blocks: "digits",
  /** Height -> number of its first transaction, and how many it has. */
  blockTransactions: "raw",
  /** Number of a transaction in the chain, from 0 -> transaction. */
  transactions: "digits",
  /** Address -> wallet. */
  wallets: "record",
  /** Public key -> address. */
  publicKeys: "raw",
  /** Username -> address. */
  usernames: "raw",
  /** Second public key + address -> address. */
  secondPublicKeys: "raw",
  /** Public key -> what a delegate has beyond its wallet. */
  delegates: "record",
  /** Round -> its active delegates by rank. */
  rounds: "record",
  /** Lock transaction id -> open lock. */
  locks: "record",
  /** Hour, group, type -> fees paid in that hour. */
  fees: "record",
  /** Appended lists: owner, list, piece -> its numbers. In logs of entries: owner, list, ordinal -> number (posting-pieces.js). */
  lists: "raw",
  /** Counted sets: set, level, key -> value (level 0) or count. */
  sets: "raw",
  /** Height, piece -> a piece of the block's undo record (undo.ts). */
  undo: "raw",
  /**
   * Height -> digest of the state after that block (32 bytes), then the block's id: for the tip, and as many blocks before it as can be
   * reverted.
   */
  digests: "raw",
  /** What blocks have overwritten, by kind, number and height (history-rows.ts). */
  history: "view",
  /**
   * Blocks taken off the chain, and blocks that this node applied at the tip: when, and how often before (follow/orphans.ts). Survives a
   * rebuild.
   */
  orphans: "record",
} as const;

export type DatabaseName = keyof typeof databases;

/** Whether the values of a database are bytes as they are. */
export const holdsBytes = (database: DatabaseName): boolean => databases[database] === "raw" || databases[database] === "view";

/** Appended lists; the length of each is kept with its owner. */
export const lists = {
  /** By wallet number: transactions it sent. */
  sent: 1,
  /** By wallet number: transactions it is a recipient of. */
  received: 2,
  /** By wallet number: both of the above, each transaction once. */
  owned: 3,
  /** By wallet number: votes it cast. */
  voted: 4,
  /** By place of the kind in `StateRecord.kinds`: transactions. */
  kind: 5,
  /** By wallet number of the generator: heights. */
  forged: 6,
} as const;

/** Counted sets. */
export const sets = {
  walletsByBalance: 1,
  walletsByAddress: 2,
  walletsByPublicKey: 3,
  /** Delegate's wallet number, then as `walletsByBalance`. */
  votersByBalance: 4,
  walletsByNonce: 5,
  transactionsByTimestamp: 10,
  transactionsByAmount: 11,
  transactionsByFee: 12,
  /** Id -> number. */
  transactionsById: 13,
  /** Digest of the text, for transactions that have one. */
  transactionsByVendorField: 14,
  transactionsByNonce: 15,
  /** Digest of a recipient's address that had no wallet yet. */
  transactionsByStranger: 16,
  blocksByVersion: 20,
  /** Id -> height. */
  blocksById: 21,
  blocksByNumberOfTransactions: 22,
  blocksByTotalAmount: 23,
  blocksByTotalFee: 24,
  blocksByReward: 25,
  blocksByPayloadLength: 26,
  blocksByPayloadHash: 27,
  blocksBySignature: 28,
  /** Locks: `account-indexes.ts` says what each key is. */
  locksById: 40,
  locksByTimestamp: 41,
  locksByAmount: 42,
  locksByExpirationValue: 43,
  /** What the expiration is compared with, time or height, then its value. */
  locksByExpiry: 44,
  locksBySenderPublicKey: 45,
  locksBySenderId: 46,
  locksByRecipientId: 47,
  locksBySecretHash: 48,
  locksByVendorField: 49,
  locksByExpirationType: 50,
} as const;

/** Bytes of the longest key that LMDB accepts. */
const longestKey = 1978;

/** Whether LMDB accepts a key. Clients ask for empty and for overlong ones. */
export const canBeKey = (key: Buffer): boolean => key.length > 0 && key.length <= longestKey;

export const textKey = (value: string): Buffer => Buffer.from(value, "utf8");

/** In `meta`, since the store was made: its layout, and its network. Stores from before layout 1 have `format` in its place. */
export const formatKey = textKey("store");

export interface Format {
  layout: number;
  nethash: string;
}

export const numberKey = (value: number): Buffer => {
  const key = Buffer.allocUnsafe(4);
  key.writeUInt32BE(value);
  return key;
};

export const textDigestLength = 16;

/** Stands for a text of any length. No collision is known. */
export const textDigest = (text: string): Buffer => hash("sha256", text, "buffer").subarray(0, textDigestLength);

/** Ids and public keys are nearly always hex in lower case, which is half as long as bytes. Anything else is kept as text. */
export const idKey = (id: string): Buffer => (/^(?:[0-9a-f]{2}){32,33}$/.test(id) ? Buffer.from(id, "hex") : Buffer.from(`~${id}`, "utf8"));

/** The largest whose length one byte can hold. No amount of a chain comes near; what clients ask for beyond it is cut to it. */
const largestMagnitude = (1n << 1008n) - 1n;

/** Digits of a magnitude in base 256, the highest first; at least one. */
const digitsOf = (magnitude: bigint): Buffer => {
  if (magnitude < 0x1_0000_0000_0000_0000n) {
    const eight = Buffer.allocUnsafe(8);
    eight.writeBigUInt64BE(magnitude);
    let first = 0;
    while (first < 7 && eight[first] === 0) first++;
    return first === 0 ? eight : eight.subarray(first);
  }
  const hex = magnitude.toString(16);
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex");
};

/** Sorts by signed value: one byte for sign and length, then the magnitude, inverted below zero. */
export const amountKey = (value: bigint): Buffer => {
  const absolute = value < 0n ? -value : value;
  const digits = digitsOf(absolute < largestMagnitude ? absolute : largestMagnitude);
  const key = Buffer.allocUnsafe(1 + digits.length);
  key[0] = value < 0n ? 0x80 - digits.length : 0x80 + digits.length;
  for (let i = 0; i < digits.length; i++) key[i + 1] = value < 0n ? ~(digits[i] ?? 0) & 0xff : (digits[i] ?? 0);
  return key;
};

/** Seconds in a bucket of fee statistics. */
export const feeBucketSeconds = 3600;

export const feeKey = (bucket: number, typeGroup: number, type: number): Buffer => {
  const key = Buffer.allocUnsafe(12);
  key.writeUInt32BE(bucket);
  key.writeUInt32BE(typeGroup, 4);
  key.writeUInt32BE(type, 8);
  return key;
};

/** The number that a key ends with. */
export const numberAtEnd = (key: Buffer): number => key.readUInt32BE(key.length - 4);

/** Pieces of one height are adjacent. */
export const undoKey = (height: number, piece: number): Buffer => Buffer.concat([numberKey(height), numberKey(piece)]);

export const parseFeeKey = (key: Buffer): { bucket: number; typeGroup: number; type: number } => ({
  bucket: key.readUInt32BE(0),
  typeGroup: key.readUInt32BE(4),
  type: key.readUInt32BE(8),
});
