import type { Sliced } from "../../async/time-slicing.js";
import { firstWhere } from "../../text/first-where.js";

/** Guesses before bisecting: evenly spaced numbers take two or three, those of a chain some more. */
const evenGuesses = 8;

/**
 * The first place from `low` to below `high` whose number is not below `wanted`; `high` if there is none. Numbers ascend by place. Each
 * guess interpolates, so the more evenly they are spaced, the fewer are read.
 */
export const firstNotBelow = (low: number, high: number, wanted: number, numberAt: (place: number) => number): number => {
  if (low >= high) return low;
  let [below, found] = [low, high - 1];
  let [least, most] = [numberAt(below), numberAt(found)];
  if (least >= wanted) return low;
  if (most < wanted) return high;
  for (let guesses = 0; found - below > 1; guesses++) {
    const share = guesses < evenGuesses ? (wanted - least) / (most - least) : 0.5;
    const place = Math.min(found - 1, Math.max(below + 1, below + Math.floor(share * (found - below))));
    const number = numberAt(place);
    if (number < wanted) [below, least] = [place, number];
    else [found, most] = [place, number];
  }
  return found;
};

export type Comparable = string | number | bigint;

export const compare = <T extends Comparable>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);

/** How many sorted rows come before a place in their order; `isBefore` says of a row whether it does. */
export const countBefore = <Row>(rows: readonly Row[], isBefore: (row: Row) => boolean): number =>
  firstWhere(0, rows.length, (place) => !isBefore(rows[place] as Row));

type Comparison<Row> = (a: Row, b: Row) => number;

interface RowOrder<Row> {
  direction: "asc" | "desc";
  value(row: Row): Comparable | null;
  /** Different for any two rows. */
  key(row: Row): Comparable;
  /** How the keys of rows of equal value go when the values descend. */
  ties: "asc" | "desc";
}

/** The order of a list: by a value, then by a key; `asc` is the reverse of `desc`. Rows without a value come last, by ascending key. */
export const comparisonOf = <Row>({ direction, value, key, ties }: RowOrder<Row>): Comparison<Row> => {
  const sign = direction === "asc" ? 1 : -1;
  const tieSign = (ties === "asc" ? 1 : -1) * -sign;
  return (a, b) => {
    const [va, vb] = [value(a), value(b)];
    if (va === null || vb === null) return va === vb ? compare(key(a), key(b)) : va === null ? 1 : -1;
    return sign * compare(va, vb) || tieSign * compare(key(a), key(b));
  };
};

/** Rows sorted between two yields: some milliseconds. */
const runLength = 4096;

/** Sorts like `rows.sort(order)`, in steps. */
export function* sortSliced<Row>(rows: readonly Row[], order: Comparison<Row>): Sliced<Row[]> {
  let runs: Row[][] = [];
  for (let from = 0; from < rows.length; from += runLength) {
    runs.push(rows.slice(from, from + runLength).sort(order));
    yield;
  }
  while (runs.length > 1) {
    const merged: Row[][] = [];
    for (let i = 0; i < runs.length; i += 2) merged.push(yield* merge(runs[i] ?? [], runs[i + 1] ?? [], order));
    runs = merged;
  }
  return runs[0] ?? [];
}

function* merge<Row>(left: readonly Row[], right: readonly Row[], order: Comparison<Row>): Sliced<Row[]> {
  const rows: Row[] = [];
  let [l, r] = [0, 0];
  for (let a = left[l], b = right[r]; a !== undefined || b !== undefined; ) {
    if (b === undefined || (a !== undefined && order(a, b) <= 0)) {
      rows.push(a as Row);
      a = left[++l];
    } else {
      rows.push(b);
      b = right[++r];
    }
    if (rows.length % runLength === 0) yield;
  }
  return rows;
}
