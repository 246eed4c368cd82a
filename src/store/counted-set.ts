import type { Reading } from "./reading.js";

/**
 * Ordered sets of keys in which the n-th key, and the number of keys below any key, are found in O(log n).
 *
 * A set lies in the database `sets`: its keys at level 0, and above them four levels of separators. One key in about
 * `fanout` is a separator of level 1, one in fanout² of level 2, and so on, drawn by a hash of the key itself. A separator
 * holds how many keys lie from it up to the next one of its level; each level also begins with the empty key. The shape
 * depends on the keys alone, not on the order in which they came: nothing is ever rebalanced.
 */

export const topLevel = 4;
const fanoutBits = 6;
const fanoutMask = (1 << fanoutBits) - 1;

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
  for (let h = hash(key); level < topLevel && (h & fanoutMask) === 0; h >>>= fanoutBits) level++;
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
export const startOf = (set: number, level: number): Buffer => at(set, level, nothing);
export const endOf = (set: number, level: number): Buffer => at(set, level + 1, nothing);

export const readCount = (value: unknown): number => (value === undefined ? 0 : (value as Buffer).readUInt32BE(0));

/** Keys from one separator up to a key, counted one level down. */
export const countBetween = (reading: Reading, set: number, level: number, from: Buffer, to: Buffer): number => {
  let count = 0;
  const range = { start: at(set, level, from), end: at(set, level, to) };
  if (level === 0) return reading.count("sets", range);
  for (const { value } of reading.range("sets", range)) count += readCount(value);
  return count;
};

export const keyOf = (full: Buffer): Buffer => full.subarray(2);

/** Number of keys below a key (which need not be in the set). */
export const rankOf = (reading: Reading, set: number, key: Buffer): number => {
  let rank = 0;
  let from: Buffer = nothing;
  for (let level = topLevel; level >= 1; level--) {
    let passed = 0;
    let last = from;
    for (const { key: full, value } of reading.range("sets", { start: at(set, level, from), end: at(set, level, key) })) {
      rank += passed;
      passed = readCount(value);
      last = Buffer.from(keyOf(full));
    }
    from = last;
  }
  return rank + countBetween(reading, set, 0, from, key);
};

/** Number of keys in the set. */
export const sizeOf = (reading: Reading, set: number): number => {
  let size = 0;
  for (const { value } of reading.range("sets", { start: startOf(set, topLevel), end: endOf(set, topLevel) })) size += readCount(value);
  return size;
};

/** A key of the set with what is kept under it. */
export interface Entry {
  key: Buffer;
  value: Buffer;
}

/** Keys from the n-th on (from 0), in order. */
export const entriesFrom = (reading: Reading, set: number, n: number, limit: number): Entry[] => {
  if (limit <= 0) return [];
  let skip = n;
  let from: Buffer = nothing;
  for (let level = topLevel; level >= 1; level--) {
    for (const { key: full, value } of reading.range("sets", { start: at(set, level, from), end: endOf(set, level) })) {
      from = Buffer.from(keyOf(full));
      const count = readCount(value);
      if (skip < count) break;
      skip -= count;
    }
  }
  const entries: Entry[] = [];
  for (const { key: full, value } of reading.range("sets", { start: at(set, 0, from), end: endOf(set, 0), offset: skip, limit })) {
    entries.push({ key: Buffer.from(keyOf(full)), value: value as Buffer });
  }
  return entries;
};
