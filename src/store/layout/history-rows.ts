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

const writeRowKey = (key: Buffer, kind: HistoryKind, number: number, height: number): Buffer => {
  key[0] = kind;
  key.writeUInt32BE(number, 1);
  key.writeUInt32BE(height, 5);
  return key;
};

export const historyRowKey = (kind: HistoryKind, number: number, height: number): Buffer =>
  writeRowKey(Buffer.allocUnsafe(keyLength), kind, number, height);

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

const above = { start: Buffer.alloc(keyLength), end: Buffer.alloc(keyLength) };

/** Rows of one kind and number above a height, for a search that copies its bounds: they last until the next call. */
export const boundsAbove = (kind: HistoryKind, number: number, height: number): { start: Buffer; end: Buffer } => {
  writeRowKey(above.start, kind, number, height + 1);
  writeRowKey(above.end, kind, number + 1, 0);
  return above;
};

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

/**
 * Whole numbers of any size and sign as bytes, without their names: the digits of each magnitude in base 256, after a byte for their number
 * and the sign.
 */
const packAmounts = (values: readonly bigint[]): Buffer => {
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

const headAt = (bytes: Buffer, at: number): number => bytes[at] ?? 0;

/** Where the amount after the one at a place begins. */
const afterAmount = (bytes: Buffer, at: number): number => at + 1 + (headAt(bytes, at) >>> 1);

const amountAt = (bytes: Buffer, at: number): bigint => {
  const magnitude = magnitudeAt(bytes, at + 1, afterAmount(bytes, at));
  return (headAt(bytes, at) & 1) === 1 ? -magnitude : magnitude;
};

/** An amount that is a number of something. */
const countAt = (bytes: Buffer, at: number): number => {
  const length = headAt(bytes, at) >>> 1;
  if (length === 0) return 0;
  return length <= 6 ? bytes.readUIntBE(at + 1, length) : Number(amountAt(bytes, at));
};

const digestLength = 32;

interface HeightRow {
  supply: bigint;
  wallets: number;
  digest: Buffer;
}

export const packHeight = ({ supply, wallets, digest }: HeightRow): Buffer =>
  Buffer.concat([digest, packAmounts([supply, BigInt(wallets)])]);

/** All but the digest, which few ask for. */
export const unpackHeight = (bytes: Buffer): Omit<HeightRow, "digest"> => ({
  supply: amountAt(bytes, digestLength),
  wallets: countAt(bytes, afterAmount(bytes, digestLength)),
});

export const unpackDigest = (bytes: Buffer): Buffer => bytes.subarray(0, digestLength);

export type WalletFigures = Pick<WalletRecord, "balance" | "nonce" | "lockedBalance">;

export const packFigures = ({ balance, nonce, lockedBalance }: WalletFigures): Buffer => packAmounts([balance, nonce, lockedBalance]);

export const unpackFigures = (bytes: Buffer): WalletFigures => {
  const nonce = afterAmount(bytes, 0);
  return { balance: amountAt(bytes, 0), nonce: amountAt(bytes, nonce), lockedBalance: amountAt(bytes, afterAmount(bytes, nonce)) };
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
  const produced = afterAmount(bytes, 0);
  const missed = afterAmount(bytes, produced);
  const fees = afterAmount(bytes, missed);
  const rewards = afterAmount(bytes, fees);
  return {
    voteBalance: amountAt(bytes, 0),
    producedBlocks: countAt(bytes, produced),
    missedBlocks: countAt(bytes, missed),
    forgedFees: amountAt(bytes, fees),
    forgedRewards: amountAt(bytes, rewards),
    lastHeight: countAt(bytes, afterAmount(bytes, rewards)),
  };
};

/** `was`: whether the wallet voted for the delegate before the block. */
export const packVoter = (was: boolean, address: string): Buffer => Buffer.concat([Buffer.from([was ? 1 : 0]), textKey(address)]);

export const unpackVoter = (bytes: Buffer): { was: boolean; address: string } => ({ was: bytes[0] === 1, address: bytes.toString("utf8", 1) });
