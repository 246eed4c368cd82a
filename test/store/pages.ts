import { readFileSync } from "node:fs";
import { metaOffsets } from "../../src/store/lmdb/safe/meta-pages.js";

/** Accounts for every page of an LMDB file (64 bits, little-endian, pages of 4,096 bytes, as lmdb-js writes them). */
export interface Pages {
  used: number;
  free: number;
  /** Neither in a tree nor free: space lost for good. */
  lost: number;
  /** Pages that are used twice, or both used and free: the next write may overwrite them. */
  problems: string[];
  /** Number of the last page, by the newest meta page. */
  last: number;
}

const pageSize = 4_096;
const headerSize = 24;
const nodeHeaderSize = 8;
const branch = 1;
const leaf = 2;
const onOtherPages = 1;
const isDatabase = 2;
const none = -1n;
/** The offset of the last page's number in a meta page. */
export const lastPageAt = 144;

type Owner = "used" | "free";

interface Node {
  /** The child page, if this is a node of a branch. */
  child: number;
  size: number;
  flags: number;
  key: Buffer;
  /** Where its value, or the reference to it, begins in the file. */
  at: number;
}

/** Walks all trees and the list of free pages that the newest meta page refers to. */
export const pagesOf = (path: string): Pages => {
  const file = readFileSync(path);
  const number = (at: number): number => Number(file.readBigUInt64LE(at));
  const transactionOf = (meta: number): bigint => file.readBigInt64LE(meta + metaOffsets.transaction);
  const meta = transactionOf(pageSize) > transactionOf(0) ? pageSize : 0;

  const lastPage = number(meta + lastPageAt);
  const problems: string[] = [];
  const owners = new Map<number, Owner>();
  /** Records the owner of consecutive pages. */
  const mark = (first: number, count: number, owner: Owner, what: string): void => {
    if (first + count - 1 > lastPage) problems.push(`page ${first} and ${count - 1} after it (${owner}: ${what}) go beyond the last, ${lastPage}`);
    else
      for (let page = first; page < first + count; page++) {
        if (owners.has(page)) problems.push(`page ${page} is ${owner} (${what}), and ${owners.get(page) ?? ""}`);
        owners.set(page, owner);
      }
  };
  mark(0, 2, "used", "the meta pages");

  const nodesOf = function* (page: number): Generator<Node> {
    const begin = page * pageSize + headerSize;
    const count = file.readUInt16LE(begin - 4) >> 1;
    for (let i = 0; i < count; i++) {
      const at = begin + file.readUInt16LE(begin + 2 * i);
      const [low, high, flags, keySize] = [0, 2, 4, 6].map((offset) => file.readUInt16LE(at + offset)) as [number, number, number, number];
      const size = low + high * 2 ** 16;
      const value = at + nodeHeaderSize + keySize;
      yield { child: size + flags * 2 ** 32, size, flags, key: file.subarray(at + nodeHeaderSize, value), at: value };
    }
  };

  /** Visits the values of a tree by their offset in the file. */
  const walk = (root: bigint, name: string, visit: (node: Node, at: number) => void): void => {
    if (root === none) return;
    const page = Number(root);
    mark(page, 1, "used", name);
    const flags = file.readUInt16LE(page * pageSize + 18);
    if (flags !== branch && flags !== leaf) problems.push(`page ${page} of ${name} is not a page of a tree`);
    for (const node of nodesOf(page)) {
      if (flags === branch) walk(BigInt(node.child), name, visit);
      else if ((node.flags & onOtherPages) === 0) visit(node, node.at);
      else {
        const first = number(node.at);
        mark(first, number(node.at + 16), "used", name);
        visit(node, first * pageSize + headerSize);
      }
    }
  };

  walk(file.readBigInt64LE(meta + metaOffsets.mainRoot), "the main tree", ({ flags, key }, at) => {
    if ((flags & isDatabase) !== 0) walk(file.readBigInt64LE(at + 40), key.toString(), () => undefined);
  });
  walk(file.readBigInt64LE(meta + metaOffsets.freeRoot), "the free pages", ({ size }, at) => {
    const entries = Array.from({ length: size / 8 }, (_, i) => Number(file.readBigInt64LE(at + 8 * i)));
    // The first entry counts those in use. A negative entry is the length of a run that starts at the page in the next entry; zero is unused.
    for (let i = 1, end = Math.min(entries[0] ?? 0, entries.length - 1); i <= end; i++) {
      const entry = entries[i] ?? NaN;
      if (entry > 0) mark(entry, 1, "free", "its list");
      else if (entry !== 0) mark(entries[++i] ?? NaN, -entry, "free", "its list");
    }
  });

  const count = (owner: Owner): number => [...owners.values()].filter((one) => one === owner).length;
  return { used: count("used"), free: count("free"), lost: lastPage + 1 - owners.size, problems, last: lastPage };
};
