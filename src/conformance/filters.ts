import type { Range } from "../../types/chain-queries.js";

/** What a filter may need to know besides the row. */
export interface Surroundings {
  height: number;
  timestamp: number;
  /** By address. */
  secondPublicKeys: ReadonlyMap<string, string | null>;
}

/** One filter of a list: what passes it, and values worth testing. */
export interface FilterSpec<Row> {
  name: string;
  passes(row: Row, value: unknown, around: Surroundings): boolean;
  /** Values to test: some that rows have, and some that no row has. Derived from the rows, so that they are relevant. */
  samples(rows: readonly Row[], around: Surroundings): unknown[];
  /** A value that the row passes; undefined if there is none. */
  of(row: Row, around: Surroundings): unknown;
}

type Text = string | number | bigint;

const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];

/** A value similar to the given one that no row has. */
const absent = (value: Text): Text => {
  if (typeof value === "bigint") return value + 1_000_000_007n;
  if (typeof value === "number") return value + 97;
  const last = value.at(-1) === "1" ? "2" : "1";
  return value.slice(0, -1) + last;
};

/** The text in the other letter case; nothing for hex, which adapters are only ever asked for in lower case. */
const recased = (value: string): string[] => {
  if (value.length >= 8 && !/[^0-9a-f]/.test(value)) return [];
  const upper = value.toUpperCase();
  return [value === upper ? value.toLowerCase() : upper];
};

/** Values that no row has and that many stores mishandle: empty, too long for a key, too large for a field. */
const extremes = (value: Text): Text[] => {
  if (typeof value === "bigint") return [-1n, value + 2n ** 64n];
  if (typeof value === "number")
    return [-1, value + 16, value + 2 ** 12, value + 2 ** 16, value + 2 ** 32, Number.MAX_SAFE_INTEGER];
  return ["", "\u0000", `${value}\u0000`, value.repeat(60), "x".repeat(5_000), "\ud800", ...recased(value)];
};

/** The first three values and the last, then values that no row has. */
const few = (values: readonly Text[]): Text[] => {
  const [first, second, third] = values;
  if (first === undefined) return [];
  return distinct(
    [first, second, third, values.at(-1), ...extremes(first), absent(first)].filter((value) => value !== undefined),
  );
};

/** Equality. `of` returns the row's value, several values of which any may match, or null. */
export const exact = <Row>(
  name: string,
  of: (row: Row, around: Surroundings) => Text | readonly Text[] | null,
): FilterSpec<Row> => {
  const valuesOf = (row: Row, around: Surroundings): readonly Text[] => {
    const found = of(row, around);
    if (found === null) return [];
    return typeof found === "object" ? found : [found];
  };
  return {
    name,
    passes: (row, value, around) => valuesOf(row, around).includes(value as Text),
    samples: (rows, around) => few(distinct(rows.flatMap((row) => valuesOf(row, around)))),
    of: (row, around) => valuesOf(row, around)[0],
  };
};

/** The filter's value is a list, any item of which may match. */
export const oneOf = <Row>(name: string, of: (row: Row) => readonly string[]): FilterSpec<Row> => ({
  name,
  passes: (row, value) => of(row).some((item) => (value as string[]).includes(item)),
  samples: (rows) => {
    const all = distinct(rows.flatMap(of));
    const [first = "", second = first] = all;
    const last = all.at(-1) ?? first;
    return [
      [first],
      [last, first, first],
      [second, String(absent(first)), last],
      [...extremes(first).map(String), last],
      [String(absent(first))],
      [],
    ];
  },
  of: (row) => of(row),
});

/** A case-sensitive substring. `least`: length of the shortest samples. */
export const part = <Row>(name: string, of: (row: Row) => string | null, { least }: { least: number }): FilterSpec<Row> => ({
  name,
  passes: (row, value) => of(row)?.includes(value as string) ?? false,
  samples: (rows) => {
    const all = distinct(rows.map(of).filter((value) => value !== null));
    const [first = "a"] = all;
    const cuts = all.flatMap((value) => [value, value.slice(0, least), value.slice(1, 1 + least), value.slice(-least)]);
    const pieces = distinct(cuts.filter((value) => value !== "")).slice(0, 14);
    // Pairs of filters use the first two samples and the last, so those must be values that rows have.
    return [...pieces.slice(0, 2), `${first}~`, ...recased(first), ...pieces.slice(2)];
  },
  of: (row) => of(row)?.slice(-least),
});

/** A row without a value passes no range. */
export const range = <Row>(name: string, of: (row: Row) => bigint | number | null): FilterSpec<Row> => ({
  name,
  passes: (row, value) => {
    const { from, to } = value as Range<bigint | number>;
    const has = of(row);
    return has !== null && (from === undefined || has >= from) && (to === undefined || has <= to);
  },
  samples: (rows) => {
    const all = distinct(rows.map(of).filter((value) => value !== null)).sort((a, b) => (a < b ? -1 : 1));
    const least = all[0];
    const most = all.at(-1);
    if (least === undefined || most === undefined) return [{}];
    const middle = all[Math.floor(all.length / 2)] ?? least;
    const above = typeof middle === "bigint" ? middle + 1n : middle + 1;
    const far = typeof middle === "bigint" ? 10n ** 299n : Number.MAX_SAFE_INTEGER;
    return [
      { from: middle },
      { to: middle },
      { from: middle, to: middle },
      { from: least, to: middle },
      { from: above, to: most },
      { from: above, to: middle },
      { from: least },
      { to: most },
      { from: -far, to: far },
      { from: far },
      { to: -far },
      {},
    ];
  },
  of: (row) => {
    const has = of(row);
    return has === null ? undefined : { from: has, to: has };
  },
});

/** A boolean. */
export const flag = <Row>(name: string, of: (row: Row, around: Surroundings) => boolean): FilterSpec<Row> => ({
  name,
  passes: (row, value, around) => of(row, around) === value,
  samples: () => [true, false],
  of,
});
