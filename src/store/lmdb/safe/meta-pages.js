// @ts-check
import { closeSync, fstatSync, ftruncateSync, openSync, readSync } from "node:fs";

/**
 * The two meta pages at the beginning of an LMDB file, which its transactions write in turn: the newer one says what the file holds.
 * JavaScript, as commit-thread.js reads them too.
 */

/** Of liblmdb's `MDB_page` and `MDB_meta`, little-endian. */
export const metaOffsets = Object.freeze({
  pageFlags: 18,
  magic: 24,
  version: 28,
  mapSize: 40,
  pageSize: 48,
  freeTree: 48,
  freeRoot: 88,
  mainTree: 96,
  mainRoot: 136,
  lastPage: 144,
  transaction: 152,
  end: 160,
});
export const magic = 0xbeefc0de;

const isMeta = 8;
/** Of the layout that liblmdb writes here. lmdb-js takes the process down at a file of another version. */
const dataVersion = 2;
/**
 * What the tree of free pages says: that its keys are numbers; and of the whole file, that it is one without a folder, and how lmdb-js
 * syncs it.
 */
const freeFlags = Object.freeze({ numbers: 0x08, noFolder: 0x4000, overlappingSync: 0x1000 });
const noPage = 0xffffffffffffffffn;

/** LMDB's largest page, and the smallest that it makes. */
const pageSizes = Object.freeze({ least: 256, most: 65_536 });

/**
 * @typedef {object} Tree Of liblmdb's `MDB_db`: a database, or the list of free pages.
 * @property {number} flags
 * @property {number} depth Levels of pages.
 * @property {number} branchPages
 * @property {number} leafPages
 * @property {number} overflowPages
 * @property {number} entries
 * @property {number | undefined} root Page at which it begins; undefined if it is empty.
 */

/** Bytes of a `MDB_db`. */
export const treeLength = 48;

/** @param {Buffer} bytes @param {number} [at] @returns {Tree} */
export const treeAt = (bytes, at = 0) => {
  const root = bytes.readBigUInt64LE(at + 40);
  return {
    flags: bytes.readUInt16LE(at + 4),
    depth: bytes.readUInt16LE(at + 6),
    branchPages: Number(bytes.readBigUInt64LE(at + 8)),
    leafPages: Number(bytes.readBigUInt64LE(at + 16)),
    overflowPages: Number(bytes.readBigUInt64LE(at + 24)),
    entries: Number(bytes.readBigUInt64LE(at + 32)),
    root: root === noPage ? undefined : Number(root),
  };
};

/**
 * @typedef {object} Meta
 * @property {number} pageSize Bytes.
 * @property {bigint} transaction Number of the transaction that wrote it.
 * @property {number} mapSize Bytes that the file may have.
 * @property {number} lastPage Number of the last page that the file has ever had.
 * @property {Tree} free Of the free pages.
 * @property {Tree} main Of the databases, by name.
 */

/** @param {number} size */
const isPageSize = (size) => size >= pageSizes.least && size <= pageSizes.most && (size & (size - 1)) === 0;

/**
 * @param {number} file
 * @param {number} position
 * @returns {Meta | undefined} Undefined if it is no meta page.
 */
export const readMeta = (file, position) => {
  const page = Buffer.alloc(metaOffsets.end);
  if (readSync(file, page, 0, page.length, position) < page.length) return undefined;
  const pageSize = page.readUInt32LE(metaOffsets.pageSize);
  const hasVersion = page.readUInt32LE(metaOffsets.magic) === magic && page.readUInt16LE(metaOffsets.version) === dataVersion;
  const isOne = hasVersion && (page.readUInt16LE(metaOffsets.pageFlags) & isMeta) !== 0;
  const [free, main] = [treeAt(page, metaOffsets.freeTree), treeAt(page, metaOffsets.mainTree)];
  // At a flag that it does not have here, such as that of an encrypted file, lmdb-js takes the process down.
  const hasFlags = (free.flags & ~(freeFlags.noFolder | freeFlags.overlappingSync)) === freeFlags.numbers && main.flags === 0;
  if (!isOne || !hasFlags || !isPageSize(pageSize)) return undefined;
  return {
    pageSize,
    transaction: page.readBigUInt64LE(metaOffsets.transaction),
    mapSize: Number(page.readBigUInt64LE(metaOffsets.mapSize)),
    lastPage: Number(page.readBigUInt64LE(metaOffsets.lastPage)),
    free,
    main,
  };
};

/**
 * The one that says what the file holds.
 * @param {Meta} one
 * @param {Meta} other
 */
export const newerMeta = (one, other) => (one.transaction >= other.transaction ? one : other);

/**
 * @template T
 * @param {string} path
 * @param {"r" | "r+"} flags
 * @param {(meta: Meta, file: number) => T} use
 */
const withNewest = (path, flags, use) => {
  const file = openSync(path, flags);
  try {
    const first = readMeta(file, 0);
    const second = first && readMeta(file, first.pageSize);
    if (first === undefined || second === undefined) throw new Error(`${path} is damaged: its meta pages cannot be read`);
    return use(newerMeta(first, second), file);
  } finally {
    closeSync(file);
  }
};

/** Bytes that the file has if it has all its pages. @param {Pick<Meta, "lastPage" | "pageSize">} meta */
export const wholeLength = ({ lastPage, pageSize }) => (lastPage + 1) * pageSize;

/**
 * The number of the newest transaction of an LMDB file.
 * @param {string} path
 */
export const newestTransaction = (path) => withNewest(path, "r", ({ transaction }) => transaction);

/**
 * The same, and makes the file as long as it says it is. LMDB does not write pages that a transaction has used and freed again: if they
 * are the last, the file ends before them, as if it had been cut off. To be called within a write transaction, while nobody else writes.
 * @param {string} path
 */
export const newestAtFullLength = (path) => {
  const { isWhole, transaction } = withNewest(path, "r", (meta, file) => ({ isWhole: fstatSync(file).size >= wholeLength(meta), transaction: meta.transaction }));
  // Opened for writing only then: a read-only file system can still be read.
  if (!isWhole) withNewest(path, "r+", (meta, file) => ftruncateSync(file, wholeLength(meta)));
  return transaction;
};
