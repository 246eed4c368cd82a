import type { Tree } from "./meta-pages.js";
import { isOverflowPage, nodeFlags, overflowOf, pageHeader, type TreeNode, type TreePage, treePage } from "./page.js";
import type { PageFile } from "./page-file.js";

export interface TreeEntry {
  /** Key and value last until the next entry. */
  key: Buffer;
  value: Buffer;
  flags: number;
}

/** Is told what a tree has. */
export interface TreeVisitor {
  entry(entry: TreeEntry): void;
  /** Pages of the tree, before they are read. Returns what is wrong with that: they are then not read. */
  page(first: number, count: number): string | undefined;
  /** Of a page, that it cannot be read: what it leads to is left out. */
  fault(page: number, what: string): void;
}

export interface TreeWalk {
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
export function* walkTree(tree: Tree, { file, pageSize, newest, compare }: TreeWalk, visitor: TreeVisitor): Generator<void, void> {
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
    return file.read(first, bytes, pageSize) ? bytes : fault(first, "is missing: the file ends before");
  };

  const valueOf = (node: TreeNode, page: number): Buffer | undefined => {
    if ((node.flags & nodeFlags.onOtherPages) === 0) return node.data;
    const where = overflowOf(node, pageSize);
    if (where === undefined) return fault(page, "refers to pages that cannot be");
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
  if (wrong !== undefined) fault(tree.root, `begins a tree of ${found[wrong]} ${wordsFor[wrong]}, not of ${tree[wrong]} as it is said to be`);
}

const wordsFor: Record<keyof Figures, string> = { branchPages: "branch pages", leafPages: "leaf pages", overflowPages: "pages of long values", entries: "entries" };
