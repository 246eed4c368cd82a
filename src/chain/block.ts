import type { Block, Transaction } from "../../types/chain.js";
import type { BlockData, TransactionData } from "../../types/events.js";
import { PorticoError } from "../errors.js";
import { parseAmount } from "./amount.js";

/** A block with its transactions, typed and trusted. */
export interface FullBlock {
  block: Block;
  transactions: Transaction[];
}

const broken = (what: string): PorticoError => new PorticoError("BLOCK_INVALID", what);

/** What a host hands in has its type's members, or so it says. */
type Untrusted<T> = { [K in keyof T]?: unknown };

const amount = (value: unknown, name: string): bigint => {
  if (value === undefined || value === null) throw broken(`${name} is missing`);
  try {
    return parseAmount(value);
  } catch (error) {
    throw broken(`${name}: ${error instanceof Error ? error.message : "no amount"}`);
  }
};

const text = (value: unknown, name: string): string => {
  if (typeof value !== "string" || value === "") throw broken(`${name} is missing`);
  return value;
};

const whole = (value: unknown, name: string): number => {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) throw broken(`${name} is not a whole number`);
  return value;
};

const key = (value: unknown, name: string): string => {
  if (typeof value !== "string" || !/^0[23][0-9a-f]{64}$/.test(value)) throw broken(`${name} is not a public key`);
  return value;
};

const genesisHeight = 1;

/** Reads a block's header as hosts and files carry it. @throws PorticoError BLOCK_INVALID naming block and member. */
export const parseBlockHeader = (data: Untrusted<BlockData> | null | undefined): Block => {
  if (typeof data !== "object" || data === null) throw broken("a block is not an object");
  const at = `block ${String(data.height)}`;
  const height = whole(data.height, `${at}: height`);
  if (height < genesisHeight) throw broken(`${at}: height is below 1`);
  return {
    id: text(data.id, `${at}: id`),
    version: whole(data.version ?? 0, `${at}: version`),
    height,
    timestamp: whole(data.timestamp, `${at}: timestamp`),
    previousBlock: height === genesisHeight ? null : text(data.previousBlock, `${at}: previousBlock`),
    numberOfTransactions: whole(data.numberOfTransactions, `${at}: numberOfTransactions`),
    totalAmount: amount(data.totalAmount, `${at}: totalAmount`),
    totalFee: amount(data.totalFee, `${at}: totalFee`),
    reward: amount(data.reward, `${at}: reward`),
    payloadLength: whole(data.payloadLength, `${at}: payloadLength`),
    payloadHash: text(data.payloadHash, `${at}: payloadHash`),
    generatorPublicKey: key(data.generatorPublicKey, `${at}: generatorPublicKey`),
    blockSignature: typeof data.blockSignature === "string" ? data.blockSignature : "",
  };
};

const optional = <K extends string, V>(name: K, value: V | null | undefined): { [P in K]?: V } =>
  value === undefined || value === null ? {} : ({ [name]: value } as { [P in K]?: V });

/** Genesis blocks carry `asset: {}` where there is none. */
const isEmpty = (asset: object | null | undefined): boolean => Object.keys(asset ?? {}).length === 0;

const voteType = 3;

/** A transaction in no block yet: it has no place, and of version 2 no time. */
export type UnconfirmedTransaction = Omit<Transaction, "timestamp" | "blockId" | "blockHeight" | "sequence"> & { timestamp?: number };

/** Reads a transaction as hosts and files carry it; `at` names it in errors. @throws PorticoError BLOCK_INVALID */
export const parseTransaction = (data: TransactionData, at: string, addressOf: (publicKey: string) => string): UnconfirmedTransaction => {
  const senderPublicKey = key(data.senderPublicKey, `${at}: senderPublicKey`);
  const senderId = addressOf(senderPublicKey);
  const version = data.version ?? 1;
  const typeGroup = data.typeGroup ?? 1;
  const type = whole(data.type, `${at}: type`);
  const isVote = typeGroup === 1 && type === voteType;
  return {
    id: text(data.id, `${at}: id`),
    version,
    ...optional("network", data.network),
    typeGroup,
    type,
    ...optional("timestamp", version === 1 ? data.timestamp : undefined),
    ...optional("nonce", data.nonce === undefined ? undefined : amount(data.nonce, `${at}: nonce`)),
    senderPublicKey,
    senderId,
    ...optional("recipientId", data.recipientId ?? (isVote ? senderId : undefined)),
    amount: amount(data.amount, `${at}: amount`),
    fee: amount(data.fee, `${at}: fee`),
    ...optional("vendorField", data.vendorField === "" ? undefined : data.vendorField),
    ...optional("asset", isEmpty(data.asset) ? undefined : (data.asset as Record<string, unknown>)),
    ...optional("signature", data.signature),
    ...optional("secondSignature", data.secondSignature ?? data.signSignature),
    ...optional("signatures", data.signatures),
    ...optional("expiration", data.expiration),
  };
};

const place = (transaction: UnconfirmedTransaction, sequence: number, block: Block): Transaction => ({
  ...transaction,
  timestamp: transaction.timestamp ?? block.timestamp,
  blockId: block.id,
  blockHeight: block.height,
  sequence,
});

/** Reads a whole block. @throws PorticoError BLOCK_INVALID naming block, transaction and member. */
export const parseBlock = (data: BlockData, addressOf: (publicKey: string) => string): FullBlock => {
  const block = parseBlockHeader(data);
  const given = data.transactions ?? [];
  if (given.length !== block.numberOfTransactions) {
    throw broken(`block ${block.height} says ${block.numberOfTransactions} transactions and carries ${given.length}`);
  }
  const transactions = given.map((transaction, sequence) =>
    place(parseTransaction(transaction, `block ${block.height}, transaction ${sequence} (${transaction.id})`, addressOf), sequence, block),
  );
  return { block, transactions };
};
