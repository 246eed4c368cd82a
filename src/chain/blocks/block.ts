import type { Block, Transaction } from "../../../types/chain.js";
import type { BlockData, TransactionData } from "../../../types/events.js";
import { PorticoError } from "../../errors.js";
import type { Sliced } from "../../async/time-slicing.js";
import { isPublicKey } from "../address.js";
import { parseAmount } from "../amount.js";
import { isVote } from "./kinds.js";

/** A block with its transactions, parsed and checked for form. */
export interface FullBlock {
  block: Block;
  transactions: Transaction[];
}

const broken = (what: string): PorticoError => new PorticoError("BLOCK_INVALID", what);

/** The members of a type before they are checked: their values may be anything. */
export type Untrusted<T> = { [K in keyof T]?: unknown };

const amount = (value: unknown, name: string): bigint => {
  if (value === undefined || value === null) throw broken(`${name} is missing`);
  try {
    return parseAmount(value);
  } catch (error) {
    throw broken(`${name}: ${error instanceof Error ? error.message : "not an amount"}`);
  }
};

const text = (value: unknown, name: string): string => {
  if (value === undefined || value === null || value === "") throw broken(`${name} is missing`);
  if (typeof value !== "string") throw broken(`${name} is not a string`);
  return value;
};

/** In UTF-8, as which it is stored, two ill-formed ids may be one. What is no id may be anything: the network has accepted the block. */
const idText = (value: unknown, name: string): string => {
  const id = text(value, name);
  if (!id.isWellFormed()) throw broken(`${name} has half a surrogate pair`);
  return id;
};

const whole = (value: unknown, name: string): number => {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) throw broken(`${name} is not a whole number`);
  return value;
};

const key = (value: unknown, name: string): string => {
  if (typeof value !== "string" || !isPublicKey(value)) throw broken(`${name} is not a public key`);
  return value;
};

const genesisHeight = 1;

/** Parses the header of a block as hosts and files represent it. @throws PorticoError BLOCK_INVALID naming block and member */
export const parseBlockHeader = (data: Untrusted<BlockData> | null | undefined): Block => {
  if (typeof data !== "object" || data === null) throw broken("a block is not an object");
  const at = `block ${String(data.height)}`;
  const height = whole(data.height, `${at}: height`);
  if (height < genesisHeight) throw broken(`${at}: height is below 1`);
  return {
    id: idText(data.id, `${at}: id`),
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

type Optional<Name extends string, Value> = { [Key in Name]?: Value };

/** undefined, null and "" all mean that the member is missing. */
const isMissing = (value: unknown): boolean => value === undefined || value === null || value === "";

/** A member that may be missing; if present, it must be valid. */
const optional = <Name extends string, Value>(
  name: Name,
  value: unknown,
  read: (value: unknown, name: string) => Value,
  at: string,
): Optional<Name, Value> =>
  isMissing(value) ? {} : ({ [name]: read(value, `${at}: ${name}`) } as Optional<Name, Value>);

const record = (value: unknown, name: string): Record<string, unknown> => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw broken(`${name} is not an object`);
  return value as Record<string, unknown>;
};

const texts = (value: unknown, name: string): string[] => {
  if (!Array.isArray(value)) throw broken(`${name} is not a list`);
  return value.map((item: unknown, index) => text(item, `${name}[${index}]`));
};

/** Genesis blocks have `asset: {}` for transactions without an asset. */
const isEmpty = (asset: unknown): boolean => typeof asset === "object" && asset !== null && Object.keys(asset).length === 0;

interface PaymentData {
  amount: unknown;
}

const isPayment = (item: unknown): item is PaymentData => typeof item === "object" && item !== null && "amount" in item;

/** Copies an asset with the amounts of its payments, which hosts hold in various forms, as decimal strings. */
const asset = (value: unknown, name: string): Record<string, unknown> => {
  const given = record(value, name);
  if (!Array.isArray(given.payments)) return given;
  const payments = given.payments.map((item: unknown, index): unknown =>
    isPayment(item) ? { ...item, amount: String(amount(item.amount, `${name}.payments[${index}].amount`)) } : item,
  );
  return { ...given, payments };
};

/** A transaction that is not in a block yet: it has no place in the chain, and in version 2 no timestamp. */
export type UnconfirmedTransaction = Omit<Transaction, "timestamp" | "blockId" | "blockHeight" | "sequence"> & { timestamp?: number };

/** Parses a transaction as hosts and files represent it; `at` names it in errors. @throws PorticoError BLOCK_INVALID */
export const parseTransaction = (
  data: Untrusted<TransactionData> | null | undefined,
  at: string,
  addressOf: (publicKey: string) => string,
): UnconfirmedTransaction => {
  if (typeof data !== "object" || data === null) throw broken(`${at} is not an object`);
  const senderPublicKey = key(data.senderPublicKey, `${at}: senderPublicKey`);
  const senderId = addressOf(senderPublicKey);
  const version = whole(data.version ?? 1, `${at}: version`);
  const typeGroup = whole(data.typeGroup ?? 1, `${at}: typeGroup`);
  const type = whole(data.type, `${at}: type`);
  return {
    id: idText(data.id, `${at}: id`),
    version,
    typeGroup,
    type,
    ...optional("timestamp", version === 1 ? data.timestamp : undefined, whole, at),
    senderPublicKey,
    senderId,
    amount: amount(data.amount, `${at}: amount`),
    fee: amount(data.fee, `${at}: fee`),
    ...optional("recipientId", isVote({ typeGroup, type }) && isMissing(data.recipientId) ? senderId : data.recipientId, text, at),
    ...optional("nonce", data.nonce, amount, at),
    ...optional("signature", data.signature, text, at),
    ...optional("network", data.network, whole, at),
    ...optional("expiration", data.expiration, whole, at),
    ...optional("vendorField", data.vendorField, text, at),
    ...optional("asset", isEmpty(data.asset) ? undefined : data.asset, asset, at),
    ...optional("secondSignature", data.secondSignature ?? data.signSignature, text, at),
    ...optional("signatures", data.signatures, texts, at),
  };
};

/** Members stand in the same order as in a transaction that a store has read: as JSON, both are the same text. */
const place = ({ id, version, typeGroup, type, timestamp, senderPublicKey, senderId, amount, fee, ...others }: UnconfirmedTransaction, sequence: number, block: Block): Transaction => ({
  ...{ id, version, typeGroup, type, timestamp: timestamp ?? block.timestamp, senderPublicKey, senderId, amount, fee },
  ...{ blockId: block.id, blockHeight: block.height, sequence },
  ...others,
});

/** Parses a whole block, in steps of one transaction. @throws PorticoError BLOCK_INVALID naming block, transaction and member */
export function* parseBlock(data: Untrusted<BlockData> | null | undefined, addressOf: (publicKey: string) => string): Sliced<FullBlock> {
  const block = parseBlockHeader(data);
  const given = data?.transactions ?? [];
  if (!Array.isArray(given)) throw broken(`block ${block.height}: transactions is not a list`);
  if (given.length !== block.numberOfTransactions) {
    throw broken(`block ${block.height} declares ${block.numberOfTransactions} transactions but contains ${given.length}`);
  }
  const transactions: Transaction[] = [];
  for (const [sequence, transaction] of (given as (Untrusted<TransactionData> | null)[]).entries()) {
    const at = `block ${block.height}, transaction ${sequence} (${String(transaction?.id)})`;
    transactions.push(place(parseTransaction(transaction, at, addressOf), sequence, block));
    yield;
  }
  return { block, transactions };
}
