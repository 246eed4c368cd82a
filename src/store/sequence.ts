import { entriesFrom, type Entry, rankOf, sizeOf } from "./counted-set.js";
import type { Reading } from "./reading.js";

/** An ordered list of which any part can be had without walking to it. What the questions of the store are answered from. */
export interface Sequence<T> {
  readonly total: number;
  /** At most `limit` items from `offset` on; both whole numbers from 0. */
  slice(offset: number, limit: number): T[];
}

export const emptySequence: Sequence<never> = { total: 0, slice: () => [] };

export const arraySequence = <T>(items: readonly T[]): Sequence<T> => ({
  total: items.length,
  slice: (offset, limit) => items.slice(offset, offset + limit),
});

/** The whole numbers from 0 to below `total`. */
export const numberSequence = (total: number): Sequence<number> => ({
  total,
  slice: (offset, limit) => Array.from({ length: Math.max(0, Math.min(limit, total - offset)) }, (_, i) => offset + i),
});

export const mapSequence = <T, U>(sequence: Sequence<T>, map: (item: T) => U): Sequence<U> => ({
  total: sequence.total,
  slice: (offset, limit) => sequence.slice(offset, limit).map(map),
});

export const reverseSequence = <T>(sequence: Sequence<T>): Sequence<T> => ({
  total: sequence.total,
  slice: (offset, limit) => {
    const end = Math.max(0, sequence.total - offset);
    const start = Math.max(0, end - limit);
    return sequence.slice(start, end - start).reverse();
  },
});

export const directed = <T>(sequence: Sequence<T>, direction: "asc" | "desc"): Sequence<T> =>
  direction === "asc" ? sequence : reverseSequence(sequence);

export const concatSequences = <T>(sequences: readonly Sequence<T>[]): Sequence<T> => ({
  total: sequences.reduce((sum, { total }) => sum + total, 0),
  slice: (offset, limit) => {
    const items: T[] = [];
    let skip = offset;
    for (const sequence of sequences) {
      if (items.length >= limit) break;
      if (skip < sequence.total) items.push(...sequence.slice(skip, limit - items.length));
      skip = Math.max(0, skip - sequence.total);
    }
    return items;
  },
});

/**
 * A sequence less some of its items. Those left out are given in the sequence's order; `placeOf` tells where one of them stands,
 * and is asked for a few only.
 */
export const withoutItems = <T>(sequence: Sequence<T>, leftOut: readonly T[], placeOf: (item: T) => number): Sequence<T> => {
  if (leftOut.length === 0) return sequence;
  const out = new Set(leftOut);
  const leftOutBefore = (offset: number): number => {
    let [low, high] = [0, leftOut.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (placeOf(leftOut[middle] as T) - middle <= offset) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return {
    total: sequence.total - leftOut.length,
    slice: (offset, limit) => {
      const items: T[] = [];
      for (let at = offset + leftOutBefore(offset); items.length < limit && at < sequence.total; ) {
        const part = sequence.slice(at, limit - items.length);
        at += part.length;
        items.push(...part.filter((item) => !out.has(item)));
      }
      return items;
    },
  };
};

/**
 * Disjoint ascending sequences of numbers as one ascending sequence. A place in the whole is found by halving the range of
 * numbers; each part's own bounds narrow as it goes.
 */
export const unionSequence = (parts: readonly Sequence<number>[], below: number): Sequence<number> => {
  const present = parts.filter(({ total }) => total > 0);
  const only = present[0];
  if (only === undefined) return emptySequence;
  if (present.length === 1) return only;
  const total = present.reduce((sum, part) => sum + part.total, 0);
  return {
    total,
    slice: (offset, limit) => (offset >= total ? [] : mergeFrom(present, startsAt(present, offset, below), limit)),
  };
};

/** Where each part stands when `offset` numbers of the whole lie before. */
const startsAt = (parts: readonly Sequence<number>[], offset: number, below: number): number[] => {
  const low = parts.map(() => 0);
  if (offset === 0) return low;
  const high = parts.map(({ total }) => total);
  let from = 0;
  let to = below;
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    const places = parts.map((part, i) => lowerBound(part, middle, low[i] ?? 0, high[i] ?? 0));
    const count = places.reduce((sum, place) => sum + place, 0);
    if (count === offset) return places;
    const bounds = count < offset ? low : high;
    places.forEach((place, i) => (bounds[i] = place));
    if (count < offset) from = middle + 1;
    else to = middle;
  }
  return low;
};

/** The part of an ascending sequence from the number `from` (inclusive) to `below` (exclusive). */
export const narrowed = (sequence: Sequence<number>, from: number, below: number): Sequence<number> => {
  const start = lowerBound(sequence, from, 0, sequence.total);
  const total = lowerBound(sequence, below, start, sequence.total) - start;
  return { total, slice: (offset, limit) => sequence.slice(start + offset, Math.max(0, Math.min(limit, total - offset))) };
};

/** First place in low..high whose number is not below `value`. */
export const lowerBound = (sequence: Sequence<number>, value: number, low: number, high: number): number => {
  let [from, to] = [low, high];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((sequence.slice(middle, 1)[0] ?? Infinity) < value) from = middle + 1;
    else to = middle;
  }
  return from;
};

const mergeFrom = (parts: readonly Sequence<number>[], starts: readonly number[], limit: number): number[] =>
  parts
    .flatMap((part, i) => part.slice(starts[i] ?? 0, limit))
    .sort((a, b) => a - b)
    .slice(0, limit);

/** The keys of a counted set from `from` (inclusive) to `to` (exclusive), in order; undefined: to the end. */
export const countedSequence = (reading: Reading, set: number, from?: Buffer, to?: Buffer): Sequence<Entry> => {
  const start = from === undefined ? 0 : rankOf(reading, set, from);
  const end = to === undefined ? sizeOf(reading, set) : rankOf(reading, set, to);
  const total = Math.max(0, end - start);
  return {
    total,
    slice: (offset, limit) => entriesFrom(reading, set, start + offset, Math.min(limit, total - offset)),
  };
};
