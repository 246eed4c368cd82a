import type { ListQuery, Page, Range } from "../../types/chain-adapter.js";
import { amountKey, numberKey } from "./keys.js";
import type { Sequence } from "./sequence.js";

/**
 * How the store answers a list question.
 *
 * An access is one way to the rows: a sequence of references, in the order asked for or in one of its own, with the filters
 * it has answered. Where one access answers every filter in the order asked for, the page is cut straight out of it.
 * Otherwise the rows of the access with the fewest are read, tested against the filters left, put in order, and cut; of
 * what passes, memory holds no more than what the page may be cut from.
 */
export interface Access<Ref, Filter> {
  refs: Sequence<Ref>;
  answers: readonly (keyof Filter)[];
  /** Whether `refs` come in the order asked for. */
  ordered: boolean;
}

export interface ListQuestion<Ref, Row, Filter, Field extends string> {
  query: ListQuery<Filter, Field>;
  accesses: readonly Access<Ref, Filter>[];
  load(ref: Ref): Row;
  test(filter: Filter, answered: ReadonlySet<keyof Filter>): ((row: Row) => boolean) | undefined;
  /** Puts loaded rows in the order asked for, as the documented total order says. */
  sort(rows: Row[]): Row[];
}

export const answerList = <Ref, Row, Filter extends object, Field extends string>({
  query,
  accesses,
  load,
  test,
  sort,
}: ListQuestion<Ref, Row, Filter, Field>): Page<Row> => {
  const { filter, offset, limit } = query;
  const complete = accesses.filter(({ answers, ordered }) => ordered && test(filter, new Set(answers)) === undefined);
  const direct = fewest(complete);
  if (direct !== undefined) return { rows: direct.refs.slice(offset, limit).map(load), total: direct.refs.total };

  const access = fewest(accesses);
  if (access === undefined) return { rows: [], total: 0 };
  const passes = test(filter, new Set(access.answers));
  const end = offset + limit;
  /** No more of what passes is kept than the page may need. */
  let rows: Row[] = [];
  let total = 0;
  const keep = (row: Row): void => {
    if (access.ordered) {
      if (total >= offset && total < end) rows.push(row);
    } else if (rows.push(row) >= 2 * end + scanSize) rows = sort(rows).slice(0, end);
    total++;
  };
  for (let from = 0; from < access.refs.total; from += scanSize) {
    for (const ref of access.refs.slice(from, scanSize)) {
      const row = load(ref);
      if (passes === undefined || passes(row)) keep(row);
    }
  }
  return { rows: access.ordered ? rows : sort(rows).slice(offset, end), total };
};

/** References read from an access at a time. */
const scanSize = 1000;

const fewest = <Ref, Filter>(accesses: readonly Access<Ref, Filter>[]): Access<Ref, Filter> | undefined => {
  let best: Access<Ref, Filter> | undefined;
  for (const access of accesses) if (best === undefined || access.refs.total < best.refs.total) best = access;
  return best;
};

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

const largest = 0xffffffff;
const clamp = (value: number): number => Math.min(largest, Math.max(0, value));

type Comparable = string | number | bigint;

export const compare = <T extends Comparable>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Sorts by a value, ties by a key that ascends when the value descends; rows without a value last, by ascending key.
 * `tie` is "asc" for lists whose ties in `desc` ascend, "desc" for those whose ties in `desc` descend.
 */
export const sortRows = <Row>(
  rows: Row[],
  direction: "asc" | "desc",
  value: (row: Row) => Comparable | null,
  key: (row: Row) => Comparable,
  ties: "asc" | "desc",
): Row[] => {
  const sign = direction === "asc" ? 1 : -1;
  const tieSign = (ties === "asc" ? 1 : -1) * -sign;
  return rows.sort((a, b) => {
    const [va, vb] = [value(a), value(b)];
    if (va === null || vb === null) return va === vb ? compare(key(a), key(b)) : va === null ? 1 : -1;
    return sign * compare(va, vb) || tieSign * compare(key(a), key(b));
  });
};
