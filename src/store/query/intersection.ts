import type { Sliced } from "../../async/time-slicing.js";
import type { Search } from "./search.js";
import { arraySequence, partsOf, type Sequence, stepNumbers } from "../records/sequence.js";

/**
 * What passes several filters, each of which is answered by a sequence of whole numbers: of transactions, or of heights. Only the
 * numbers are read, in a fraction of the time that the rows would take. The shortest sequence is gone through; the numbers of each of
 * the others, or of its complement if that is shorter, are marked in a bitmap beforehand.
 */
interface Crossable<Filter> {
  refs: Sequence<number>;
  answers: readonly (keyof Filter)[];
  ordered: boolean;
  others?: { answers: readonly (keyof Filter)[]; refs(): Sequence<number> };
}

/** Testing so few rows is as fast as finding out whether there is a better way. */
const fewRows = 100;
/** Numbers that are read in the time it takes to read and test one row. */
const numbersPerRow = 8;

interface Marking<Filter> {
  answers: readonly (keyof Filter)[];
  numbers: Sequence<number>;
  /** True: the marked numbers pass. False: all others do. */
  pass: boolean;
}

interface Crossing<Filter> {
  base: Sequence<number>;
  markings: readonly Marking<Filter>[];
}

const markingsOf = <Filter>({ answers, refs, others }: Crossable<Filter>): Marking<Filter>[] => [
  { answers, numbers: refs, pass: true },
  ...(others === undefined ? [] : [{ answers: others.answers, numbers: others.refs(), pass: false }]),
];

/** The plan with the fewest numbers to read; undefined where reading rows is no slower, or cannot be avoided. */
const planned = <Filter>(ways: readonly Crossable<Filter>[], asked: readonly (keyof Filter)[]): Crossing<Filter> | undefined => {
  const [base, ...further] = [...ways].sort((a, b) => a.refs.total - b.refs.total);
  if (base?.ordered !== true || base.refs.total < fewRows) return undefined;
  const possible = further.flatMap(markingsOf).sort((a, b) => a.numbers.total - b.numbers.total);
  const markings: Marking<Filter>[] = [];
  let left = asked.filter((name) => !base.answers.includes(name));
  let spare = base.refs.total * (numbersPerRow - 1);
  while (left.length > 0) {
    const least = possible.find(({ answers }) => left.some((name) => answers.includes(name)));
    if (least === undefined || least.numbers.total > spare) return undefined;
    spare -= least.numbers.total;
    markings.push(least);
    left = left.filter((name) => !least.answers.includes(name));
  }
  return { base: base.refs, markings };
};

/**
 * Exactly the numbers that pass, in the order asked for; undefined where it is better to look at rows. All numbers are below `below`.
 * Never spends more of the search than looking at the rows would. @throws PorticoError SEARCH_TOO_WIDE
 */
export function* intersection<Filter>(
  ways: readonly Crossable<Filter>[],
  asked: readonly (keyof Filter)[],
  { below, search }: { below: number; search: Search },
): Sliced<Sequence<number> | undefined> {
  const crossing = planned(ways, asked);
  if (crossing === undefined) return undefined;
  const { base, markings } = crossing;
  const numbers = markings.reduce((sum, marking) => sum + marking.numbers.total, base.total);
  search.spend(Math.ceil(numbers / numbersPerRow));

  const marked: { bits: Uint8Array; pass: boolean }[] = [];
  for (const { numbers, pass } of markings) {
    const bits = new Uint8Array((below >>> 3) + 1);
    for (const part of partsOf(numbers, stepNumbers)) {
      for (const number of part) bits[number >>> 3] = (bits[number >>> 3] ?? 0) | (1 << (number & 7));
      yield;
    }
    marked.push({ bits, pass });
  }
  const left: number[] = [];
  for (const part of partsOf(base, stepNumbers)) {
    for (const number of part) {
      if (marked.every(({ bits, pass }) => (((bits[number >>> 3] ?? 0) & (1 << (number & 7))) !== 0) === pass)) left.push(number);
    }
    yield;
  }
  return arraySequence(left);
}
