/** Pages of a tree as LMDB lays them out (`MDB_page`, `MDB_node`), little-endian, checked before anything in them is believed. */

export interface TreeNode {
  key: Buffer;
  flags: number;
  /** The page below, if this is a node of a branch. */
  child: number;
  /** Bytes of the value, if this is a node of a leaf. */
  size: number;
  /** The value, or where it is if it has pages of its own. */
  data: Buffer;
}

export interface TreePage {
  isLeaf: boolean;
  nodes: TreeNode[];
}

/** Of `MDB_page_header`. */
export const pageHeader = Object.freeze({ number: 0, transaction: 8, flags: 18, lower: 20, upper: 22, pages: 20, length: 24 });
const pageFlags = Object.freeze({ branch: 1, leaf: 2, overflow: 4 });
/** Of `MDB_node`. */
const nodeHeader = Object.freeze({ low: 0, high: 2, flags: 4, keySize: 6, length: 8 });

export const nodeFlags = Object.freeze({ onOtherPages: 1, isDatabase: 2 });

/** Of `MDB_ovpage`: where a value with pages of its own is. */
const overflow = Object.freeze({ page: 0, pages: 16, length: 24 });

const nodeAt = (page: Buffer, at: number, isLeaf: boolean): TreeNode | undefined => {
  const key = at + nodeHeader.length;
  if (key > page.length) return undefined;
  const flags = page.readUInt16LE(at + nodeHeader.flags);
  const number = page.readUInt16LE(at + nodeHeader.low) + page.readUInt16LE(at + nodeHeader.high) * 2 ** 16;
  const value = key + page.readUInt16LE(at + nodeHeader.keySize);
  if (!isLeaf) return value > page.length ? undefined : { key: page.subarray(key, value), flags: 0, child: number + flags * 2 ** 32, size: 0, data: page.subarray(value, value) };
  const end = value + ((flags & nodeFlags.onOtherPages) === 0 ? number : overflow.length);
  return end > page.length ? undefined : { key: page.subarray(key, value), flags, child: 0, size: number, data: page.subarray(value, end) };
};

/** The nodes of a page of a tree; a text that says what is wrong with it. They share the page's memory. */
export const treePage = (page: Buffer, number: number, newest: bigint): TreePage | string => {
  const flags = page.readUInt16LE(pageHeader.flags);
  if (flags !== pageFlags.branch && flags !== pageFlags.leaf) return "is no page of a tree";
  if (page.readBigUInt64LE(pageHeader.number) !== BigInt(number)) return "bears the number of another page";
  if (page.readBigUInt64LE(pageHeader.transaction) > newest) return "is of a transaction that has not been";
  const [lower, upper] = [page.readUInt16LE(pageHeader.lower), page.readUInt16LE(pageHeader.upper)];
  if (lower % 2 !== 0 || lower > upper || upper > page.length - pageHeader.length) return "has no valid bounds";
  const nodes: TreeNode[] = [];
  for (let i = 0; i < lower; i += 2) {
    const offset = page.readUInt16LE(pageHeader.length + i);
    const node = offset < upper ? undefined : nodeAt(page, pageHeader.length + offset, flags === pageFlags.leaf);
    if (node === undefined) return `has an entry, number ${i / 2}, beyond its bounds`;
    nodes.push(node);
  }
  return { isLeaf: flags === pageFlags.leaf, nodes };
};

/** Where a value with pages of its own is; undefined if that cannot be. */
export const overflowOf = ({ data, size }: TreeNode, pageSize: number): { page: number; pages: number } | undefined => {
  const [page, pages] = [Number(data.readBigUInt64LE(overflow.page)), Number(data.readBigUInt64LE(overflow.pages))];
  // LMDB keeps the pages of a longer value that was there before.
  return pages * pageSize >= pageHeader.length + size && pages < 2 ** 32 ? { page, pages } : undefined;
};

/** Whether a page begins the value that a node says is there. */
export const isOverflowPage = (page: Buffer, number: number, pages: number): boolean =>
  page.readUInt16LE(pageHeader.flags) === pageFlags.overflow &&
  page.readBigUInt64LE(pageHeader.number) === BigInt(number) &&
  page.readUInt32LE(pageHeader.pages) === pages;
