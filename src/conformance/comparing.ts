import { deepStrictEqual } from "node:assert";
import type { Block, Delegate, FeeStatistics, Lock, RoundDelegate, Transaction, Wallet } from "../../types/chain.js";

type Members<Row> = { readonly [Member in keyof Required<Row>]: true };

/** The members of each row in the contract. An adapter's rows may have more, and may be instances of a class. */
const members = {
  wallet: {
    address: true,
    publicKey: true,
    secondPublicKey: true,
    username: true,
    balance: true,
    lockedBalance: true,
    nonce: true,
    vote: true,
    multiSignature: true,
    isDelegate: true,
    resigned: true,
    voteBalance: true,
    producedBlocks: true,
    forgedFees: true,
    forgedRewards: true,
    rank: true,
  } satisfies Members<Wallet>,
  delegate: {
    username: true,
    address: true,
    publicKey: true,
    voteBalance: true,
    voters: true,
    rank: true,
    approval: true,
    producedBlocks: true,
    missedBlocks: true,
    productivity: true,
    missedRounds: true,
    forgedFees: true,
    forgedRewards: true,
    forgedTotal: true,
    lastBlock: true,
    resigned: true,
    vote: true,
    balance: true,
  } satisfies Members<Delegate>,
  block: {
    id: true,
    version: true,
    height: true,
    timestamp: true,
    previousBlock: true,
    numberOfTransactions: true,
    totalAmount: true,
    totalFee: true,
    reward: true,
    payloadLength: true,
    payloadHash: true,
    generatorPublicKey: true,
    blockSignature: true,
  } satisfies Members<Block>,
  transaction: {
    id: true,
    version: true,
    network: true,
    typeGroup: true,
    type: true,
    timestamp: true,
    nonce: true,
    senderPublicKey: true,
    senderId: true,
    recipientId: true,
    amount: true,
    fee: true,
    vendorField: true,
    asset: true,
    signature: true,
    secondSignature: true,
    signatures: true,
    expiration: true,
    blockId: true,
    blockHeight: true,
    sequence: true,
  } satisfies Members<Transaction>,
  lock: {
    lockId: true,
    senderPublicKey: true,
    senderId: true,
    recipientId: true,
    amount: true,
    secretHash: true,
    timestamp: true,
    expiration: true,
    vendorField: true,
  } satisfies Members<Lock>,
  roundDelegate: { publicKey: true, username: true, voteBalance: true } satisfies Members<RoundDelegate>,
  feeStatistics: { typeGroup: true, type: true, avg: true, min: true, max: true, sum: true } satisfies Members<FeeStatistics>,
};

export type RowKind = keyof typeof members;

const namesOf = Object.fromEntries(Object.entries(members).map(([kind, of]) => [kind, Object.keys(of)])) as Record<RowKind, string[]>;

const plain = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
};

/**
 * The members of a row that are in the contract, as plain objects. Absent ones stay absent, and undefined ones stay undefined, so
 * that an adapter that writes undefined for an absent member fails.
 */
export const rowOf = (kind: RowKind, row: object | undefined): unknown => {
  if (row === undefined) return undefined;
  const found: Record<string, unknown> = {};
  for (const name of namesOf[kind]) if (name in row) found[name] = plain((row as Record<string, unknown>)[name]);
  return found;
};

/** What is no list stays as it is, for a comparison to show. */
export const rowsOf = (kind: RowKind, rows: unknown): unknown => (Array.isArray(rows) ? rows.map((row: object) => rowOf(kind, row)) : rows);

const digits = (_: string, value: unknown): unknown => (typeof value === "bigint" ? `${value}n` : value);

/** Formats a query or a row for a message. */
export const show = (value: unknown): string => JSON.stringify(value, digits);

/** Deep, strict equality. @throws AssertionError that says what was compared, and where the two differ */
export const same = (actual: unknown, expected: unknown, what: string): void => {
  try {
    deepStrictEqual(actual, expected);
  } catch (error) {
    if (error instanceof Error) error.message = `${what}\n${error.message}`;
    throw error;
  }
};
