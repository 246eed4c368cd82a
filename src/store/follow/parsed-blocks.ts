import { LRUCache } from "lru-cache";
import type { Tip, Transaction } from "../../../types/chain.js";
import type { FullBlock } from "../../chain/blocks/block.js";

/** Blocks that are kept: a reader at the tip is seldom further behind than this. */
const keptBlocks = 32;
/** Transactions of all blocks that are kept. */
const keptTransactions = 5_000;

/** The blocks that this process wrote last, as they were parsed: readers at the tip are handed these, and no record is parsed again. */
export interface ParsedBlocks {
  put(full: FullBlock): void;
  /** The block at a height of the chain that ends with a tip; undefined if it, or one above it, is not kept. */
  at(height: number, tip: Tip): FullBlock | undefined;
}

/** A copy of what a record would give back as it is; undefined for anything else, as instances of a class. */
const copyOf = (value: unknown): unknown => {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(copyOf);
    return items.includes(undefined) ? undefined : items;
  }
  if (typeof value !== "object" || Object.getPrototypeOf(value) !== Object.prototype) return undefined;
  const members = Object.entries(value).map(([name, member]): [string, unknown] => [name, copyOf(member)]);
  return members.some(([, member]) => member === undefined) ? undefined : Object.fromEntries(members);
};

/** An asset is the host's own object, which it may change later. */
const withOwnAsset = (transaction: Transaction): Transaction | undefined => {
  if (transaction.asset === undefined) return transaction;
  const asset = copyOf(transaction.asset);
  return asset === undefined ? undefined : { ...transaction, asset: asset as NonNullable<Transaction["asset"]> };
};

export const createParsedBlocks = (): ParsedBlocks => {
  const blocks = new LRUCache<string, FullBlock>({ max: keptBlocks, maxSize: keptTransactions, sizeCalculation: ({ transactions }) => 1 + transactions.length });
  return {
    put: ({ block, transactions }) => {
      const own = transactions.map(withOwnAsset).filter((transaction) => transaction !== undefined);
      if (own.length === transactions.length) blocks.set(block.id, { block, transactions: own });
    },
    at: (height, tip) => {
      if (height > tip.height || height <= tip.height - keptBlocks) return undefined;
      let found = blocks.get(tip.id);
      while (found !== undefined && found.block.height > height) found = found.block.previousBlock === null ? undefined : blocks.get(found.block.previousBlock);
      return found;
    },
  };
};
