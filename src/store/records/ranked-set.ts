import type { RangeOptions } from "lmdb";
import { numberAtEnd } from "../layout/keys.js";
import type { Lookup, ReadSession, WriterReads } from "../lmdb/read-session.js";

// Ordered sets of keys in which the n-th key, and the number of keys below any key, are found in O(log n).
//
// A set is kept in the database `sets`: its keys at level 0, and above them three levels of separators. About one key in 256 is a
// separator of level 1, one in 64 of those is also one of level 2, and one in 64 of those one of level 3, as a hash of the key decides.
// A separator counts the keys from it up to the next one of its level; each level also begins with the empty key. The shape depends on
// the keys alone, not on the order in which they came: nothing is ever rebalanced.

/** How many bits of the hash decide on each level. Level 1 is the widest: keys are skipped within LMDB, separators are not. */
const levelBits = [8, 6, 6] as const;
export const topLevel: number = levelBits.length;

/** A hash that spreads well in its low bits: FNV-1a, then a finaliser. */
const hash = (key: Buffer): number => {
  let h = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) h = Math.imul(h ^ (key[i] ?? 0), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
};

/** Highest level that a key is a separator of. */
export const levelOf = (key: Buffer): number => {
  let level = 0;
  let h = hash(key);
  for (const bits of levelBits) {
    if ((h & ((1 << bits) - 1)) !== 0) break;
    h >>>= bits;
    level++;
  }
  return level;
};

/** Key of a set in the database: set, level, then the key itself. */
export const at = (set: number, level: number, key: Buffer): Buffer => {
  const full = Buffer.allocUnsafe(2 + key.length);
  full[0] = set;
  full[1] = level;
  key.copy(full, 2);
  return full;
};

export const nothing = Buffer.alloc(0);
export const endOf = (set: number, level: number): Buffer => at(set, level + 1, nothing);

export const readCount = (value: unknown): number => (value === undefined ? 0 : (value as Buffer).readUInt32BE(0));

/** Number of keys from one (inclusive) to another (exclusive), by stepping over them: for keys that are close to each other. */
export const countBetween = (reading: WriterReads, set: number, from: Buffer, to: Buffer): number =>
  reading.count("sets", { start: at(set, 0, from), end: at(set, 0, to) });

/** What is kept under a key; undefined: it is not in the set. */
export const entryOf = (reading: Lookup, set: number, key: Buffer): Buffer | undefined =>
  reading.get("sets", at(set, 0, key)) as Buffer | undefined;

export const keyOf = (full: Buffer): Buffer => full.subarray(2);

/** Number of keys below a key (which need not be in the set). */
export const rankOf = (reading: ReadSession, set: number, key: Buffer): number => {
  let rank = 0;
  let from: Buffer = nothing;
  for (let level = topLevel; level >= 1; level--) {
    let passed = 0;
    let last: Buffer | undefined;
    for (const { key: full, value } of reading.range("sets", { start: at(set, level, from), end: at(set, level, key) })) {
      rank += passed;
      passed = readCount(value);
      last = full;
    }
    if (last !== undefined) from = keyOf(last);
  }
  return rank + countBetween(reading, set, from, key);
};

/** Number of keys in the set. */
export const sizeOf = (reading: ReadSession, set: number): number => {
  let size = 0;
  for (const { value } of reading.range("sets", { start: at(set, topLevel, nothing), end: endOf(set, topLevel) })) size += readCount(value);
  return size;
};

/** A key of the set with what is kept under it. */
export interface Entry {
  key: Buffer;
  value: Buffer;
}

/** The first key of the set that is not below a key. */
export const keyFrom = (reading: ReadSession, set: number, key: Buffer): Buffer | undefined => {
  for (const full of reading.keys("sets", { start: at(set, 0, key), end: endOf(set, 0), limit: 1 })) return keyOf(full);
  return undefined;
};

/** Where the n-th key (from 0) is: `skip` keys after the separator `from`. */
const placeOf = (reading: ReadSession, set: number, n: number): { from: Buffer; skip: number } => {
  let skip = n;
  let from: Buffer = nothing;
  for (let level = topLevel; level >= 1; level--) {
    let last: Buffer | undefined;
    for (const { key: full, value } of reading.range("sets", { start: at(set, level, from), end: endOf(set, level) })) {
      last = full;
      const count = readCount(value);
      if (skip < count) break;
      skip -= count;
    }
    if (last !== undefined) from = keyOf(last);
  }
  return { from, skip };
};

/** What is read of each key of a set. */
export type ReadKeys<T> = (reading: ReadSession, options: RangeOptions) => T[];

export const readEntries: ReadKeys<Entry> = (reading, options) => {
  const entries: Entry[] = [];
  for (const { key: full, value } of reading.range("sets", options)) entries.push({ key: keyOf(full), value: value as Buffer });
  return entries;
};

/** The numbers at the ends of the keys. Nothing else is read. */
export const readNumbers: ReadKeys<number> = (reading, options) => {
  const numbers: number[] = [];
  for (const full of reading.keys("sets", options)) numbers.push(numberAtEnd(full));
  return numbers;
};

/** Keys from the n-th on (from 0), in order. */
export const fromNth = <T>(read: ReadKeys<T>, reading: ReadSession, set: number, n: number, limit: number): T[] => {
  if (limit <= 0) return [];
  const { from, skip } = placeOf(reading, set, n);
  return read(reading, { start: at(set, 0, from), end: endOf(set, 0), offset: skip, limit });
};

export interface KeyRange {
  /** Inclusive; undefined: from the first key. */
  from: Buffer | undefined;
  /** Exclusive; undefined: to the end. */
  to: Buffer | undefined;
}

/** The first keys of a range, in order. */
export const firstWithin = <T>(read: ReadKeys<T>, reading: ReadSession, set: number, { from = nothing, to }: KeyRange, limit: number): T[] =>
  read(reading, { start: at(set, 0, from), end: to === undefined ? endOf(set, 0) : at(set, 0, to), limit });
