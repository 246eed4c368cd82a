import { type Entry, firstWithin, fromNth, type KeyRange, rankOf, readEntries, type ReadKeys, readNumbers, sizeOf } from "./ranked-set.js";
import { firstNotBelow, countBefore } from "./sorting.js";
import { listKey, numberIn, pieceLength } from "../layout/posting-pieces.js";
import type { ReadSession } from "../lmdb/read-session.js";
import { existing } from "./records.js";

/** An ordered list, any part of which can be read without walking to it. The store answers queries from these. */
export interface Sequence<T> {
  readonly total: number;
  /** At most `limit` items from `offset` on; both whole numbers from 0. */
  slice(offset: number, limit: number): T[];
}

/** Numbers of a sequence to read between two yields: about a millisecond. */
export const stepNumbers = 2_000;

/** What a sequence has from one place to another, `size` at a time, each part read when it is asked for. */
export function* partsOf<T>(sequence: Sequence<T>, size: number, begin = 0, end = sequence.total): Generator<T[]> {
  for (let from = begin; from < end; from += size) yield sequence.slice(from, Math.min(size, end - from));
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

/** A part of a set without some of its keys, which are given in the set's order. */
export const withoutKeys = (entries: Sequence<Entry>, keys: readonly Buffer[]): Sequence<Entry> => {
  if (keys.length === 0) return entries;
  const total = entries.total - keys.length;
  return {
    total,
    slice: (offset, limit) => {
      const kept: Entry[] = [];
      if (offset >= total) return kept;
      const found = placeOfOther(entries, keys, offset, limit);
      let [next, at, part] = [found.before, offset + found.before, found.part];
      while (kept.length < limit && at < entries.total) {
        if (part.length === 0) part = entries.slice(at, limit - kept.length);
        at += part.length;
        for (const entry of part) {
          if (keys[next]?.equals(entry.key) === true) next++;
          else if (kept.length < limit) kept.push(entry);
        }
        part = [];
      }
      return kept;
    },
  };
};

/**
 * Guesses that are corrected by the error of the one before; then binary search. Where the keys are spread over the set, two are enough.
 */
const spreadGuesses = 4;

/**
 * How many of some keys of a set come before the n-th (from 0) of its other entries, with the entries from that one on, if they have
 * been read. Reads few entries: each tells how many of the keys come before it, and so whether it is too far on.
 */
const placeOfOther = (entries: Sequence<Entry>, keys: readonly Buffer[], n: number, limit: number): { before: number; part: Entry[] } => {
  let [low, high] = [0, keys.length];
  let guess = Math.floor((n / (entries.total - keys.length)) * keys.length);
  for (let guesses = 1; low < high; guesses++) {
    const part = entries.slice(n + guess, guesses === 1 ? 1 : Math.max(1, limit));
    const key = part[0]?.key;
    const before = key === undefined ? high : countBefore(keys, (one) => one.compare(key) < 0);
    const isOne = key !== undefined && keys[before]?.equals(key) === true;
    if (before === guess && !isOne) return { before, part };
    if (before < guess) high = before;
    else low = isOne ? before + 1 : before;
    guess = guesses >= spreadGuesses ? (low + high) >>> 1 : before < guess ? high : low;
  }
  return { before: low, part: [] };
};

/** Disjoint ascending sequences of numbers as one ascending sequence. */
export const unionSequence = (parts: readonly Sequence<number>[]): Sequence<number> => {
  const present = parts.filter(({ total }) => total > 0);
  const only = present[0];
  if (only === undefined) return emptySequence;
  if (present.length === 1) return only;
  const total = present.reduce((sum, part) => sum + part.total, 0);
  return {
    total,
    slice: (offset, limit) => {
      if (offset >= total) return [];
      const starts = placesOf(present, offset, (part) => [part.total - (total - offset), offset]);
      const ends = placesOf(present, Math.min(total, offset + limit), (_, i) => [starts[i] ?? 0, (starts[i] ?? 0) + limit]);
      return present.flatMap((part, i) => part.slice(starts[i] ?? 0, (ends[i] ?? 0) - (starts[i] ?? 0))).sort((a, b) => a - b);
    },
  };
};

/** The places of a part that are not decided yet, from `low` to below `high`, with the number in their middle. */
interface Interval {
  part: Sequence<number>;
  low: number;
  high: number;
  middle: number;
  number: number;
}

const intervalOf = (part: Sequence<number>, low: number, high: number): Interval => {
  const middle = (low + high) >>> 1;
  return { part, low, high, middle, number: low < high ? (part.slice(middle, 1)[0] ?? Infinity) : NaN };
};

/**
 * How many numbers of each part are among the first `count` of the whole; `bounds` gives certain limits for it. The middle numbers of
 * the undecided places are compared: either the least of them, with the half below it, is among the first `count`, or the greatest, with
 * the half above it, is not. So each number that is read halves the undecided places of one part.
 */
const placesOf = (parts: readonly Sequence<number>[], count: number, bounds: (part: Sequence<number>, place: number) => [low: number, high: number]): number[] => {
  const intervals = parts.map((part, place) => {
    const [low, high] = bounds(part, place);
    return intervalOf(part, Math.max(0, low), Math.min(part.total, high));
  });
  /** How many of the first `count` are still undecided, and how many numbers the lower halves have. */
  let missing = count - intervals.reduce((sum, { low }) => sum + low, 0);
  let lower = intervals.reduce((sum, { low, middle }) => sum + middle - low, 0);
  while (missing > 0) {
    const takeLeast = missing > lower;
    const place = outermost(intervals, takeLeast ? (a, b) => a < b : (a, b) => a > b);
    const { part, low, high, middle } = intervals[place] as Interval;
    const halved = takeLeast ? intervalOf(part, middle + 1, high) : intervalOf(part, low, middle);
    intervals[place] = halved;
    missing -= halved.low - low;
    lower += halved.middle - halved.low - (middle - low);
  }
  return intervals.map(({ low }) => low);
};

/** Index of the part whose middle number is the least, or the greatest. */
const outermost = (intervals: readonly Interval[], isFurther: (one: number, other: number) => boolean): number => {
  let found = -1;
  intervals.forEach(({ low, high, number }, place) => {
    if (low < high && (found === -1 || isFurther(number, intervals[found]?.number ?? NaN))) found = place;
  });
  return found;
};

/** The part of an ascending sequence from the number `from` (inclusive) to `below` (exclusive). */
export const narrowed = (sequence: Sequence<number>, from: number, below: number): Sequence<number> => {
  const start = lowerBound(sequence, from, 0, sequence.total);
  const total = lowerBound(sequence, below, start, sequence.total) - start;
  return { total, slice: (offset, limit) => sequence.slice(start + offset, Math.max(0, Math.min(limit, total - offset))) };
};

/** First place in low..high whose number is not below `value`. */
export const lowerBound = (sequence: Sequence<number>, value: number, low: number, high: number): number =>
  firstNotBelow(low, high, value, (place) => sequence.slice(place, 1)[0] ?? Infinity);

/** A posting list. It grows only at its end (`appendToList`), so the place of any page can be computed. Its owner keeps its length. */
export const listSequence = (reading: ReadSession, list: number, owner: number, length: number): Sequence<number> => ({
  total: length,
  slice: (offset, limit) => {
    const end = Math.min(length, offset + limit);
    const numbers: number[] = [];
    for (let place = offset; place < end; ) {
      const piece = Math.floor(place / pieceLength);
      const bytes = existing(reading.get("lists", listKey(list, owner, piece)) as Buffer | undefined, "part of a list");
      const begin = piece * pieceLength;
      for (const last = Math.min(end, begin + pieceLength); place < last; place++) numbers.push(numberIn(bytes, place - begin));
    }
    return numbers;
  },
});

/** The keys of a counted set from `from` (inclusive) to `to` (exclusive), in order; undefined: to the end. */
export const rankedSequence = (reading: ReadSession, set: number, from?: Buffer, to?: Buffer): Sequence<Entry> =>
  partOfSet(readEntries, reading, set, { from, to });

/** The same, but only the numbers with which the keys end. */
export const rankedNumbers = (reading: ReadSession, set: number, from?: Buffer, to?: Buffer): Sequence<number> =>
  partOfSet(readNumbers, reading, set, { from, to });

/** Reading so many keys takes less time than finding a place in a set. */
const few = 32;

const partOfSet = <T>(read: ReadKeys<T>, reading: ReadSession, set: number, range: KeyRange): Sequence<T> => {
  const { from, to } = range;
  if (from !== undefined || to !== undefined) {
    const first = firstWithin(read, reading, set, range, few + 1);
    if (first.length <= few) return arraySequence(first);
  }
  const start = from === undefined ? 0 : rankOf(reading, set, from);
  const end = to === undefined ? sizeOf(reading, set) : rankOf(reading, set, to);
  const total = Math.max(0, end - start);
  return {
    total,
    slice: (offset, limit) => fromNth(read, reading, set, start + offset, Math.min(limit, total - offset)),
  };
};
