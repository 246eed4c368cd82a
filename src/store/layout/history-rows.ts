import type { MultiSignature } from "../../../types/chain.js";
import { textKey } from "./keys.js";
import type { DelegateRecord, WalletRecord } from "./codec.js";

/**
 * The database `history`: what blocks have overwritten. A row stands under a kind, a wallet's number and a height, and says what the wallet
 * was before the block at that height changed it. So the state at a height is in the first row above it, or, where there is none, in the
 * record of the tip; and a wallet that never changed has no row at all.
 *
 * Posting lists, transactions, blocks and rounds need no rows: they only grow, and are cut at a number.
 */
export const historyKinds = {
  /** By height alone, the state after the block: digest, supply, number of wallets. */
  heights: 1,
  /** Balance, nonce, locked balance: one row for each block that changed any of them, or the vote. */
  figures: 2,
  /** All that changes rarely, the vote included. */
  traits: 3,
  /** What a delegate has beyond its wallet. */
  delegates: 4,
  /** A delegate's rank; 0 for none. */
  ranks: 5,
  /** Delegate, height, number of a wallet: whether the wallet was one of its voters, and its address. */
  voters: 6,
} as const;

export type HistoryKind = (typeof historyKinds)[keyof typeof historyKinds];

/** In `meta`: the first height whose state the store has, */
export const historyFromKey: Buffer = textKey("history from");
/** and the block up to which it has it: history is complete if that is the tip. Height, id. */
export const historyTipKey: Buffer = textKey("history tip");

const keyLength = 9;

export const historyRowKey = (kind: HistoryKind, number: number, height: number): Buffer => {
  const key = Buffer.allocUnsafe(keyLength);
  key[0] = kind;
  key.writeUInt32BE(number, 1);
  key.writeUInt32BE(height, 5);
  return key;
};

export const voterRowKey = (delegate: number, height: number, wallet: number): Buffer => {
  const key = Buffer.allocUnsafe(keyLength + 4);
  key[0] = historyKinds.voters;
  key.writeUInt32BE(delegate, 1);
  key.writeUInt32BE(height, 5);
  key.writeUInt32BE(wallet, keyLength);
  return key;
};

export const heightOfRow = (key: Buffer): number => key.readUInt32BE(5);

/** Rows of one kind and number, from a height (inclusive) to another (exclusive; not given: to the last). A new object each time. */
export const historyBounds = (kind: HistoryKind, number: number, from: number, below?: number): { start: Buffer; end: Buffer } => ({
  start: historyRowKey(kind, number, from),
  end: below === undefined ? historyRowKey(kind, number + 1, 0) : historyRowKey(kind, number, below),
});

/** Numbers below it are written and read several times as fast as others. */
const shortBelow = 2n ** 48n;

/** How many bytes such a number takes. */
const lengthOf = (value: number): number => (value < 2 ** 32 ? 4 - (Math.clz32(value) >>> 3) : 8 - (Math.clz32(value / 2 ** 32) >>> 3));

/** Writes the bytes of a magnitude from a place on. Returns how many they are. */
const writeMagnitude = (bytes: Buffer, magnitude: bigint, at: number): number => {
  if (magnitude < shortBelow) {
    const value = Number(magnitude);
    const length = lengthOf(value);
    if (length > 0) bytes.writeUIntBE(value, at, length);
    return length;
  }
  const hex = magnitude.toString(16);
  return bytes.write(hex.length % 2 === 0 ? hex : `0${hex}`, at, "hex");
};

/** Of an amount: nothing is larger than 2^1000. */
const mostBytes = 1 + 125;

/** No row has more than six amounts. */
const room = Buffer.alloc(6 * mostBytes);

/** Whole numbers of any size and sign as bytes, without their names: the digits of each magnitude in base 256, after a byte for their number and the sign. */
export const packAmounts = (values: readonly bigint[]): Buffer => {
  const bytes = values.length * mostBytes <= room.length ? room : Buffer.alloc(values.length * mostBytes);
  let at = 0;
  for (const value of values) {
    const isNegative = value < 0n;
    const length = writeMagnitude(bytes, isNegative ? -value : value, at + 1);
    bytes[at] = (length << 1) | (isNegative ? 1 : 0);
    at += 1 + length;
  }
  return Buffer.from(bytes.subarray(0, at));
};

/** Most amounts fit into a number, or into 64 bits, which are read several times as fast as digits. */
const magnitudeAt = (bytes: Buffer, begin: number, end: number): bigint => {
  const length = end - begin;
  if (length === 0) return 0n;
  if (length <= 6) return BigInt(bytes.readUIntBE(begin, length));
  // Before the bytes of an amount there is always one more: from it on, eight are there.
  return length <= 8 ? BigInt.asUintN(8 * length, bytes.readBigUInt64BE(end - 8)) : BigInt(`0x${bytes.toString("hex", begin, end)}`);
};

/** The amounts from a place in bytes to their end. */
export const unpackAmounts = (bytes: Buffer, from = 0): bigint[] => {
  const values: bigint[] = [];
  for (let at = from; at < bytes.length; ) {
    const head = bytes[at] ?? 0;
    const end = at + 1 + (head >>> 1);
    const magnitude = magnitudeAt(bytes, at + 1, end);
    values.push((head & 1) === 1 ? -magnitude : magnitude);
    at = end;
  }
  return values;
};

const digestLength = 32;

export interface HeightRow {
  supply: bigint;
  wallets: number;
  digest: Buffer;
}

export const packHeight = ({ supply, wallets, digest }: HeightRow): Buffer => Buffer.concat([digest, packAmounts([supply, BigInt(wallets)])]);

export const unpackHeight = (bytes: Buffer): HeightRow => {
  const [supply = 0n, wallets = 0n] = unpackAmounts(bytes, digestLength);
  return { supply, wallets: Number(wallets), digest: bytes.subarray(0, digestLength) };
};

export type WalletFigures = Pick<WalletRecord, "balance" | "nonce" | "lockedBalance">;

export const packFigures = ({ balance, nonce, lockedBalance }: WalletFigures): Buffer => packAmounts([balance, nonce, lockedBalance]);

export const unpackFigures = (bytes: Buffer): WalletFigures => {
  const [balance = 0n, nonce = 0n, lockedBalance = 0n] = unpackAmounts(bytes);
  return { balance, nonce, lockedBalance };
};

export type WalletTraits = Pick<WalletRecord, "publicKey" | "vote" | "username" | "secondPublicKey" | "resigned" | "multiSignature">;

export const packTraits = ({ publicKey, vote, username, secondPublicKey, resigned, multiSignature }: WalletTraits): Buffer =>
  textKey(JSON.stringify([publicKey, vote, username, secondPublicKey, resigned, multiSignature]));

type PackedTraits = [string | null, string | null, string | null, string | null, boolean, MultiSignature | null];

export const unpackTraits = (bytes: Buffer): WalletTraits => {
  const [publicKey, vote, username, secondPublicKey, resigned, multiSignature] = JSON.parse(bytes.toString("utf8")) as PackedTraits;
  return { publicKey, vote, username, secondPublicKey, resigned, multiSignature };
};

export interface DelegateFigures extends Pick<DelegateRecord, "voteBalance" | "producedBlocks" | "missedBlocks" | "forgedFees" | "forgedRewards"> {
  /** Height of the last block it forged; 0: none. */
  lastHeight: number;
}

export const packDelegate = ({ voteBalance, producedBlocks, missedBlocks, forgedFees, forgedRewards, lastHeight }: DelegateFigures): Buffer =>
  packAmounts([voteBalance, BigInt(producedBlocks), BigInt(missedBlocks), forgedFees, forgedRewards, BigInt(lastHeight)]);

export const unpackDelegate = (bytes: Buffer): DelegateFigures => {
  const [voteBalance = 0n, produced = 0n, missed = 0n, forgedFees = 0n, forgedRewards = 0n, last = 0n] = unpackAmounts(bytes);
  return { voteBalance, producedBlocks: Number(produced), missedBlocks: Number(missed), forgedFees, forgedRewards, lastHeight: Number(last) };
};

/** `was`: whether the wallet voted for the delegate before the block. */
export const packVoter = (was: boolean, address: string): Buffer => Buffer.concat([Buffer.from([was ? 1 : 0]), textKey(address)]);

export const unpackVoter = (bytes: Buffer): { was: boolean; address: string } => ({ was: bytes[0] === 1, address: bytes.toString("utf8", 1) });
