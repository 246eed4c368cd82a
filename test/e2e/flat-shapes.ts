import type { TransactionData } from "../../types/events.js";
import { type BlockRow, shownAsset, type TransactionRow, type WalletRow } from "./figures.js";

/** How the first generation shows a chain's rows. Amounts are bigints where the wire has numbers. */

const amount = (value: unknown): bigint => BigInt(String(value));

export const flatAccount = (row: WalletRow) => ({
  address: row.address,
  publicKey: row.publicKey,
  secondPublicKey: row.secondPublicKey,
  username: row.username,
  vote: row.vote,
  balance: row.balance,
  unconfirmedBalance: row.balance,
  multisignatures: row.multiSignature?.publicKeys ?? [],
  u_multisignatures: row.multiSignature?.publicKeys ?? [],
  secondSignature: row.secondPublicKey === null ? 0 : 1,
  unconfirmedSignature: row.secondPublicKey === null ? 0 : 1,
});

export const flatBlock = (row: BlockRow, tipHeight: number) => ({
  id: row.id,
  version: row.version,
  timestamp: row.timestamp,
  previousBlock: row.height === 1 ? null : row.previousBlock,
  height: row.height,
  numberOfTransactions: row.numberOfTransactions,
  totalAmount: amount(row.totalAmount),
  totalForged: amount(row.reward) + amount(row.totalFee),
  totalFee: amount(row.totalFee),
  reward: amount(row.reward),
  payloadLength: row.payloadLength,
  payloadHash: row.payloadHash,
  generatorPublicKey: row.generatorPublicKey,
  blockSignature: row.blockSignature,
  confirmations: tipHeight - row.height,
});

export const flatTransactionData = (data: TransactionData, senderId: string, recipientId: string) => ({
  id: data.id,
  version: data.version ?? 1,
  typeGroup: data.typeGroup ?? 1,
  type: data.type,
  amount: amount(data.amount),
  fee: amount(data.fee),
  recipientId,
  senderId,
  senderPublicKey: data.senderPublicKey,
  vendorField: data.vendorField === "" ? undefined : data.vendorField,
  signature: data.signature,
  signSignature: data.secondSignature,
  signatures: data.signatures,
  asset: shownAsset(data.asset),
});

export const flatTransaction = (row: TransactionRow, tipHeight: number) => ({
  ...flatTransactionData(row, row.sender, row.recipient),
  blockid: row.block.id,
  timestamp: row.time,
  confirmations: tipHeight - row.block.height + 1,
});
