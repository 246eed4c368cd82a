import type { MaybePromise } from "../../../types/chain-adapter.js";
import type { ListQuery, Page, Range } from "../../../types/chain-queries.js";
import type { Sliced } from "../../async/time-slicing.js";
import type { ChainRules } from "../../chain/rules.js";
import type { StateRecord } from "../layout/codec.js";
import { amountKey, numberKey } from "../layout/keys.js";
import type { ReadSession } from "../lmdb/read-session.js";
import { arraySequence, partsOf, type Sequence, stepNumbers, directed, reverseSequence } from "../records/sequence.js";
import { type Comparable, comparisonOf, sortSliced } from "../records/sorting.js";
import type { DelegateList } from "./lists/delegate-list.js";
import type { Search } from "./search.js";

/**
 * What passes several filters, each of which is answered by a sequence of whole numbers: of transactions, or of heights. Only the
 * numbers are read, in a fraction of the time that the rows would take. The shortest sequence is gone through; the numbers of each of
 * the others, or of its complement if that is shorter, are marked in a bitmap beforehand.
 */
type Crossable<Filter> = AccessPath<number, Filter>;

/** All numbers of a list, or those that some of its filters leave, where these are adjacent. */
interface NumberWindow<Filter> {
  from: number;
  below: number;
  answers: readonly (keyof Filter)[];
}

/** What the lists of a state are answered from. */
export interface ListNeeds {
  reading: ReadSession;
  state: StateRecord;
  rules: ChainRules;
  search: Search;
  /** Every delegate at the tip. */
  delegates(): DelegateList;
  /** Whether `state` is an earlier one than what is read: lists are cut at its end, sets cannot be. */
  isPast: boolean;
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
  base: Crossable<Filter>;
  markings: readonly Marking<Filter>[];
}

const markingsOf = <Filter>({ answers, refs, others }: Crossable<Filter>): Marking<Filter>[] => [
  { answers, numbers: refs, pass: true },
  ...(others === undefined ? [] : [{ answers: others.answers, numbers: others.refs(), pass: false }]),
];

/** The plan with the fewest numbers to read; undefined where reading rows is no slower, or cannot be avoided. */
const planned = <Filter>(
  ways: readonly Crossable<Filter>[],
  asked: readonly (keyof Filter)[],
  byNumber: boolean,
): Crossing<Filter> | undefined => {
  const [base, ...further] = [...ways].sort((a, b) => a.refs.total - b.refs.total);
  if (base === undefined || !(base.ordered || byNumber)) return undefined;
  if (base.refs.total < fewRows && base.beyond !== true) return undefined;
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
  return { base, markings };
};

/** A bit for each number below a bound. */
function* bitsOf(numbers: Sequence<number>, below: number): Sliced<Uint8Array> {
  const bits = new Uint8Array((below >>> 3) + 1);
  for (const part of partsOf(numbers, stepNumbers)) {
    for (const number of part) bits[number >>> 3] = (bits[number >>> 3] ?? 0) | (1 << (number & 7));
    yield;
  }
  return bits;
}

function* ascending(numbers: Sequence<number>, below: number): Sliced<Sequence<number>> {
  const bits = yield* bitsOf(numbers, below);
  const found: number[] = [];
  for (let byte = 0; byte < bits.length; byte++) {
    if (byte % stepNumbers === 0) yield;
    for (let left = bits[byte] ?? 0, number = byte * 8; left > 0; left >>>= 1, number++) if ((left & 1) === 1) found.push(number);
  }
  return arraySequence(found);
}

/**
 * Exactly the numbers that pass, in the order asked for; undefined where it is better to look at rows. Never spends more of the search than
 * looking at the rows would. @throws PorticoError SEARCH_TOO_WIDE
 */
function* intersection<Row, Filter extends object, Field extends string>(
  ways: readonly Crossable<Filter>[],
  { query: { filter, order }, value, window }: Pick<ListPlan<number, Row, Filter, Field>, "query" | "value" | "window">,
  search: Search,
): Sliced<Sequence<number> | undefined> {
  if (window === undefined) return undefined;
  const { from, below, answers } = window;
  const asked = (Object.keys(filter) as (keyof Filter)[]).filter((name) => filter[name] !== undefined && !answers.includes(name));
  const crossing = planned(ways, asked, value === undefined);
  if (crossing === undefined) return undefined;
  const { base, markings } = crossing;
  const numbers = markings.reduce((sum, marking) => sum + marking.numbers.total, base.refs.total);
  search.spend(Math.ceil(numbers / numbersPerRow));

  const marked: { bits: Uint8Array; pass: boolean }[] = [];
  for (const { numbers: of, pass } of markings) marked.push({ bits: yield* bitsOf(of, below), pass });
  const refs = base.ordered ? base.refs : directed(yield* ascending(base.refs, below), order.direction);
  const left: number[] = [];
  for (const part of partsOf(refs, stepNumbers)) {
    for (const number of part) {
      if (number < from || number >= below) continue;
      if (marked.every(({ bits, pass }) => (((bits[number >>> 3] ?? 0) & (1 << (number & 7))) !== 0) === pass)) left.push(number);
    }
    yield;
  }
  return arraySequence(left);
}

/**
 * How the store answers a list query.
 *
 * An access path is one way to the rows: a sequence of references, in the order asked for or in one of its own, with the filters that it
 * answers. If one access path answers every filter, its length is the total; if it is in the order asked for too, the page is cut straight
 * out of it.
 *
 * Several access paths that together answer every filter are intersected where that takes less than looking at rows.
 *
 * Otherwise rows are looked at. With the total known, an access path in the order asked for is walked from the nearer end until the page is
 * full. Else every row of the shortest access path is tested against the remaining filters; what passes is sorted, and the page cut out of
 * it. How many references memory holds depends on where the page ends, not on how many rows pass. The number of rows to look at is known
 * beforehand; a query that takes more than the search may cost is refused.
 */
export interface AccessPath<Ref, Filter> {
  refs: Sequence<Ref>;
  answers: readonly (keyof Filter)[];
  /** Whether `refs` come in the order asked for. */
  ordered: boolean;
  /** Whether `refs` may have numbers beyond the list's window, as those of later blocks in an earlier state. */
  beyond?: boolean;
  /** The complement: all rows that its `answers` do not let through, in any order; those that other filters leave out may be missing. */
  others?: { answers: readonly (keyof Filter)[]; refs(): Sequence<Ref> };
}

/** Turns an access path whose references ascend into the direction asked for; one that is not in the order asked for stays as it is. */
export const towards = <Ref, Filter>(direction: "asc" | "desc", path: AccessPath<Ref, Filter>): AccessPath<Ref, Filter> =>
  path.ordered ? { ...path, refs: directed(path.refs, direction) } : path;

interface ListPlan<Ref extends Comparable, Row, Filter, Field extends string> {
  query: ListQuery<Filter, Field>;
  /** Made one by one: most queries are answered by the first, and some take reading to make. */
  paths: Iterable<AccessPath<Ref, Filter>>;
  load(ref: Ref): Row;
  test(filter: Filter, answered: ReadonlySet<keyof Filter>): ((row: Row) => boolean) | undefined;
  /** What the list is ordered by; undefined where that is the reference itself. Rows of equal value go by reference, as `ties` says. */
  value: ((row: Row) => Comparable | null) | undefined;
  ties: "asc" | "desc";
  /** Of references that are whole numbers. If given, several access paths can be intersected. */
  window?: NumberWindow<Filter>;
}

/** Rows of the largest page that is read in one step. */
const pageRows = 100;
/** Rows looked at between two yields: less than half a millisecond. */
const stepRows = 100;
/** Rows looked at in one go, at the least: finding where they are takes as long as reading so many. */
const leastRows = 16;

export const answerList = <Ref extends Comparable, Row, Filter extends object, Field extends string>(
  plan: ListPlan<Ref, Row, Filter, Field>,
  search: Search,
): MaybePromise<Page<Row>> => {
  const { query, load, test } = plan;
  const { filter, offset, limit } = query;
  const paths: AccessPath<Ref, Filter>[] = [];
  let total: number | undefined;
  for (const path of plan.paths) {
    paths.push(path);
    if (path.beyond === true || test(filter, new Set(path.answers)) !== undefined) continue;
    total ??= path.refs.total;
    if (offset >= total) return { rows: [], total };
    if (!path.ordered) continue;
    return limit <= pageRows ? { rows: path.refs.slice(offset, limit).map(load), total } : search.run(cutSliced(path.refs, plan, search));
  }
  return search.run(lookFor(paths, plan, total, search));
};

function* cutSliced<Ref extends Comparable, Row, Filter, Field extends string>(
  refs: Sequence<Ref>,
  { query: { offset, limit }, load }: ListPlan<Ref, Row, Filter, Field>,
  search: Search,
): Sliced<Page<Row>> {
  const end = Math.min(refs.total, offset + limit);
  search.require(end - offset);
  const rows: Row[] = [];
  for (const part of partsOf(refs, stepRows, offset, end)) {
    search.spend(part.length);
    for (const ref of part) rows.push(load(ref));
    yield;
  }
  return { rows, total: refs.total };
}

function* lookFor<Ref extends Comparable, Row, Filter extends object, Field extends string>(
  paths: readonly AccessPath<Ref, Filter>[],
  plan: ListPlan<Ref, Row, Filter, Field>,
  total: number | undefined,
  search: Search,
): Sliced<Page<Row>> {
  if (total === undefined) {
    // With a window given, references are numbers.
    const ways = paths as unknown as readonly Crossable<Filter>[];
    const refs = yield* intersection(ways, plan as unknown as ListPlan<number, Row, Filter, Field>, search);
    if (refs !== undefined) return yield* cutSliced(refs as unknown as Sequence<Ref>, plan, search);
  }
  // What is beyond the window is left out by the tests of rows, if there is any.
  const tested = paths.filter(({ beyond, answers }) => beyond !== true || plan.test(plan.query.filter, new Set(answers)) !== undefined);
  const whole = least(tested, ({ refs }) => refs.total);
  if (whole === undefined) return { rows: [], total: 0 };
  if (total !== undefined) {
    const near = nearness(plan.query, total);
    const expected = ({ refs }: AccessPath<Ref, Filter>): number => Math.ceil((near / total) * refs.total);
    const ordered = tested.filter((path) => path.ordered);
    const path = least(ordered, expected);
    const likely = path === undefined ? Infinity : expected(path);
    // In case it has to go further than expected, enough has to be left for the other way.
    const most = whole.refs.total <= search.left ? Math.min(whole.refs.total, search.left - whole.refs.total) : search.left;
    if (path !== undefined && likely < Math.max(most, 1)) {
      const rows = yield* walk(path, plan, { total, likely, most }, search);
      if (rows !== undefined) return { rows, total };
    }
  }
  search.require(whole.refs.total);
  return yield* whole.ordered ? countInOrder(whole, plan, search) : putInOrder(whole, plan, search);
}

/** How many of the rows that pass lie between the nearer end of the list and the far end of the page. */
const nearness = ({ offset, limit }: { offset: number; limit: number }, total: number): number => Math.min(offset + limit, total - offset);

const least = <T>(items: readonly T[], cost: (item: T) => number): T | undefined => {
  let best: T | undefined;
  for (const item of items) if (best === undefined || cost(item) < cost(best)) best = item;
  return best;
};

/**
 * The page, by looking at rows from the nearer end on until it is full: at first about as many as it is `likely` to take, then more at a
 * time. Undefined when it takes more than `most`.
 */
function* walk<Ref extends Comparable, Row, Filter, Field extends string>(
  { refs, answers }: AccessPath<Ref, Filter>,
  { query: { filter, offset, limit }, load, test }: ListPlan<Ref, Row, Filter, Field>,
  { total, likely, most }: { total: number; likely: number; most: number },
  search: Search,
): Sliced<Row[] | undefined> {
  const passes = test(filter, new Set(answers));
  const take = Math.min(limit, total - offset);
  const backwards = total - offset < offset + limit;
  const list = backwards ? reverseSequence(refs) : refs;
  const skip = backwards ? total - offset - take : offset;
  const rows: Row[] = [];
  let passed = 0;
  let step = Math.max(leastRows, likely);
  for (let from = 0; rows.length < take && from < list.total; ) {
    if (from >= most) return undefined;
    const part = list.slice(from, Math.min(step, stepRows, most - from));
    from += part.length;
    step *= 2;
    search.spend(part.length);
    for (const ref of part) {
      if (rows.length === take) break;
      const row = load(ref);
      if ((passes === undefined || passes(row)) && passed++ >= skip) rows.push(row);
    }
    yield;
  }
  return backwards ? rows.reverse() : rows;
}

/** The page and the total, by looking at every row, in order. */
function* countInOrder<Ref extends Comparable, Row, Filter, Field extends string>(
  { refs, answers }: AccessPath<Ref, Filter>,
  { query: { filter, offset, limit }, load, test }: ListPlan<Ref, Row, Filter, Field>,
  search: Search,
): Sliced<Page<Row>> {
  const passes = test(filter, new Set(answers));
  const rows: Row[] = [];
  let total = 0;
  for (const part of partsOf(refs, stepRows)) {
    search.spend(part.length);
    for (const ref of part) {
      const row = load(ref);
      if (passes !== undefined && !passes(row)) continue;
      if (total >= offset && rows.length < limit) rows.push(row);
      total++;
    }
    yield;
  }
  return { rows, total };
}

interface Sorted<Ref> {
  ref: Ref;
  value: Comparable | null;
}

/** References that may be kept, beyond twice what the page needs, before they are sorted and cut. */
const keptBeyond = 4096;

/** The page and the total, by looking at every row and sorting those that pass. */
function* putInOrder<Ref extends Comparable, Row, Filter, Field extends string>(
  { refs, answers }: AccessPath<Ref, Filter>,
  { query, load, test, value, ties }: ListPlan<Ref, Row, Filter, Field>,
  search: Search,
): Sliced<Page<Row>> {
  const { filter, order, offset, limit } = query;
  const passes = test(filter, new Set(answers));
  const comparison = comparisonOf<Sorted<Ref>>({ direction: order.direction, value: (kept) => kept.value, key: ({ ref }) => ref, ties });
  const end = offset + limit;
  let kept: Sorted<Ref>[] = [];
  let total = 0;
  const look = (ref: Ref): void => {
    // A row with nothing left to test, and ordered by its reference, need not be read.
    const row = passes === undefined && value === undefined ? undefined : load(ref);
    if (row !== undefined && passes !== undefined && !passes(row)) return;
    kept.push({ ref, value: row === undefined || value === undefined ? ref : value(row) });
    total++;
  };
  for (const part of partsOf(refs, stepRows)) {
    search.spend(part.length);
    part.forEach(look);
    if (kept.length >= 2 * end + keptBeyond) kept = (yield* sortSliced(kept, comparison)).slice(0, end);
    yield;
  }
  const page = (yield* sortSliced(kept, comparison)).slice(offset, end);
  return { rows: page.map(({ ref }) => load(ref)), total };
}

/** Bounds of a range in a set whose keys begin with a number: first key in, first key beyond. */
export const numberBounds = ({ from, to }: Range<number>): [Buffer | undefined, Buffer | undefined] => [
  from === undefined ? undefined : numberKey(clamp(Math.ceil(from))),
  to === undefined || to >= largest ? undefined : numberKey(clamp(Math.floor(to) + 1)),
];

/** The same for amounts. */
export const amountBounds = ({ from, to }: Range<bigint>): [Buffer | undefined, Buffer | undefined] => [
  from === undefined ? undefined : amountKey(from),
  to === undefined ? undefined : amountKey(to + 1n),
];

/** The same in a set that descends: by the negated amount, after a prefix. No key of an amount begins with 255. */
export const descendingBounds = ({ from, to }: Range<bigint>, prefix?: Buffer): [Buffer | undefined, Buffer | undefined] => {
  const behind = (key: Buffer): Buffer => (prefix === undefined ? key : Buffer.concat([prefix, key]));
  return [
    to === undefined ? prefix : behind(amountKey(-to)),
    from === undefined ? prefix && behind(Buffer.from([0xff])) : behind(amountKey(-from + 1n)),
  ];
};

const largest = 0xffffffff;
const clamp = (value: number): number => Math.min(largest, Math.max(0, value));
