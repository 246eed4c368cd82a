import type { Transaction, TransactionData, TransactionType } from "portico";
import { addressBytes, littleEndian } from "portico/verify";

/** The fork's type group; the core's is 1. */
export const forkGroup = 4100;

/** An item of `asset.split`: how many parts of the amount a recipient gets. The remainder of the division goes to the first. */
interface Part {
  recipientId: string;
  parts: number;
}

const partsOf = ({ id, asset }: Pick<TransactionData, "id" | "asset">): Part[] => {
  const { split }: { split?: Part[] } = asset ?? {};
  if (!Array.isArray(split) || split.length === 0) throw new RangeError(`transaction ${id} has no asset.split`);
  return split;
};

const shares = (transaction: Pick<Transaction, "id" | "asset" | "amount">): { recipientId: string; amount: bigint }[] => {
  const parts = partsOf(transaction);
  const all = parts.reduce((sum, part) => sum + BigInt(part.parts), 0n);
  const divided = parts.map(({ recipientId, parts: count }) => ({ recipientId, amount: (transaction.amount * BigInt(count)) / all }));
  const rest = divided.reduce((left, { amount }) => left - amount, transaction.amount);
  return divided.map((share, index) => (index === 0 ? { ...share, amount: share.amount + rest } : share));
};

/**
 * The fork's own kind of transaction: one amount, shared among several recipients. The sender pays amount + fee by default, so only
 * who gets the amount (`apply`), who is listed as recipient (`recipients`), and how it is written (`form`) are left to define.
 */
export const split: TransactionType = {
  typeGroup: forkGroup,
  type: 0,
  key: "split",
  name: "Split",
  apply: (transaction, ledger) => {
    for (const { recipientId, amount } of shares(transaction)) ledger.wallet(recipientId).balance += amount;
  },
  recipients: (transaction) => partsOf(transaction).map(({ recipientId }) => recipientId),
  form: {
    hasVendorField: true,
    serialize: (transaction) => {
      const parts = partsOf(transaction);
      const each = parts.map(({ recipientId, parts: count }) => Buffer.concat([addressBytes(recipientId), littleEndian(4, count)]));
      return Buffer.concat([littleEndian(8, BigInt(String(transaction.amount))), littleEndian(1, parts.length), ...each]);
    },
  },
};
