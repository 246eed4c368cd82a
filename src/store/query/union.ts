import type { MaybePromise } from "../../../types/chain-adapter.js";
import type { StateRecord } from "../layout/codec.js";
import { listOf } from "./chain-order.js";
import type { ReadSession } from "../lmdb/read-session.js";
import { readWallet } from "../records/records.js";
import type { Sliced } from "../../async/time-slicing.js";
import type { Search } from "./search.js";
import { arraySequence, emptySequence, lowerBound, partsOf, type Sequence, stepNumbers } from "../records/sequence.js";

/** The transactions that any of several addresses owns, as lists that have no number in common. One address costs nothing. */
export const ownedByAny = (
  addresses: readonly string[],
  needs: { reading: ReadSession; state: StateRecord; search: Search },
): MaybePromise<readonly Sequence<number>[]> => {
  const { reading, search } = needs;
  const owned = [...new Set(addresses)]
    .map((address) => listOf("owned", address, readWallet(reading, address), needs))
    .filter(({ total }) => total > 0);
  return owned.length < 2 ? owned : search.run(disjoint(owned, search));
};

/** Numbers that are looked for together. */
const together = 500;
/** To find one number takes as long as to read some 300 in a row. */
const worthReading = 300;

/**
 * Lists of ascending numbers as two that have none in common: the longest as it is, and what the others have beyond it. The others are
 * read through; of the longest, less is read where the others have few numbers.
 */
export function* disjoint(sequences: readonly Sequence<number>[], search: Pick<Search, "spend">): Sliced<readonly Sequence<number>[]> {
  const others = [...sequences].sort((a, b) => a.total - b.total);
  const longest = others.pop() ?? emptySequence;
  search.spend(others.reduce((sum, { total }) => sum + total, 0));
  const parts: Uint32Array[] = [];
  for (const other of others) parts.push(yield* allOf(other));
  const numbers = yield* merged(parts);
  return [longest, arraySequence(yield* missingFrom(longest, numbers))];
}

function* allOf(sequence: Sequence<number>): Sliced<Uint32Array> {
  const numbers = new Uint32Array(sequence.total);
  let length = 0;
  for (const part of partsOf(sequence, stepNumbers)) {
    numbers.set(part, length);
    length += part.length;
    yield;
  }
  return numbers;
}

/** Ascending numbers of several lists as one list that has each once. Takes the lists two at a time. */
function* merged(parts: readonly Uint32Array[]): Sliced<Uint32Array> {
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

/** The ones among some ascending numbers that a sequence does not have. */
function* missingFrom(sequence: Sequence<number>, numbers: Uint32Array): Sliced<number[]> {
  const missing: number[] = [];
  for (let from = 0, place = 0; from < numbers.length; from += together) {
    const some = numbers.subarray(from, from + together);
    const [first = 0] = some;
    const end = lowerBound(sequence, (some.at(-1) ?? first) + 1, place, sequence.total);
    place = lowerBound(sequence, first, place, end);
    if (end - place > worthReading * some.length) {
      for (const number of some) {
        place = lowerBound(sequence, number, place, end);
        if (sequence.slice(place, 1)[0] !== number) missing.push(number);
      }
    } else {
      let next = 0;
      for (const present of partsOf(sequence, stepNumbers, place, end)) {
        for (const one of present) {
          for (; next < some.length && (some[next] as number) < one; next++) missing.push(some[next] as number);
          if (some[next] === one) next++;
        }
        yield;
      }
      missing.push(...some.subarray(next));
    }
    place = end;
    yield;
  }
  return missing;
}
