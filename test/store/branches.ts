import type { BlockData } from "../../types/events.js";
import { loadChain } from "../data/read.js";

/** A chain whose host goes back from height 100 to 60, and on to 63 on another branch: further than `undoBlocks`. */
export const chain = loadChain("core3-testnet-a");
export const [end, fork, undoBlocks] = [100, 60, 10];

export const at = (height: number): BlockData => chain.blocks[height - 1]!;

/** Blocks of another branch, from `from` + 1 up to a height. They are empty. */
export const branch = (from: number, to: number): BlockData[] => {
  const blocks: BlockData[] = [];
  for (let height = from + 1; height <= to; height++) {
    const previousBlock = blocks.at(-1)?.id ?? at(from).id;
    blocks.push({ ...at(height), id: `9000000${from}000${height}`, previousBlock, numberOfTransactions: 0, totalAmount: "0", totalFee: "0", transactions: [] });
  }
  return blocks;
};

export const before = chain.blocks.slice(0, end);
export const after = [...chain.blocks.slice(0, fork), ...branch(fork, fork + 3)];
export const newTip = after.at(-1)!;
