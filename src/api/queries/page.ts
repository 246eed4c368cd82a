import type { MaybePromise } from "../../../types/chain-adapter.js";
import type { ListQuery, Page, Range } from "../../../types/chain-queries.js";
import type { PageAnswer, PageRequest } from "../../http/route.js";
import { andThen } from "../../async/maybe-promise.js";

/** What a list route asks for: rows, order and page. `filter` is undefined if no row can pass. */
export interface ListRequest<Filter, Order> {
  filter: Filter | undefined;
  orderBy: Order;
  page: PageRequest;
}

/** Asks for one page and presents its rows. */
export const pageOf = <Filter, Field extends string, Row, Item>(
  { filter, orderBy, page }: ListRequest<Filter, ListQuery<Filter, Field>["order"]>,
  ask: (query: ListQuery<Filter, Field>) => MaybePromise<Page<Row>>,
  present: (row: Row) => Item,
): MaybePromise<PageAnswer<Item>> => {
  if (filter === undefined) return { rows: [], total: 0 };
  return andThen(ask({ filter, order: orderBy, ...page }), ({ rows, total }) => ({ rows: rows.map(present), total }));
};

/** The intersection of two ranges. */
export const overlap = <T extends bigint | number>(a: Range<T> | undefined, b: Range<T> | undefined): Range<T> | undefined => {
  if (a === undefined || b === undefined) return a ?? b;
  const from = a.from === undefined || (b.from !== undefined && b.from > a.from) ? b.from : a.from;
  const to = a.to === undefined || (b.to !== undefined && b.to < a.to) ? b.to : a.to;
  return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
};

/**
 * Adds to the filter what the path fixes, as `/delegates/{id}/blocks` does the generator. Undefined if the caller's filter has
 * another value for the same member: both would have to hold, so no row can pass.
 */
export const within = <Filter extends object>(filter: Filter, fixed: Partial<Filter>): Filter | undefined => {
  for (const key of Object.keys(fixed) as (keyof Filter)[]) {
    if (filter[key] !== undefined && filter[key] !== fixed[key]) return undefined;
  }
  return { ...filter, ...fixed };
};

/** Bytes that the body of a search may have: some 450 addresses, or as many ids. */
export const largestSearch = 16_384;
