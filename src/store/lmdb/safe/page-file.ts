import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { withoutTrailing } from "../../../text/digits.js";
import { type Meta, newerMeta, readMeta, type Tree, treeAt, treeLength } from "./meta-pages.js";

/**
 * An LMDB file, read page by page without LMDB: that maps its file and trusts it, so that a page that is missing or damaged takes the
 * process down.
 */
export interface PageFile {
  readonly path: string;
  /** The meta pages, in their order; undefined where one is damaged. */
  metas(): [first: Meta | undefined, second: Meta | undefined];
  /** Bytes. */
  size(): number;
  /** Fills a buffer with what begins at a page. False if the file ends before. */
  read(page: number, into: Buffer, pageSize: number): boolean;
  close(): void;
}

/** @throws Error with the system's code */
export const openPageFile = (path: string): PageFile => {
  const file = openSync(path, "r");
  return {
    path,
    metas: () => {
      const first = readMeta(file, 0);
      return [first, first && readMeta(file, first.pageSize)];
    },
    size: () => fstatSync(file).size,
    read: (page, into, pageSize) => {
      for (let done = 0; done < into.length; ) {
        const length = readSync(file, into, done, into.length - done, page * pageSize + done);
        if (length === 0) return false;
        done += length;
      }
      return true;
    },
    close: () => closeSync(file),
  };
};

/** What the file holds, by its newest transaction; undefined if a meta page is damaged. */
export const newestMeta = ({ metas }: Pick<PageFile, "metas">): Meta | undefined => {
  const [first, second] = metas();
  return first && second && newerMeta(first, second);
};

// Pages of a tree as LMDB lays them out (`MDB_page`, `MDB_node`), little-endian, checked before anything in them is believed.

interface TreeNode {
  key: Buffer;
  flags: number;
  /** The page below, if this is a node of a branch. */
  child: number;
  /** Bytes of the value, if this is a node of a leaf. */
  size: number;
  /** The value, or where it is if it has pages of its own. */
  data: Buffer;
}

interface TreePage {
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
const treePage = (page: Buffer, number: number, newest: bigint): TreePage | string => {
  const flags = page.readUInt16LE(pageHeader.flags);
  if (flags !== pageFlags.branch && flags !== pageFlags.leaf) return "is not a page of a tree";
  if (page.readBigUInt64LE(pageHeader.number) !== BigInt(number)) return "has the number of another page";
  if (page.readBigUInt64LE(pageHeader.transaction) > newest) return "belongs to a transaction later than the last one";
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
const overflowOf = ({ data, size }: TreeNode, pageSize: number): { page: number; pages: number } | undefined => {
  const [page, pages] = [Number(data.readBigUInt64LE(overflow.page)), Number(data.readBigUInt64LE(overflow.pages))];
  // LMDB keeps the pages of a longer value that was there before.
  return pages * pageSize >= pageHeader.length + size && pages < 2 ** 32 ? { page, pages } : undefined;
};

/** Whether a page begins the value that a node says is there. */
const isOverflowPage = (page: Buffer, number: number, pages: number): boolean =>
  page.readUInt16LE(pageHeader.flags) === pageFlags.overflow &&
  page.readBigUInt64LE(pageHeader.number) === BigInt(number) &&
  page.readUInt32LE(pageHeader.pages) === pages;

interface TreeEntry {
  /** Key and value last until the next entry. */
  key: Buffer;
  value: Buffer;
  flags: number;
}

/** Is told what a tree has. */
interface TreeVisitor {
  entry(entry: TreeEntry): void;
  /** Pages of the tree, before they are read. Returns what is wrong with that: they are then not read. */
  page(first: number, count: number): string | undefined;
  /** Of a page, that it cannot be read: what it leads to is left out. */
  fault(page: number, what: string): void;
}

interface TreeWalk {
  file: Pick<PageFile, "read">;
  pageSize: number;
  /** Number of the newest transaction. */
  newest: bigint;
  /** Negative, zero or positive, as of two keys the first is below, the same as, or above the second. Undefined: the order is not known. */
  compare: ((one: Buffer, other: Buffer) => number) | undefined;
}

/** Keys that may be below a node: from `from` (inclusive) up to `to` (exclusive). */
interface Bounds {
  from: Buffer | undefined;
  to: Buffer | undefined;
}

/** What a tree turns out to have, under the names in which it says so itself. */
type Figures = Record<"branchPages" | "leafPages" | "overflowPages" | "entries", number>;

/** Whether keys ascend and lie within bounds. The first key of a branch is not looked at by anybody. */
const isInOrder = ({ isLeaf, nodes }: TreePage, { from, to }: Bounds, compare: TreeWalk["compare"]): boolean => {
  if (compare === undefined) return true;
  let before = from;
  for (const [i, { key }] of nodes.entries()) {
    if (i === 0 && !isLeaf) continue;
    if (before !== undefined && (i === 0 ? compare(before, key) > 0 : compare(before, key) >= 0)) return false;
    before = key;
  }
  return to === undefined || before === undefined || compare(before, to) < 0;
};

/** Walks a tree in the order of its keys, and tells `visitor` of all that it has and of every fault. Yields after each page. */
function* walkTree(tree: Tree, { file, pageSize, newest, compare }: TreeWalk, visitor: TreeVisitor): Generator<void, void> {
  const found: Figures = { branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0 };
  let faults = 0;

  const fault = (page: number, what: string): undefined => {
    faults++;
    visitor.fault(page, what);
  };

  const read = (first: number, count: number): Buffer | undefined => {
    const wrong = visitor.page(first, count);
    if (wrong !== undefined) return fault(first, wrong);
    const bytes = Buffer.allocUnsafe(count * pageSize);
    return file.read(first, bytes, pageSize) ? bytes : fault(first, "is missing, because the file ends before it");
  };

  const valueOf = (node: TreeNode, page: number): Buffer | undefined => {
    if ((node.flags & nodeFlags.onOtherPages) === 0) return node.data;
    const where = overflowOf(node, pageSize);
    if (where === undefined) return fault(page, "refers to pages that cannot exist");
    const bytes = read(where.page, where.pages);
    if (bytes === undefined) return undefined;
    found.overflowPages += where.pages;
    if (!isOverflowPage(bytes, where.page, where.pages)) return fault(where.page, "is not the value that it should be");
    return bytes.subarray(pageHeader.length, pageHeader.length + node.size);
  };

  const tellEntries = (nodes: readonly TreeNode[], page: number): void => {
    for (const node of nodes) {
      found.entries++;
      const value = valueOf(node, page);
      if (value !== undefined) visitor.entry({ key: node.key, value, flags: node.flags });
    }
  };

  const walk = function* (number: number, level: number, bounds: Bounds): Generator<void, void> {
    const bytes = read(number, 1);
    if (bytes === undefined) return;
    const page = treePage(bytes, number, newest);
    if (typeof page === "string") return fault(number, page);
    const { isLeaf, nodes } = page;
    if (isLeaf !== (level === tree.depth)) return fault(number, `is not of level ${level} of ${tree.depth}`);
    if (nodes.length < (isLeaf ? 1 : 2)) return fault(number, "has too few entries");
    if (!isInOrder(page, bounds, compare)) return fault(number, "has keys out of order");
    found[isLeaf ? "leafPages" : "branchPages"]++;
    yield;
    if (isLeaf) return tellEntries(nodes, number);
    for (const [i, { key, child }] of nodes.entries()) {
      yield* walk(child, level + 1, { from: i === 0 ? bounds.from : key, to: nodes[i + 1]?.key ?? bounds.to });
    }
  };

  if (tree.root === undefined) {
    if (tree.entries !== 0) fault(0, `names no root for ${tree.entries} entries`);
    return;
  }
  yield* walk(tree.root, 1, { from: undefined, to: undefined });
  const figures = Object.keys(found) as (keyof Figures)[];
  const wrong = faults === 0 ? figures.find((name) => found[name] !== tree[name]) : undefined;
  if (wrong !== undefined)
    fault(tree.root, `begins a tree of ${found[wrong]} ${wordsFor[wrong]}, not of the recorded ${tree[wrong]}`);
}

const wordsFor: Record<keyof Figures, string> = { branchPages: "branch pages", leafPages: "leaf pages", overflowPages: "pages of long values", entries: "entries" };

/** Is told what the databases of a file have. */
export interface DatabasesVisitor {
  /** The one database to be walked; not given: all. */
  only?: string;
  /** Which order the keys of a database have; undefined if that is not known. */
  order(database: string): TreeWalk["compare"];
  entry(database: string, entry: TreeEntry): void;
  /** Each database, before its entries. */
  tree?(database: string, tree: Tree): void;
  page: TreeVisitor["page"];
  /** `database`: undefined for the names of the databases. */
  fault(database: string | undefined, page: number, what: string): void;
}

export const compareBytes = (one: Buffer, other: Buffer): number => one.compare(other);

/** lmdb-js ends names with a zero byte. */
const nameOf = (key: Buffer): string => withoutTrailing(key.toString("utf8"), "\0");

/** Walks the databases of a file, each by its name. Yields after each page. */
export function* walkDatabases({ main, pageSize, transaction }: Meta, file: Pick<PageFile, "read">, visitor: DatabasesVisitor): Generator<void, void> {
  const walk = { file, pageSize, newest: transaction };
  const found: { name: string; value: Buffer }[] = [];
  yield* walkTree(main, { ...walk, compare: compareBytes }, {
    page: visitor.page,
    fault: (page, what) => visitor.fault(undefined, page, what),
    entry: ({ key, value, flags }) => {
      const name = nameOf(key);
      if (flags === nodeFlags.isDatabase && value.length === treeLength) found.push({ name, value: Buffer.from(value) });
      else visitor.fault(undefined, main.root ?? 0, `lists something that is not a database: ${JSON.stringify(name)}`);
    },
  });
  for (const { name, value } of found) {
    if (visitor.only !== undefined && visitor.only !== name) continue;
    const tree = treeAt(value);
    visitor.tree?.(name, tree);
    yield* walkTree(tree, { ...walk, compare: visitor.order(name) }, {
      page: visitor.page,
      fault: (page, what) => visitor.fault(name, page, what),
      entry: (entry) => visitor.entry(name, entry),
    });
  }
}

/** Keys of the list of free pages: numbers of transactions. */
const compareNumbers = (one: Buffer, other: Buffer): number => {
  if (one.length !== 8 || other.length !== 8) return one.length - other.length;
  return Number(one.readBigUInt64LE() - other.readBigUInt64LE());
};

interface FreePagesVisitor extends Pick<TreeVisitor, "page" | "fault"> {
  /** Pages that are free. */
  free(first: number, count: number): void;
}

/**
 * Walks the list of free pages. An entry counts its numbers, then has them: each is a page or, if it is negative, the length of a run of
 * pages that begins with the next number; zero stands for nothing.
 */
export const walkFreePages = ({ free, pageSize, transaction }: Meta, file: Pick<PageFile, "read">, visitor: FreePagesVisitor): Generator<void, void> =>
  walkTree(free, { file, pageSize, newest: transaction, compare: compareNumbers }, {
    page: visitor.page,
    fault: visitor.fault,
    entry: ({ value }) => {
      const numberAt = (place: number): number => Number(value.readBigInt64LE(8 * place));
      const room = Math.floor(value.length / 8) - 1;
      for (let place = 1, end = Math.min(room < 0 ? 0 : numberAt(0), room); place <= end; place++) {
        const number = numberAt(place);
        if (number > 0) visitor.free(number, 1);
        else if (number < 0) visitor.free(++place <= room ? numberAt(place) : 0, -number);
      }
    },
  });
