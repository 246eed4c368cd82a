import type { MaybePromise } from "../../types/chain-adapter.js";
import { listSequence } from "./appended-list.js";
import { lists } from "./keys.js";
import type { Reading } from "./reading.js";
import { readWallet } from "./records.js";
import type { Steps } from "../steps.js";
import type { Search } from "./search.js";
import { arraySequence, emptySequence, lowerBound, type Sequence } from "./sequence.js";

/** The transactions that any of several addresses owns, as lists that have no number in common. One address costs nothing. */
export const ownedByAny = (
  addresses: readonly string[],
  { reading, search }: { reading: Reading; search: Search },
): MaybePromise<readonly Sequence<number>[]> => {
  const owned = [...new Set(addresses)].flatMap((address) => {
    const wallet = readWallet(reading, address);
    return wallet === undefined ? [] : [listSequence(reading, lists.owned, wallet.number, wallet.owned)];
  });
  return owned.length < 2 ? owned : search.run(disjoint(owned, search));
};

const stepNumbers = 500;
/** Up to so many times as many numbers are read as are looked for; beyond that, each is looked for by itself. */
const worthReading = 300;

/**
 * Lists of ascending numbers as two that have none in common: the longest as it is, and what the others have beyond it. The others are
 * read through, the longest only as far as there are numbers near.
 */
export function* disjoint(
  sequences: readonly Sequence<number>[],
  search: Pick<Search, "require" | "spend">,
): Steps<readonly Sequence<number>[]> {
  const [longest = emptySequence, ...others] = [...sequences].sort((a, b) => b.total - a.total);
  search.require(others.reduce((sum, { total }) => sum + total, 0));
  const parts: Uint32Array[] = [];
  for (const other of others) parts.push(yield* allOf(other, search));
  const numbers = yield* merged(parts);
  const extra: number[] = [];
  for (let from = 0, passed = 0; from < numbers.length; from += stepNumbers) {
    passed = addMissing(extra, numbers.subarray(from, from + stepNumbers), longest, passed);
    yield;
  }
  return [longest, arraySequence(extra)];
}

function* allOf(sequence: Sequence<number>, search: Pick<Search, "spend">): Steps<Uint32Array> {
  const numbers = new Uint32Array(sequence.total);
  for (let from = 0; from < sequence.total; from += stepNumbers) {
    const part = sequence.slice(from, stepNumbers);
    search.spend(part.length);
    numbers.set(part, from);
    yield;
  }
  return numbers;
}

/** Lists of ascending numbers as one, in which each number is once. Two at a time, so that no number is copied more often than need be. */
function* merged(parts: Uint32Array[]): Steps<Uint32Array> {
  const waiting = [...parts];
  for (;;) {
    const [one, other] = waiting.splice(0, 2);
    if (one === undefined || other === undefined) return one ?? new Uint32Array();
    waiting.push(mergedPair(one, other));
    yield;
  }
}

const mergedPair = (one: Uint32Array, other: Uint32Array): Uint32Array => {
  const both = new Uint32Array(one.length + other.length);
  let [i, j, length] = [0, 0, 0];
  while (i < one.length && j < other.length) {
    const [a, b] = [one[i] as number, other[j] as number];
    both[length++] = a < b ? a : b;
    if (a <= b) i++;
    if (b <= a) j++;
  }
  const rest = i < one.length ? one.subarray(i) : other.subarray(j);
  both.set(rest, length);
  return both.subarray(0, length + rest.length);
};

/**
 * Adds the ones among some ascending numbers that a sequence does not have from its place `begin` on. Returns the place in it that
 * follows the last of them.
 */
const addMissing = (missing: number[], numbers: Uint32Array, sequence: Sequence<number>, begin: number): number => {
  const [first = 0] = numbers;
  const last = numbers.at(-1) ?? first;
  const start = lowerBound(sequence, first, begin, sequence.total);
  const end = lowerBound(sequence, last + 1, start, sequence.total);
  if (end - start > worthReading * numbers.length) {
    for (const number of numbers) if (sequence.slice(lowerBound(sequence, number, start, end), 1)[0] !== number) missing.push(number);
    return end;
  }
  const present = sequence.slice(start, end - start);
  let next = 0;
  for (const number of numbers) {
    while ((present[next] ?? Infinity) < number) next++;
    if (present[next] !== number) missing.push(number);
  }
  return end;
};
