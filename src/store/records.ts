import type { Block, Lock, Transaction } from "../../types/chain.js";
import {
  blockCodec,
  type Codec,
  type DelegateRecord,
  delegateCodec,
  lockCodec,
  type RankedDelegate,
  rankingCodec,
  type StateRecord,
  stateCodec,
  transactionCodec,
  type WalletRecord,
  walletCodec,
} from "./codec.js";
import { entryOf } from "./counted-set.js";
import { type DatabaseName, idKey, numberKey, sets, textKey } from "./keys.js";
import type { Reading } from "./reading.js";

/** One record, read by what names it. */

export const stateKey = textKey("state");
export const rankingKey = textKey("ranking");

const read = <T>(reading: Pick<Reading, "get">, database: DatabaseName, key: Buffer, codec: Codec<T>): T | undefined => {
  const found = reading.get(database, key);
  return found === undefined ? undefined : codec.unpack(found as unknown[]);
};

export const readState = (reading: Reading): StateRecord | undefined => read(reading, "meta", stateKey, stateCodec);

/** All ranked delegates, by rank, as the last finished round left them. */
export const readRanking = (reading: Reading): RankedDelegate[] => read(reading, "meta", rankingKey, rankingCodec) ?? [];

/** The active delegates of a round, by rank. */
export const readRound = (reading: Reading, round: number): RankedDelegate[] | undefined => read(reading, "rounds", numberKey(round), rankingCodec);

export const readWallet = (reading: Reading, address: string): WalletRecord | undefined => read(reading, "wallets", textKey(address), walletCodec);

export const readDelegate = (reading: Reading, publicKey: string): DelegateRecord | undefined =>
  read(reading, "delegates", idKey(publicKey), delegateCodec);

export const readLock = (reading: Reading, id: string): Lock | undefined => read(reading, "locks", idKey(id), lockCodec);

export const readBlock = (reading: Reading, height: number): Block | undefined => read(reading, "blocks", numberKey(height), blockCodec);

export const readTransaction = (reading: Reading, number: number): Transaction | undefined =>
  read(reading, "transactions", numberKey(number), transactionCodec);

const numberIn = (value: Buffer | undefined): number | undefined => value?.readUInt32BE(0);

export const heightOf = (reading: Reading, blockId: string): number | undefined => numberIn(entryOf(reading, sets.blocksById, textKey(blockId)));

export const transactionNumber = (reading: Reading, id: string): number | undefined => numberIn(entryOf(reading, sets.transactionsById, textKey(id)));

/** A block's transactions have consecutive numbers. */
export const transactionsOfBlock = (reading: Reading, height: number): { first: number; count: number } => {
  const place = reading.get("blockTransactions", numberKey(height)) as Buffer | undefined;
  return place === undefined ? { first: 0, count: 0 } : { first: place.readUInt32BE(0), count: place.readUInt32BE(4) };
};

/** A record that an index points to. It is there, or the store is broken. */
export const existing = <T>(record: T | undefined, what: string): T => {
  if (record === undefined) throw new Error(`the store has no ${what} that its index names`);
  return record;
};
