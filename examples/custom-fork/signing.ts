import { createHash } from "node:crypto";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import type { BlockData, Network, TransactionData } from "portico";
import { blockIdOf, createMilestones, payloadHashOf, serializeHeader, serializeTransaction, transactionIdOf } from "portico/verify";
import { forkGroup, split } from "./split.js";

/** A key pair. */
export interface Keys {
  publicKey: string;
  privateKey: Uint8Array;
}

const sha256 = (data: string | Uint8Array): Buffer => createHash("sha256").update(data).digest();

export const keysOf = (passphrase: string): Keys => {
  const privateKey = sha256(passphrase);
  return { publicKey: Buffer.from(secp256k1.getPublicKey(privateKey, true)).toString("hex"), privateKey };
};

const signatureOf = (bytes: Uint8Array, { privateKey }: Keys): string => Buffer.from(secp256k1.sign(bytes, privateKey, { format: "der" })).toString("hex");

export type UnsignedTransaction = Omit<TransactionData, "id" | "senderPublicKey" | "signature" | "network"> & { network: number };
export type UnsignedBlock = Pick<BlockData, "height" | "timestamp" | "previousBlock" | "reward"> & { transactions: TransactionData[] };

/** This fork writes transactions as ARK Core does; its own type brings what the core does not know of. */
const bytesOf = (transaction: TransactionData, pubKeyHash: number): Uint8Array => {
  const bytes = serializeTransaction(transaction, { network: { pubKeyHash } }, transaction.typeGroup === forkGroup ? split.form : undefined);
  if (bytes === undefined) throw new TypeError(`transactions of type ${transaction.type} have no form`);
  return bytes;
};

export const signTransaction = (unsigned: UnsignedTransaction, keys: Keys): TransactionData => {
  const order = { ...unsigned, id: "", senderPublicKey: keys.publicKey };
  const signed = { ...order, signature: signatureOf(bytesOf(order, unsigned.network), keys) };
  return { ...signed, id: transactionIdOf(bytesOf(signed, unsigned.network)) };
};

const sum = (transactions: readonly TransactionData[], member: "amount" | "fee"): string =>
  transactions.reduce((total, transaction) => total + BigInt(String(transaction[member])), 0n).toString();

export const signBlock = (unsigned: UnsignedBlock, keys: Keys, milestones: Network["milestones"]): BlockData => {
  const { transactions } = unsigned;
  const block = {
    ...unsigned,
    version: 0,
    generatorPublicKey: keys.publicKey,
    numberOfTransactions: transactions.length,
    totalAmount: sum(transactions, "amount"),
    totalFee: sum(transactions, "fee"),
    payloadLength: 32 * transactions.length,
    payloadHash: payloadHashOf(transactions.map(({ id }) => id)),
  };
  const constants = createMilestones(milestones);
  const header = serializeHeader(block, constants);
  const blockSignature = signatureOf(header, keys);
  return { ...block, blockSignature, id: blockIdOf(header, Buffer.from(blockSignature, "hex"), block.height, constants) };
};
