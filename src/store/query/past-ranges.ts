import type { Sliced } from "../../async/time-slicing.js";
import type { ReadSession } from "../lmdb/read-session.js";
import { arraySequence, rankedNumbers, partsOf, type Sequence, stepNumbers } from "../records/sequence.js";
import type { AccessPath } from "./list-query.js";
import type { Search } from "./search.js";

/**
 * Ranges of values in an earlier state. A set has its numbers by value, those of later blocks among them: it cannot be cut at a number, as
 * lists in the order of the chain are.
 */
export interface RangeOf<Name> {
  name: Name;
  set: number;
  bounds: [from: Buffer | undefined, to: Buffer | undefined];
}

/** Numbers that are read in the time it takes to read and test one row. */
const numbersPerRow = 8;

/** The numbers below `below` that are in all ranges, ascending. @throws PorticoError SEARCH_TOO_WIDE */
export function* withinRanges(ranges: readonly RangeOf<unknown>[], below: number, { reading, search }: { reading: ReadSession; search: Search }): Sliced<Sequence<number>> {
  const passed = new Uint8Array(below);
  for (const [index, { set, bounds: [from, to] }] of ranges.entries()) {
    const numbers = rankedNumbers(reading, set, from, to);
    search.spend(Math.ceil(numbers.total / numbersPerRow));
    for (const part of partsOf(numbers, stepNumbers)) {
      for (const number of part) if (passed[number] === index) passed[number] = index + 1;
      yield;
    }
  }
  const left: number[] = [];
  for (let begin = 0; begin < below; begin += stepNumbers) {
    for (let number = begin; number < Math.min(below, begin + stepNumbers); number++) if (passed[number] === ranges.length) left.push(number);
    yield;
  }
  return arraySequence(left);
}

const membersOf = <Filter extends object>(filter: Filter): (keyof Filter)[] =>
  (Object.keys(filter) as (keyof Filter)[]).filter((name) => filter[name] !== undefined);

/** Whether a filter has no other members than these. */
export const asksOnly = <Filter extends object>(filter: Filter, names: readonly (keyof Filter)[]): boolean =>
  membersOf(filter).every((name) => names.includes(name));

/** Without the paths that would answer a whole filter by themselves: their totals count what came later. */
export const notWhole = <Ref, Filter extends object>(
  { filter }: { filter: Filter },
  paths: readonly AccessPath<Ref, Filter>[],
): AccessPath<Ref, Filter>[] => {
  const asked = membersOf(filter);
  return paths.filter(({ answers }) => asked.some((name) => !answers.includes(name)));
};
