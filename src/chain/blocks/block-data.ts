import type { Transaction } from "../../../types/chain.js";
import type { BlockData, TransactionData } from "../../../types/events.js";
import type { FullBlock } from "./block.js";

/** A transaction as chain files have it: as it was signed. What follows from its block or its sender is left out. */
const transactionData = (transaction: Transaction): TransactionData => {
  const { senderId: _sender, blockId: _block, blockHeight: _height, sequence: _sequence, timestamp, nonce, amount, fee, ...rest } = transaction;
  return {
    ...rest,
    ...(transaction.version === 1 ? { timestamp } : {}),
    ...(nonce === undefined ? {} : { nonce: String(nonce) }),
    amount: String(amount),
    fee: String(fee),
  };
};

/** A block with its transactions as chain files have it; amounts are decimal strings. */
export const blockDataOf = ({ block, transactions }: FullBlock): BlockData => ({
  ...block,
  previousBlock: block.previousBlock ?? "0",
  totalAmount: String(block.totalAmount),
  totalFee: String(block.totalFee),
  reward: String(block.reward),
  transactions: transactions.map(transactionData),
});

/** Amounts in assets of forks may be of any kind. */
const plain = (_name: string, value: unknown): unknown => (typeof value === "bigint" ? String(value) : value);

/** A line of a chain file, without its end. */
export const blockLine = (full: FullBlock): string => JSON.stringify(blockDataOf(full), plain);
