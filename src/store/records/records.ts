import type { Block, Lock, Transaction } from "../../../types/chain.js";
import type { FullBlock } from "../../chain/blocks/block.js";
import { PorticoError } from "../../errors.js";
import {
  type Codec,
  type DelegateRecord,
  delegateCodec,
  lockCodec,
  type RankedDelegate,
  rankingCodec,
  type StateRecord,
  stateCodec,
  type WalletRecord,
  walletCodec,
  blockCodec,
  transactionCodec,
} from "../layout/codec.js";
import { entryOf } from "./ranked-set.js";
import { type DatabaseName, idKey, numberKey, sets, textKey } from "../layout/keys.js";
import type { Lookup } from "../lmdb/read-session.js";

// Reads of single records.

export const stateKey = textKey("state");
export const rankingKey = textKey("ranking");

const read = <T>(reading: Lookup, database: DatabaseName, key: Buffer, codec: Codec<T>): T | undefined => {
  const found = reading.get(database, key);
  if (found === undefined) return undefined;
  try {
    return codec.unpack(found as unknown[]);
  } catch (cause) {
    throw new PorticoError("RECORD_DAMAGED", `The store is damaged: a record of "${database}" cannot be read.`, { cause });
  }
};

export const readState = (reading: Lookup): StateRecord | undefined => read(reading, "meta", stateKey, stateCodec);

/** All ranked delegates, by rank, as the last finished round left them. */
export const readRanking = (reading: Lookup): RankedDelegate[] => read(reading, "meta", rankingKey, rankingCodec) ?? [];

/** The active delegates of a round, by rank. */
export const readRound = (reading: Lookup, round: number): RankedDelegate[] | undefined =>
  read(reading, "rounds", numberKey(round), rankingCodec);

export const readWallet = (reading: Lookup, address: string): WalletRecord | undefined =>
  read(reading, "wallets", textKey(address), walletCodec);

export const readDelegate = (reading: Lookup, publicKey: string): DelegateRecord | undefined =>
  read(reading, "delegates", idKey(publicKey), delegateCodec);

export const readLock = (reading: Lookup, id: string): Lock | undefined => read(reading, "locks", idKey(id), lockCodec);

export const readBlock = (reading: Lookup, height: number): Block | undefined => read(reading, "blocks", numberKey(height), blockCodec);

export const readTransaction = (reading: Lookup, number: number): Transaction | undefined =>
  read(reading, "transactions", numberKey(number), transactionCodec);

const numberIn = (value: Buffer | undefined): number | undefined => value?.readUInt32BE(0);

export const heightOf = (reading: Lookup, blockId: string): number | undefined =>
  numberIn(entryOf(reading, sets.blocksById, textKey(blockId)));

export const transactionNumber = (reading: Lookup, id: string): number | undefined =>
  numberIn(entryOf(reading, sets.transactionsById, textKey(id)));

export const readTransactionById = (reading: Lookup, id: string): Transaction | undefined => {
  const number = transactionNumber(reading, id);
  return number === undefined ? undefined : readTransaction(reading, number);
};

/** A block's transactions have consecutive numbers. */
export const transactionsOfBlock = (reading: Lookup, height: number): { first: number; count: number } => {
  const place = reading.get("blockTransactions", numberKey(height)) as Buffer | undefined;
  return place === undefined ? { first: 0, count: 0 } : { first: place.readUInt32BE(0), count: place.readUInt32BE(4) };
};

/** A record that an index points to. It is there, or the store is broken. */
export const existing = <T>(record: T | undefined, what: string): T => {
  if (record === undefined) throw new PorticoError("RECORD_DAMAGED", `The store is damaged: it has no ${what}, which its index names.`);
  return record;
};

/** A block of the chain with its transactions. */
export const readFullBlock = (reading: Lookup, height: number): FullBlock => {
  const { first, count } = transactionsOfBlock(reading, height);
  return {
    block: existing(readBlock(reading, height), `block ${height}`),
    transactions: Array.from({ length: count }, (_, i) => existing(readTransaction(reading, first + i), `transaction ${first + i}`)),
  };
};

/** Address of the wallet that has a public key, or the username. */
export const addressNamed = (reading: Lookup, identifier: string): string | undefined =>
  ((reading.get("publicKeys", idKey(identifier)) ?? reading.get("usernames", textKey(identifier))) as Buffer | undefined)?.toString("utf8");
