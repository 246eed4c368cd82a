import type { Block, Lock, MultiSignature, Transaction } from "portico";
import { amountOf, amountText } from "./amounts.js";
import type { SqlRow, SqlValue } from "./database.js";

/** How a member is stored in its column, which has the member's name. */
type Kind = "text" | "number" | "amount" | "flag" | "json";
export type Columns<Row> = { readonly [Member in keyof Required<Row>]: Kind };

const write: Record<Kind, (value: unknown) => SqlValue> = {
  text: (value) => value as string,
  number: (value) => value as number,
  amount: (value) => amountText(value as bigint),
  flag: (value) => Number(value),
  json: (value) => JSON.stringify(value),
};

const read: Record<Kind, (value: unknown) => unknown> = {
  text: (value) => value,
  number: (value) => value,
  amount: (value) => amountOf(value as string),
  flag: (value) => value === 1,
  json: (value): unknown => JSON.parse(value as string),
};

/** The values of a row's columns, in the order of `columns`. A member that is null or absent is NULL. */
export const valuesOf = <Row extends object>(columns: Columns<Row>, row: Row): SqlValue[] =>
  (Object.keys(columns) as (keyof Row & string)[]).map((member) => {
    const value: unknown = row[member];
    return value === undefined || value === null ? null : write[columns[member]](value);
  });

/** Makes a row from its columns. NULL becomes null or an absent member, as `absent` says. */
export const rowFrom = <Row extends object>(columns: Columns<Row>, found: SqlRow, absent: "null" | "absent"): Row => {
  const row: Record<string, unknown> = {};
  for (const member in columns) {
    const value = found[member];
    if (value !== null) row[member] = read[columns[member]](value);
    else if (absent === "null") row[member] = null;
  }
  return row as Row;
};

/** A wallet together with its data as a delegate, in one row. */
export interface WalletRow {
  address: string;
  publicKey: string | null;
  secondPublicKey: string | null;
  username: string | null;
  balance: bigint;
  lockedBalance: bigint;
  nonce: bigint;
  vote: string | null;
  multiSignature: MultiSignature | null;
  resigned: boolean;
  voteBalance: bigint;
  voters: number;
  rank: number | null;
  producedBlocks: number;
  missedBlocks: number;
  productivity: number | null;
  forgedFees: bigint;
  forgedRewards: bigint;
  forgedTotal: bigint;
  lastBlock: { id: string; height: number; timestamp: number } | null;
}

export const walletColumns: Columns<WalletRow> = {
  address: "text",
  publicKey: "text",
  secondPublicKey: "text",
  username: "text",
  balance: "amount",
  lockedBalance: "amount",
  nonce: "amount",
  vote: "text",
  multiSignature: "json",
  resigned: "flag",
  voteBalance: "amount",
  voters: "number",
  rank: "number",
  producedBlocks: "number",
  missedBlocks: "number",
  productivity: "number",
  forgedFees: "amount",
  forgedRewards: "amount",
  forgedTotal: "amount",
  lastBlock: "json",
};

export const blockColumns: Columns<Block> = {
  id: "text",
  version: "number",
  height: "number",
  timestamp: "number",
  previousBlock: "text",
  numberOfTransactions: "number",
  totalAmount: "amount",
  totalFee: "amount",
  reward: "amount",
  payloadLength: "number",
  payloadHash: "text",
  generatorPublicKey: "text",
  blockSignature: "text",
};

export const transactionColumns: Columns<Transaction> = {
  id: "text",
  version: "number",
  network: "number",
  typeGroup: "number",
  type: "number",
  timestamp: "number",
  nonce: "amount",
  senderPublicKey: "text",
  senderId: "text",
  recipientId: "text",
  amount: "amount",
  fee: "amount",
  vendorField: "json",
  asset: "json",
  signature: "text",
  secondSignature: "text",
  signatures: "json",
  expiration: "number",
  blockId: "text",
  blockHeight: "number",
  sequence: "number",
};

export const lockColumns: Columns<Lock> = {
  lockId: "text",
  senderPublicKey: "text",
  senderId: "text",
  recipientId: "text",
  amount: "amount",
  secretHash: "text",
  timestamp: "number",
  expiration: "json",
  vendorField: "json",
};
