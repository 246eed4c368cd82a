import type { MaybePromise } from "../../types/chain-adapter.js";
import { listSequence } from "./appended-list.js";
import { lists } from "./keys.js";
import type { Reading } from "./reading.js";
import { readWallet } from "./records.js";
import type { Steps } from "../steps.js";
import type { Search } from "./search.js";
import { arraySequence, lowerBound, type Sequence } from "./sequence.js";

/**
 * The transactions that any of several addresses owns, as lists that have no number in common: the longest list as it is, and what the
 * others have beyond it. One address costs nothing; of several, all but the longest list are read through.
 */
export const ownedByAny = (
  addresses: readonly string[],
  { reading, search }: { reading: Reading; search: Search },
): MaybePromise<readonly Sequence<number>[]> => {
  const owned = [...new Set(addresses)]
    .flatMap((address) => {
      const wallet = readWallet(reading, address);
      return wallet === undefined ? [] : [listSequence(reading, lists.owned, wallet.number, wallet.owned)];
    })
    .sort((a, b) => b.total - a.total);
  const [longest, ...others] = owned;
  if (longest === undefined) return [];
  return others.length === 0 ? [longest] : search.run(beside(longest, others, search));
};

const stepNumbers = 500;
/** Up to so many times as many numbers are read as are looked for; beyond that, each is looked for by itself. */
const worthReading = 40;

function* beside(longest: Sequence<number>, others: readonly Sequence<number>[], search: Search): Steps<readonly Sequence<number>[]> {
  search.require(others.reduce((sum, { total }) => sum + total, 0));
  const gathered = new Set<number>();
  for (const other of others) {
    for (let from = 0; from < other.total; from += stepNumbers) {
      const part = other.slice(from, stepNumbers);
      search.spend(part.length);
      for (const number of part) gathered.add(number);
      yield;
    }
  }
  const extra: number[] = [];
  const numbers = Uint32Array.from(gathered).sort();
  for (let from = 0; from < numbers.length; from += stepNumbers) {
    extra.push(...missingFrom(longest, numbers.subarray(from, from + stepNumbers)));
    yield;
  }
  return [longest, arraySequence(extra)];
}

/** The ones among some ascending numbers that a sequence does not have. */
const missingFrom = (sequence: Sequence<number>, numbers: Uint32Array): number[] => {
  const [first = 0] = numbers;
  const last = numbers.at(-1) ?? first;
  const start = lowerBound(sequence, first, 0, sequence.total);
  const end = lowerBound(sequence, last + 1, start, sequence.total);
  if (end - start <= worthReading * numbers.length) {
    const present = new Set(sequence.slice(start, end - start));
    return [...numbers].filter((number) => !present.has(number));
  }
  return [...numbers].filter((number) => sequence.slice(lowerBound(sequence, number, start, end), 1)[0] !== number);
};
