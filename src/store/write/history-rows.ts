import type { MultiSignature, Tip } from "../../../types/chain.js";
import { textKey, numberKey } from "../layout/keys.js";
import type { DelegateRecord, WalletRecord, RankedDelegate, StateRecord } from "../layout/codec.js";
import type { Lookup } from "../lmdb/read-session.js";
import { readDelegate, readWallet } from "../records/records.js";

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

/** No row has more than eight amounts. */
const room = Buffer.alloc(8 * mostBytes);

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

type WalletTraits = Pick<WalletRecord, "publicKey" | "vote" | "username" | "secondPublicKey" | "resigned" | "multiSignature">;

export const packTraits = ({ publicKey, vote, username, secondPublicKey, resigned, multiSignature }: WalletTraits): Buffer =>
  textKey(JSON.stringify([publicKey, vote, username, secondPublicKey, resigned, multiSignature]));

type PackedTraits = [string | null, string | null, string | null, string | null, boolean, MultiSignature | null];

export const unpackTraits = (bytes: Buffer): WalletTraits => {
  const [publicKey, vote, username, secondPublicKey, resigned, multiSignature] = JSON.parse(bytes.toString("utf8")) as PackedTraits;
  return { publicKey, vote, username, secondPublicKey, resigned, multiSignature };
};

export interface DelegateFigures extends Omit<DelegateRecord, "address" | "publicKey" | "lastBlock"> {
  /** Height of the last block it forged; 0: none. */
  lastHeight: number;
}

export const packDelegate = (figures: DelegateFigures): Buffer => {
  const { voteBalance, voters, producedBlocks, missedBlocks, missedRounds, forgedFees, forgedRewards, lastHeight } = figures;
  const counts = [voters, producedBlocks, missedBlocks, missedRounds, lastHeight].map(BigInt);
  return packAmounts([voteBalance, forgedFees, forgedRewards, ...counts]);
};

export const unpackDelegate = (bytes: Buffer): DelegateFigures => {
  const fees = afterAmount(bytes, 0);
  const rewards = afterAmount(bytes, fees);
  const voters = afterAmount(bytes, rewards);
  const produced = afterAmount(bytes, voters);
  const missed = afterAmount(bytes, produced);
  const rounds = afterAmount(bytes, missed);
  return {
    voteBalance: amountAt(bytes, 0),
    forgedFees: amountAt(bytes, fees),
    forgedRewards: amountAt(bytes, rewards),
    voters: countAt(bytes, voters),
    producedBlocks: countAt(bytes, produced),
    missedBlocks: countAt(bytes, missed),
    missedRounds: countAt(bytes, rounds),
    lastHeight: countAt(bytes, afterAmount(bytes, rounds)),
  };
};

/** `was`: whether the wallet voted for the delegate before the block. */
export const packVoter = (was: boolean, address: string): Buffer => Buffer.concat([Buffer.from([was ? 1 : 0]), textKey(address)]);

export const unpackVoter = (bytes: Buffer): { was: boolean; address: string } => ({ was: bytes[0] === 1, address: bytes.toString("utf8", 1) });

/** Writes what a block overwrites, as rows of the database `history`. */
export interface HistoryRows {
  /** `before` is undefined for a wallet that the block creates. */
  wallet(before: WalletRecord | undefined, after: WalletRecord, delegateNumber: (publicKey: string) => number | undefined): void;
  /** The record as it was before the block. Of several in one block, the first counts. */
  delegate(number: number, before: DelegateRecord): void;
  ranks(before: readonly RankedDelegate[], after: readonly RankedDelegate[], delegateNumber: (publicKey: string) => number | undefined): void;
  /** To be called last, with the state after the block and its digest. */
  end(state: StateRecord, digest: Buffer): void;
}

const traitNames = ["publicKey", "vote", "username", "secondPublicKey", "resigned"] as const satisfies (keyof WalletTraits)[];

const haveSameTraits = (one: WalletTraits, other: WalletTraits): boolean =>
  traitNames.every((name) => one[name] === other[name]) &&
  (one.multiSignature === other.multiSignature || JSON.stringify(one.multiSignature) === JSON.stringify(other.multiSignature));

const haveSameFigures = (one: WalletRecord, other: WalletRecord): boolean =>
  one.balance === other.balance && one.nonce === other.nonce && one.lockedBalance === other.lockedBalance && one.vote === other.vote;

const heightRow = ({ tip, supply, wallets }: StateRecord, digest: Buffer): [key: Buffer, value: Buffer] => [
  historyRowKey(historyKinds.heights, 0, tip.height),
  packHeight({ supply, wallets, digest }),
];

const packTip = ({ height, id }: Pick<Tip, "height" | "id">): [number, string] => [height, id];

/** Number of a delegate's wallet, which may be one of `written`: those of a block that are not in the store yet. */
export const numberOfDelegate = (publicKey: string, reading: Lookup, written?: ReadonlyMap<string, { number: number }>): number | undefined => {
  const address = readDelegate(reading, publicKey)?.address;
  return address === undefined ? undefined : (written?.get(address) ?? readWallet(reading, address))?.number;
};

/** `put` writes a row, which is new. */
const createHistoryRows = (height: number, put: (key: Buffer, value: Buffer) => void): HistoryRows => {
  const written = new Set<number>();
  return {
    wallet: (before, after, delegateNumber) => {
      const { number, address } = after;
      if (before !== undefined && !haveSameFigures(before, after))
        put(historyRowKey(historyKinds.figures, number, height), packFigures(before));
      if (before !== undefined && !haveSameTraits(before, after))
        put(historyRowKey(historyKinds.traits, number, height), packTraits(before));
      const old = before?.vote ?? null;
      if (old === after.vote) return;
      for (const [vote, was] of [[old, true], [after.vote, false]] as const) {
        const delegate = vote === null ? undefined : delegateNumber(vote);
        if (delegate !== undefined) put(voterRowKey(delegate, height, number), packVoter(was, address));
      }
    },
    delegate: (number, before) => {
      if (written.has(number)) return;
      written.add(number);
      put(historyRowKey(historyKinds.delegates, number, height), packDelegate({ ...before, lastHeight: before.lastBlock?.height ?? 0 }));
    },
    ranks: (before, after, delegateNumber) => {
      const old = new Map(before.map(({ publicKey }, place) => [publicKey, place + 1]));
      const now = new Map(after.map(({ publicKey }, place) => [publicKey, place + 1]));
      for (const publicKey of new Set([...old.keys(), ...now.keys()])) {
        const rank = old.get(publicKey) ?? 0;
        const number = rank === (now.get(publicKey) ?? 0) ? undefined : delegateNumber(publicKey);
        if (number !== undefined) put(historyRowKey(historyKinds.ranks, number, height), numberKey(rank));
      }
    },
    end: (state, digest) => put(...heightRow(state, digest)),
  };
};

interface Journaled {
  insert(database: "history", key: Buffer, value: unknown): void;
  put(database: "history" | "meta", key: Buffer, value: unknown): void;
}

/** The block up to which history is complete. */
export const readHistoryTip = (reading: Lookup): Pick<Tip, "height" | "id"> | undefined => {
  const found = reading.get("meta", historyTipKey) as [number, string] | undefined;
  return found && { height: found[0], id: found[1] };
};

export const readHistoryFrom = (reading: Lookup): number | undefined => reading.get("meta", historyFromKey) as number | undefined;

/**
 * The rows of a block on the state `before`. Where history is not complete up to there, because the store was written without, it begins
 * with that state.
 */
export const continueHistory = (height: number, before: { state: StateRecord; digest: Buffer } | undefined, pending: Lookup, journal: Journaled): HistoryRows => {
  if (before === undefined) journal.put("meta", historyFromKey, height);
  else if (readHistoryTip(pending)?.id !== before.state.tip.id) {
    journal.put("meta", historyFromKey, before.state.tip.height);
    const [key, value] = heightRow(before.state, before.digest);
    journal.put("history", key, value);
  }
  const rows = createHistoryRows(height, (key, value) => journal.insert("history", key, value));
  return {
    ...rows,
    end: (state, digest) => {
      rows.end(state, digest);
      journal.put("meta", historyTipKey, packTip(state.tip));
    },
  };
};
