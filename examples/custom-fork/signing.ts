import { createHash } from "node:crypto";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import type { BlockData, TransactionData } from "portico";

/** A key pair. This fork signs and hashes the JSON of transactions and blocks; another fork has its own wire form, unknown to Portico. */
export interface Keys {
  publicKey: string;
  privateKey: Uint8Array;
}

const sha256 = (data: string | Uint8Array): Buffer => createHash("sha256").update(data).digest();

export const keysOf = (passphrase: string): Keys => {
  const privateKey = sha256(passphrase);
  return { publicKey: Buffer.from(secp256k1.getPublicKey(privateKey, true)).toString("hex"), privateKey };
};

const signatureOf = (json: string, { privateKey }: Keys): string =>
  Buffer.from(secp256k1.sign(sha256(json), privateKey, { prehash: false, format: "der" })).toString("hex");

export type UnsignedTransaction = Omit<TransactionData, "id" | "senderPublicKey" | "signature">;
export type UnsignedBlock = Pick<BlockData, "height" | "timestamp" | "previousBlock" | "reward"> & { transactions: TransactionData[] };

export const signTransaction = (unsigned: UnsignedTransaction, keys: Keys): TransactionData => {
  const order = { ...unsigned, senderPublicKey: keys.publicKey };
  const signed = { ...order, signature: signatureOf(JSON.stringify(order), keys) };
  return { ...signed, id: sha256(JSON.stringify(signed)).toString("hex") };
};

const sum = (transactions: readonly TransactionData[], member: "amount" | "fee"): string =>
  transactions.reduce((total, transaction) => total + BigInt(String(transaction[member])), 0n).toString();

export const signBlock = (unsigned: UnsignedBlock, keys: Keys): BlockData => {
  const { transactions } = unsigned;
  const payload = JSON.stringify(transactions.map(({ id }) => id));
  const header = {
    ...unsigned,
    version: 0,
    generatorPublicKey: keys.publicKey,
    numberOfTransactions: transactions.length,
    totalAmount: sum(transactions, "amount"),
    totalFee: sum(transactions, "fee"),
    payloadLength: Buffer.byteLength(payload),
    payloadHash: sha256(payload).toString("hex"),
  };
  const blockSignature = signatureOf(JSON.stringify({ ...header, transactions: undefined }), keys);
  return { ...header, blockSignature, id: sha256(JSON.stringify({ ...header, transactions: undefined, blockSignature })).toString("hex") };
};
