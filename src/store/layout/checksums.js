// @ts-check
import { crc32 } from "node:zlib";

/**
 * Checksums of what the store holds, so that damage is found that leaves everything readable: a digit of a balance, a byte of a signature.
 * LMDB has none. For each range of keys, the store keeps how many entries it has, and the sum of their hashes: what is written adds to it,
 * what is replaced or removed is taken off.
 *
 * They are kept in the database `meta`, by the thread that commits blocks, in the same transaction. JavaScript, as commit-thread.js
 * imports it. Webhooks, blocks taken off the chain, changes that have not been told yet, and what is known of the store as a whole have none.
 */

/** Noted in `meta` of a store that has kept checksums since its first block, as those of earlier versions have not. */
export const checksumsKey = Buffer.from("sums kept");

/** Bytes of a key that name its range: 256 blocks, transactions, rounds, hours or undo records; one counted set, one kind of history. Other databases are one range each. */
const rangeLengths = Object.freeze(
  /** @type {Record<string, number>} */ ({ blocks: 3, blockTransactions: 3, transactions: 3, rounds: 3, fees: 3, undo: 3, sets: 1, history: 1 }),
);

/** What the blocks write into `meta`, and is not about to be removed. */
const summedOfMeta = Object.freeze(["state", "ranking"]);

/** @param {string} database @param {Buffer} key */
export const hasChecksum = (database, key) => (database !== "meta" && database !== "orphans") || summedOfMeta.includes(key.toString("latin1"));

/** @param {string} database @param {Buffer} key @returns {Buffer} First bytes of the keys of the range that a key is in. */
export const rangeOf = (database, key) => key.subarray(0, rangeLengths[database] ?? 0);

const prefix = "sum ";

/** @param {string} database @param {Buffer} range @returns {Buffer} Key of the checksum of a range. */
export const checksumKey = (database, range) => Buffer.concat([Buffer.from(`${prefix}${database} `), range]);

/** @param {Buffer} key @returns {{ database: string, range: Buffer } | undefined} Undefined if it is not that of a checksum. */
export const parseChecksumKey = (key) => {
  const [first, database] = key.toString("latin1").split(" ", 2);
  if (first !== prefix.trim() || database === undefined || key.equals(checksumsKey)) return undefined;
  return { database, range: key.subarray(prefix.length + database.length + 1) };
};

/** The end of MurmurHash3 (32 bits): so that hashes that differ in a few bits do not make up for one another in a sum. @param {number} bits */
const mixed = (bits) => {
  let hash = bits;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
};

/** @param {Buffer} key @param {Buffer} value */
export const hashOf = (key, value) => mixed(crc32(value, (crc32(key) ^ key.length) >>> 0));

const modulus = 2 ** 48;
const sumLength = 6;

/** MessagePack's mark of so many bytes, so that all of `meta` can be read in one way. */
const head = Buffer.from([0xc4, 2 * sumLength]);

/**
 * @typedef {object} Checksum
 * @property {number} sum
 * @property {number} count
 */

/** @param {Checksum} one @param {Checksum} other @returns {Checksum} */
export const addChecksums = (one, other) => ({ sum: (one.sum + other.sum + modulus) % modulus, count: one.count + other.count });

/** @param {Buffer | undefined} bytes @returns {Checksum} That of nothing, if there are no bytes. */
export const readChecksum = (bytes) =>
  bytes === undefined ? { sum: 0, count: 0 } : { sum: bytes.readUIntBE(head.length, sumLength), count: bytes.readUIntBE(head.length + sumLength, sumLength) };

/** @param {Checksum} checksum */
const bytesOf = ({ sum, count }) => {
  const bytes = Buffer.alloc(head.length + 2 * sumLength);
  head.copy(bytes);
  bytes.writeUIntBE(sum, head.length, sumLength);
  bytes.writeUIntBE(count, head.length + sumLength, sumLength);
  return bytes;
};

/** @typedef {Pick<import("lmdb").Database<Buffer, Buffer>, "get" | "putSync" | "removeSync">} Database */

/**
 * Databases that keep the checksums of a store, in one transaction: `of` gives each, `flush` writes the checksums. A store that was
 * begun without them gets none.
 * @param {Database} meta
 */
export const createChecksums = (meta) => {
  /** @type {Map<string, { key: Buffer } & Checksum>} */
  const changes = new Map();
  const areKept = meta.get(checksumsKey) !== undefined;

  /** @param {string} database @param {Buffer} key @param {Buffer} value @param {1 | -1} by */
  const change = (database, key, value, by) => {
    const name = checksumKey(database, rangeOf(database, key));
    const text = name.toString("latin1");
    const before = changes.get(text) ?? { key: name, sum: 0, count: 0 };
    changes.set(text, { key: name, ...addChecksums(before, { sum: by * hashOf(key, value), count: by }) });
  };

  /** @param {string} name @param {Database} database @param {Buffer} key */
  const takeOff = (name, database, key) => {
    const before = database.get(key);
    if (before !== undefined) change(name, key, before, -1);
  };

  return {
    /** @param {string} name @param {Database} database @returns {Database} */
    of: (name, database) =>
      areKept
        ? {
            get: database.get.bind(database),
            putSync: (key, value) => {
              if (hasChecksum(name, key)) {
                takeOff(name, database, key);
                change(name, key, value, 1);
              }
              return database.putSync(key, value);
            },
            removeSync: (key) => {
              if (hasChecksum(name, key)) takeOff(name, database, key);
              return database.removeSync(key);
            },
          }
        : database,
    flush: () => {
      for (const { key, sum, count } of changes.values()) {
        const after = addChecksums(readChecksum(meta.get(key)), { sum, count });
        if (after.count === 0) meta.removeSync(key);
        else meta.putSync(key, bytesOf(after));
      }
    },
  };
};
