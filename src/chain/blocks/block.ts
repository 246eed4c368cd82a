import type { Block, Transaction } from "../../../types/chain.js";
import type { BlockData, TransactionData } from "../../../types/events.js";
import { PorticoError } from "../../errors.js";
import type { Sliced } from "../../async/time-slicing.js";
import { isPublicKey } from "../address.js";
import { parseAmount } from "../amount.js";

/** A block with its transactions, parsed and checked for form. */
export interface FullBlock {
  block: Block;
  transactions: Transaction[];
}

const broken = (what: string): PorticoError => new PorticoError("BLOCK_INVALID", what);

/** The members of a type before they are checked: their values may be anything. */
type Untrusted<T> = { [K in keyof T]?: unknown };

/** Reads the member `name` of what `at` names. Errors are put together only where there is one: a transaction has eighteen members. */
type Read<Value> = (value: unknown, at: string, name: string) => Value;

const amount: Read<bigint> = (value, at, name) => {
  if (value === undefined || value === null) throw broken(`${at}: ${name} is missing`);
  try {
    return parseAmount(value);
  } catch (error) {
    throw broken(`${at}: ${name}: ${error instanceof Error ? error.message : "not an amount"}`);
  }
};

const text: Read<string> = (value, at, name) => {
  if (value === undefined || value === null || value === "") throw broken(`${at}: ${name} is missing`);
  if (typeof value !== "string") throw broken(`${at}: ${name} is not a string`);
  return value;
};

/** In UTF-8, as which it is stored, two ill-formed ids may be one. What is no id may be anything: the network has accepted the block. */
const idText: Read<string> = (value, at, name) => {
  const id = text(value, at, name);
  if (!id.isWellFormed()) throw broken(`${at}: ${name} has half a surrogate pair`);
  return id;
};

/** A value as messages show it: a text in quotes, so that "2" is not taken for 2. */
export const shown = (value: unknown): string => {
  if (typeof value === "string") return JSON.stringify(value);
  return typeof value === "number" || typeof value === "bigint" || typeof value === "boolean" ? String(value) : `of type ${typeof value}`;
};

/** Nodes hand one another whole numbers in four bytes at most. */
const largestWhole = 2 ** 32 - 1;

const whole: Read<number> = (value, at, name) => {
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= largestWhole) return value;
  if (value === undefined || value === null) throw broken(`${at}: ${name} is missing`);
  throw broken(`${at}: ${name} is ${shown(value)}, not a whole number from 0 to ${largestWhole}`);
};

const key: Read<string> = (value, at, name) => {
  if (typeof value !== "string" || !isPublicKey(value)) throw broken(`${at}: ${name} is not a public key`);
  return value;
};

const genesisHeight = 1;

/** Parses the header of a block as hosts and files represent it. @throws PorticoError BLOCK_INVALID naming block and member */
export const parseBlockHeader = (data: Untrusted<BlockData> | null | undefined): Block => {
  if (typeof data !== "object" || data === null) throw broken("a block is not an object");
  const at = `block ${String(data.height)}`;
  const height = whole(data.height, at, "height");
  if (height < genesisHeight) throw broken(`${at}: height is below 1`);
  return {
    id: idText(data.id, at, "id"),
    version: whole(data.version ?? 0, at, "version"),
    height,
    timestamp: whole(data.timestamp, at, "timestamp"),
    previousBlock: height === genesisHeight ? null : text(data.previousBlock, at, "previousBlock"),
    numberOfTransactions: whole(data.numberOfTransactions, at, "numberOfTransactions"),
    totalAmount: amount(data.totalAmount, at, "totalAmount"),
    totalFee: amount(data.totalFee, at, "totalFee"),
    reward: amount(data.reward, at, "reward"),
    payloadLength: whole(data.payloadLength, at, "payloadLength"),
    payloadHash: text(data.payloadHash, at, "payloadHash"),
    generatorPublicKey: key(data.generatorPublicKey, at, "generatorPublicKey"),
    blockSignature: typeof data.blockSignature === "string" ? data.blockSignature : "",
  };
};

/** undefined, null and "" all mean that the member is missing. */
const isMissing = (value: unknown): boolean => value === undefined || value === null || value === "";

const texts: Read<string[]> = (value, at, name) => {
  if (!Array.isArray(value)) throw broken(`${at}: ${name} is not a list`);
  return value.map((item: unknown, index) => text(item, at, `${name}[${index}]`));
};

/** Genesis blocks have `asset: {}` for transactions without an asset. */
const isEmpty = (asset: unknown): boolean => typeof asset === "object" && asset !== null && Object.keys(asset).length === 0;

interface PaymentData {
  amount: unknown;
}

const isPayment = (item: unknown): item is PaymentData => typeof item === "object" && item !== null && "amount" in item;

/** Copies an asset with the amounts of its payments, which hosts hold in various forms, as decimal strings. */
const asset: Read<Record<string, unknown>> = (value, at, name) => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw broken(`${at}: ${name} is not an object`);
  const given = value as Record<string, unknown>;
  if (!Array.isArray(given.payments)) return given;
  const payments = given.payments.map((item: unknown, index): unknown =>
    isPayment(item) ? { ...item, amount: String(amount(item.amount, at, `${name}.payments[${index}].amount`)) } : item,
  );
  return { ...given, payments };
};

type Given = Untrusted<TransactionData>;

/** What every transaction has. */
type Required = Pick<Transaction, "id" | "version" | "typeGroup" | "type" | "senderPublicKey" | "senderId" | "amount" | "fee">;

const given = (data: Given | null | undefined, at: string): Given => {
  if (typeof data !== "object" || data === null) throw broken(`${at} is not an object`);
  return data;
};

const required = (data: Given, at: string, addressOf: (publicKey: string) => string): Required => {
  const senderPublicKey = key(data.senderPublicKey, at, "senderPublicKey");
  return {
    id: idText(data.id, at, "id"),
    version: whole(data.version ?? 1, at, "version"),
    typeGroup: whole(data.typeGroup ?? 1, at, "typeGroup"),
    type: whole(data.type, at, "type"),
    senderPublicKey,
    senderId: addressOf(senderPublicKey),
    amount: amount(data.amount, at, "amount"),
    fee: amount(data.fee, at, "fee"),
  };
};

type Optional = Pick<
  Transaction,
  "recipientId" | "nonce" | "signature" | "network" | "expiration" | "vendorField" | "asset" | "secondSignature" | "signatures"
>;

/**
 * Adds the members that may be missing; those present must be valid. One after another, by name: to spread an object for each takes three
 * times as long.
 */
const withOptional = <Parsed extends Required & Optional>(parsed: Parsed, data: Given, at: string): Parsed => {
  const secondSignature = data.secondSignature ?? data.signSignature;
  if (!isMissing(data.recipientId)) parsed.recipientId = text(data.recipientId, at, "recipientId");
  if (!isMissing(data.nonce)) parsed.nonce = amount(data.nonce, at, "nonce");
  if (!isMissing(data.signature)) parsed.signature = text(data.signature, at, "signature");
  if (!isMissing(data.network)) parsed.network = whole(data.network, at, "network");
  if (!isMissing(data.expiration)) parsed.expiration = whole(data.expiration, at, "expiration");
  if (!isMissing(data.vendorField)) parsed.vendorField = text(data.vendorField, at, "vendorField");
  if (!isMissing(data.asset) && !isEmpty(data.asset)) parsed.asset = asset(data.asset, at, "asset");
  if (!isMissing(secondSignature)) parsed.secondSignature = text(secondSignature, at, "secondSignature");
  if (!isMissing(data.signatures)) parsed.signatures = texts(data.signatures, at, "signatures");
  return parsed;
};

/** That of the transaction itself: only those of version 1 have one. */
const ownTimestamp = ({ version }: Required, { timestamp }: Given, at: string): number | undefined =>
  version === 1 && !isMissing(timestamp) ? whole(timestamp, at, "timestamp") : undefined;

/** A transaction that is not in a block yet: it has no place in the chain, and in version 2 no timestamp. */
export type UnconfirmedTransaction = Omit<Transaction, "timestamp" | "blockId" | "blockHeight" | "sequence"> & { timestamp?: number };

/** Parses a transaction as hosts and files represent it; `at` names it in errors. @throws PorticoError BLOCK_INVALID */
export const parseTransaction = (untrusted: Given | null | undefined, at: string, addressOf: (publicKey: string) => string): UnconfirmedTransaction => {
  const data = given(untrusted, at);
  const parsed: UnconfirmedTransaction = required(data, at, addressOf);
  const timestamp = ownTimestamp(parsed, data, at);
  if (timestamp !== undefined) parsed.timestamp = timestamp;
  return withOptional(parsed, data, at);
};

/** Members stand in the same order as in a transaction that a store has read: as JSON, both are the same text. */
const parseInBlock = (untrusted: Given | null | undefined, at: string, addressOf: (publicKey: string) => string, sequence: number, block: Block): Transaction => {
  const data = given(untrusted, at);
  const found = required(data, at, addressOf);
  const { id, version, typeGroup, type, senderPublicKey, senderId, amount, fee } = found;
  const timestamp = ownTimestamp(found, data, at) ?? block.timestamp;
  return withOptional({ id, version, typeGroup, type, timestamp, senderPublicKey, senderId, amount, fee, blockId: block.id, blockHeight: block.height, sequence }, data, at);
};

/** Parses a whole block, in steps of one transaction. @throws PorticoError BLOCK_INVALID naming block, transaction and member */
export function* parseBlock(data: Untrusted<BlockData> | null | undefined, addressOf: (publicKey: string) => string): Sliced<FullBlock> {
  const block = parseBlockHeader(data);
  const list = data?.transactions ?? [];
  if (!Array.isArray(list)) throw broken(`block ${block.height}: transactions is not a list`);
  if (list.length !== block.numberOfTransactions) {
    const contained = list === data?.transactions ? `contains ${list.length}` : "has no list `transactions`";
    throw broken(`block ${block.height} declares ${block.numberOfTransactions} transactions but ${contained}`);
  }
  const transactions: Transaction[] = [];
  for (const [sequence, transaction] of (list as (Given | null)[]).entries()) {
    const at = `block ${block.height}, transaction ${sequence} (${String(transaction?.id)})`;
    transactions.push(parseInBlock(transaction, at, addressOf, sequence, block));
    yield;
  }
  return { block, transactions };
}

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
