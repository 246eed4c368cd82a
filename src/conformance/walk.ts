import type { ChainSnapshot } from "../../types/chain-adapter.js";
import type { ListQuery, Order, Page } from "../../types/chain-queries.js";
import type { FilterSpec, Surroundings } from "./filters.js";
import { type ListSpec, sorted } from "./lists.js";
import { rowsOf, same, show } from "./comparing.js";

/** Rows per page when a list is walked: the most that a client of the interface can ask for. */
export const mostRows = 100;

/** Asks for one page, and checks that the answer is one. */
export const askPage = async <Row, Filter, Field extends string>(
  snapshot: ChainSnapshot,
  spec: ListSpec<Row, Filter, Field>,
  query: ListQuery<Filter, Field>,
): Promise<Page<Row>> => {
  const page = (await spec.ask(snapshot, query)) as Page<Row> | undefined;
  const at = `${spec.name} ${show(query)}`;
  same(Array.isArray(page?.rows) ? "list" : typeof page?.rows, "list", `${at}: type of \`rows\``);
  same(typeof page?.total, "number", `${at}: type of \`total\``);
  return page as Page<Row>;
};

/** Reads a list page by page. Every page but the last must be full, and all must have the same total. */
export const walk = async <Row, Filter, Field extends string>(
  snapshot: ChainSnapshot,
  spec: ListSpec<Row, Filter, Field>,
  { filter, order, limit = mostRows }: { filter: Filter; order: Order<Field>; limit?: number },
): Promise<Row[]> => {
  const rows: Row[] = [];
  const first = await askPage(snapshot, spec, { filter, order, offset: 0, limit });
  for (let offset = 0; offset < first.total; offset += limit) {
    const page = offset === 0 ? first : await askPage(snapshot, spec, { filter, order, offset, limit });
    const at = `${spec.name} ${show({ filter, order, offset, limit })}`;
    same(page.total, first.total, `${at}: total`);
    same(page.rows.length, Math.min(limit, first.total - offset), `${at}: number of rows, for a total of ${first.total}`);
    rows.push(...page.rows);
  }
  return rows;
};

/** Every row of a list, in its usual order. */
export const everyRow = <Row, Filter, Field extends string>(
  snapshot: ChainSnapshot,
  spec: ListSpec<Row, Filter, Field>,
): Promise<Row[]> => walk(snapshot, spec, { filter: {} as Filter, order: spec.usual });

/** Queries with filters, and compares rows and total with a plain filter of `all`. */
export const expectFiltered = async <Row, Filter, Field extends string>(
  snapshot: ChainSnapshot,
  spec: ListSpec<Row, Filter, Field>,
  all: readonly Row[],
  around: Surroundings,
  filters: readonly (readonly [FilterSpec<Row>, unknown])[],
): Promise<void> => {
  const filter = Object.fromEntries(filters.map(([{ name }, value]) => [name, value])) as Filter;
  const expected = all.filter((row) => filters.every(([{ passes }, value]) => passes(row, value, around)));
  const found = await walk(snapshot, spec, { filter, order: spec.usual });
  same(found.map(spec.keyOf), sorted(expected, spec.usual, spec).map(spec.keyOf), `${spec.name} ${show({ filter })}`);
};

/** Compares whole rows, in order. */
export const sameRows = <Row extends object, Filter, Field extends string>(
  spec: ListSpec<Row, Filter, Field>,
  found: readonly Row[],
  expected: readonly Row[],
  what: string,
): void => {
  same(found.map(spec.keyOf), expected.map(spec.keyOf), what);
  same(rowsOf(spec.kind, found), rowsOf(spec.kind, expected), what);
};
