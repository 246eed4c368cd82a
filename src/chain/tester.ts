import type { Range } from "../../types/chain-queries.js";
import { PorticoError } from "../errors.js";
import type { ListFilter } from "./lists.js";

type Value = string | number | bigint | boolean | null | undefined;

/** What rows are compared by where that is no member of theirs: one value, or several of which any may match. */
type ValuesOf<Filter, Row> = { [Name in keyof Filter]?: (row: Row) => Value | readonly Value[] };

export const within = <T extends number | bigint>({ from, to }: Range<T>, value: T): boolean =>
  (from === undefined || value >= from) && (to === undefined || value <= to);

type Compare = (value: Value, wanted: unknown) => boolean;

const comparisons: Record<ListFilter["by"], Compare> = {
  value: (value, wanted) => value === wanted,
  any: (value, wanted) => (wanted as readonly Value[]).includes(value),
  part: (value, wanted) => typeof value === "string" && value.includes(wanted as string),
  range: (value, wanted) => (typeof value === "bigint" || typeof value === "number") && within(wanted as Range<typeof value>, value),
};

/**
 * Tests the rows of a list. The returned function turns a filter into a test of all its members, except those in `answered`; undefined if
 * none is left.
 * @throws PorticoError OPTION_INVALID where `valuesOf` lacks a filter that is no member of the rows (`of: null`)
 */
export const createTester = <Filter extends object, Row extends object>(
  filters: Readonly<Record<keyof Filter & string, ListFilter>>,
  valuesOf: ValuesOf<Filter, Row> = {},
) => {
  const own = valuesOf as Readonly<Record<string, ((row: Row) => Value | readonly Value[]) | undefined>>;
  const missing = Object.entries<ListFilter>(filters).filter(([name, { of }]) => of === null && own[name] === undefined);
  if (missing.length > 0) {
    const names = missing.map(([name]) => `\`${name}\``).join(", ");
    const message = `createTester needs a function in \`valuesOf\` for each filter that rows have no member for: ${names}`;
    throw new PorticoError("OPTION_INVALID", message);
  }
  const testOf = (name: keyof Filter & string, wanted: unknown): ((row: Row) => boolean) => {
    const { by, of } = filters[name];
    const [compare, value] = [comparisons[by], own[name]];
    if (value === undefined) return (row) => compare(row[(of ?? name) as keyof Row] as Value, wanted);
    return (row) => {
      const found = value(row);
      return Array.isArray(found) ? found.some((each: Value) => compare(each, wanted)) : compare(found as Value, wanted);
    };
  };
  return (filter: Filter, answered: ReadonlySet<keyof Filter> = new Set()): ((row: Row) => boolean) | undefined => {
    const asked = (Object.keys(filter) as (keyof Filter & string)[]).filter((name) => filter[name] !== undefined && !answered.has(name));
    if (asked.length === 0) return undefined;
    const tests = asked.map((name) => testOf(name, filter[name]));
    return (row) => tests.every((test) => test(row));
  };
};
