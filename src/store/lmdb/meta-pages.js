// @ts-check
import { closeSync, openSync, readSync } from "node:fs";

/**
 * The two meta pages at the beginning of an LMDB file, which its transactions write in turn: the newer one says what the file holds.
 * JavaScript, as commit-thread.js reads them too.
 */

/** Of liblmdb's `MDB_page` and `MDB_meta`, little-endian. */
export const metaOffsets = Object.freeze({ magic: 24, pageSize: 48, freeRoot: 88, mainRoot: 136, transaction: 152, end: 160 });
export const magic = 0xbeefc0de;
const noPage = 0xffffffffffffffffn;

/**
 * @typedef {object} Meta
 * @property {number} pageSize Bytes.
 * @property {bigint} transaction Number of the transaction that wrote it.
 * @property {bigint[]} roots Pages at which the trees of the file begin.
 */

/**
 * @param {number} file
 * @param {number} position
 * @returns {Meta | undefined} Undefined if it is no meta page.
 */
export const readMeta = (file, position) => {
  const page = Buffer.alloc(metaOffsets.end);
  if (readSync(file, page, 0, page.length, position) < page.length || page.readUInt32LE(metaOffsets.magic) !== magic) return undefined;
  return {
    pageSize: page.readUInt32LE(metaOffsets.pageSize),
    transaction: page.readBigUInt64LE(metaOffsets.transaction),
    roots: [page.readBigUInt64LE(metaOffsets.freeRoot), page.readBigUInt64LE(metaOffsets.mainRoot)].filter((root) => root !== noPage),
  };
};

/**
 * The one that says what the file holds.
 * @param {Meta} one
 * @param {Meta} other
 */
export const newerMeta = (one, other) => (one.transaction > other.transaction ? one : other);

/**
 * The number of the newest transaction of an LMDB file. To be called within a write transaction, while nobody else writes.
 * @param {string} path
 */
export const newestTransaction = (path) => {
  const file = openSync(path, "r");
  try {
    const first = readMeta(file, 0);
    const second = first && readMeta(file, first.pageSize);
    if (first === undefined || second === undefined) throw new Error(`${path} is damaged: its meta pages cannot be read`);
    return newerMeta(first, second).transaction;
  } finally {
    closeSync(file);
  }
};
