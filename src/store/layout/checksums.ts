import { crc32 } from "node:zlib";
import { type DatabaseName, databases, textKey } from "./keys.js";
import { listKey, pieceLength, pieceParts } from "./posting-pieces.js";

// Checksums of what the store holds, so that damage is found that leaves everything readable: a digit of a balance, a byte of a signature.
// LMDB has none. For each range of keys, the store keeps how many entries it has, and the sum of their hashes: what is written adds to it,
// what is replaced or removed is taken off. Of appended lists, each number is an entry, as in logs of entries.
//
// They are kept in the database `meta`. Deliveries, changes that have not been told yet, and what is known of the store as a whole have
// none; rows of blocks taken off the chain carry their own (`rowChecksum`), as those of webhooks do (row-encoding.ts).

/** Noted in `meta`: that checksums are kept (true). */
export const checksumsKey = textKey("checksums kept");
/** What is noted there while the old chain is removed for a rebuild: a text, which no flipped bit makes of `true`. */
export const checksumsOfOldChain = "being removed";

/** What the blocks write into `meta`, and is not about to be removed. */
const summedOfMeta: readonly string[] = ["state", "ranking"];

/** Whether a database's entries are summed: all of them, those that blocks write, or none. */
export const hasChecksum = (database: DatabaseName, key: Buffer): boolean =>
  database === "meta" ? key.length <= 7 && summedOfMeta.includes(key.toString("latin1")) : database !== "orphans";

/**
 * Bytes of a key that name its range: 256 blocks, transactions, rounds, hours or undo records; one counted set, one kind of history. Other
 * databases are one range each.
 */
const rangeLengths: Readonly<Partial<Record<DatabaseName, number>>> = { blocks: 3, blockTransactions: 3, transactions: 3, rounds: 3, fees: 3, undo: 3, sets: 1, history: 1 };

/** Number of the range that a key is in: the first bytes of its key. */
export const rangeOf = (database: DatabaseName, key: Buffer): number => {
  let range = 0;
  // A damaged key may be shorter.
  for (let at = 0; at < (rangeLengths[database] ?? 0); at++) range = range * 256 + (key[at] ?? 0);
  return range;
};

const prefix = "checksum ";

/** Key of the checksum of a range. */
export const checksumKey = (database: DatabaseName, range: number): Buffer => {
  const length = rangeLengths[database] ?? 0;
  const key = Buffer.alloc(prefix.length + database.length + 1 + length);
  key.write(`${prefix}${database} `, "latin1");
  if (length > 0) key.writeUIntBE(range, key.length - length, length);
  return key;
};

/** Undefined if it is not the key of a checksum. */
export const parseChecksumKey = (key: Buffer): { database: DatabaseName; range: Buffer } | undefined => {
  const [first, database = ""] = key.toString("latin1").split(" ", 2);
  if (first !== prefix.trim() || !(database in databases)) return undefined;
  return { database: database as DatabaseName, range: key.subarray(prefix.length + database.length + 1) };
};

/**
 * Bytes from which zlib's function is the faster one: most entries are short, and a call out of JavaScript costs as much as so many bytes.
 */
const longFrom = 80;

/** A step of MurmurHash3 (32 bits): for any `hash`, different words give different results. */
const stirred = (hash: number, word: number): number => {
  const product = Math.imul(word, 0xcc9e2d51);
  const bits = hash ^ Math.imul((product << 15) | (product >>> 17), 0x1b873593);
  return (Math.imul((bits << 13) | (bits >>> 19), 5) + 0xe6546b64) | 0;
};

const shortHash = (bytes: Buffer, seed: number): number => {
  const { length } = bytes;
  let hash = seed;
  let at = 0;
  for (; at + 4 <= length; at += 4) {
    hash = stirred(hash, (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24));
  }
  let rest = length;
  for (; at < length; at++) rest = (rest << 8) | (bytes[at] as number);
  return stirred(hash, rest);
};

const bytesHash = (bytes: Buffer, seed: number): number => (bytes.length < longFrom ? shortHash(bytes, seed) : crc32(bytes, seed >>> 0));

/** The end of MurmurHash3: so that hashes that differ in a few bits do not make up for one another in a sum. */
const mixed = (bits: number): number => {
  let hash = bits;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
};

/** The first half of an entry's hash: of its key. */
export const keyHashOf = (key: Buffer): number => bytesHash(key, 0);

export const hashOf = (keyHash: number, value: Buffer): number => mixed(bytesHash(value, keyHash));

/** The numbers that a piece of an appended list has, as entries. */
export const numbersOf = (key: Buffer, piece: Buffer): { key: Buffer; value: Buffer }[] => {
  const { owner, list, piece: place } = pieceParts(key);
  const size = 4;
  return Array.from({ length: Math.ceil(piece.length / size) }, (_, at) => ({ key: listKey(list, owner, place * pieceLength + at), value: piece.subarray(at * size, (at + 1) * size) }));
};

const modulus = 2 ** 48;
const sumLength = 6;

/** MessagePack's mark of so many bytes, so that all of `meta` can be read in one way. */
const head = Buffer.from([0xc4, 2 * sumLength]);

export interface Checksum {
  sum: number;
  count: number;
}

/** Adds the hash of an entry to a checksum (`by` 1), or takes it off (-1). */
export const changeChecksum = (checksum: Checksum, hash: number, by: 1 | -1): void => {
  const sum = checksum.sum + by * hash;
  checksum.sum = sum < 0 ? sum + modulus : sum >= modulus ? sum - modulus : sum;
  checksum.count += by;
};

export const addChecksums = (one: Checksum, other: Checksum): Checksum => ({ sum: (one.sum + other.sum) % modulus, count: one.count + other.count });

/** That of nothing, if there are no bytes. */
export const readChecksum = (bytes: Buffer | null): Checksum =>
  bytes === null
    ? { sum: 0, count: 0 }
    : { sum: bytes.readUIntBE(head.length, sumLength), count: bytes.readUIntBE(head.length + sumLength, sumLength) };

export const checksumBytes = ({ sum, count }: Checksum): Buffer => {
  const bytes = Buffer.alloc(head.length + 2 * sumLength);
  head.copy(bytes);
  bytes.writeUIntBE(sum, head.length, sumLength);
  bytes.writeUIntBE(count, head.length + sumLength, sumLength);
  return bytes;
};

/** A value of a row, as it is and as it is read again: bytes in any kind of array, numbers of any kind by their digits. */
const valueText = function (this: Record<string, unknown>, name: string, value: unknown): unknown {
  const own = this[name];
  if (own instanceof Uint8Array) return Buffer.from(own).toString("hex");
  return typeof value === "bigint" || typeof value === "number" ? String(value) : value;
};

/** For rows that are written one by one, beside the blocks, and so are in no sum: each carries its own checksum, as its last value. */
export const rowChecksum = (key: Buffer, values: readonly unknown[]): number =>
  hashOf(keyHashOf(key), Buffer.from(JSON.stringify(values, valueText)));
