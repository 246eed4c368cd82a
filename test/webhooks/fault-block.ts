import type { FullBlock } from "../../src/chain/block.js";
import type { Transaction } from "../../types/chain.js";

const transactionOf = (height: number, sequence: number): Transaction => ({
  id: `${height}/${sequence}`,
  version: 2,
  typeGroup: 1,
  type: 0,
  timestamp: height,
  senderPublicKey: "02",
  senderId: "A",
  amount: 1n,
  fee: 1n,
  blockId: String(height),
  blockHeight: height,
  sequence,
});

export const transactionsInFaultBlock = 3;

/** A block that has all that the webhook engine looks at. */
export const faultBlock = (height: number): FullBlock => ({
  block: {
    id: String(height),
    version: 0,
    height,
    timestamp: height,
    previousBlock: String(height - 1),
    numberOfTransactions: transactionsInFaultBlock,
    totalAmount: 3n,
    totalFee: 3n,
    reward: 0n,
    payloadLength: 0,
    payloadHash: "",
    generatorPublicKey: "02",
    blockSignature: "",
  },
  transactions: Array.from({ length: transactionsInFaultBlock }, (_unused, sequence) => transactionOf(height, sequence)),
});
