import type { ListQuery, MaybePromise, Page, Range } from "../../../types/chain-adapter.js";
import type { PageAnswer, PageRequest } from "../../http/route.js";
import { then } from "../../maybe-promise.js";

/** What a list route asks: which rows, in which order, and which page of them. `filter` is undefined when no row can pass. */
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
  return then(ask({ filter, order: orderBy, ...page }), ({ rows, total }) => ({ rows: rows.map(present), total }));
};

/** The range in which both hold. */
export const overlap = <T extends bigint | number>(a: Range<T> | undefined, b: Range<T> | undefined): Range<T> | undefined => {
  if (a === undefined || b === undefined) return a ?? b;
  const from = a.from === undefined || (b.from !== undefined && b.from > a.from) ? b.from : a.from;
  const to = a.to === undefined || (b.to !== undefined && b.to < a.to) ? b.to : a.to;
  return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
};

/**
 * The filter together with what the path already fixes: `/delegates/{id}/blocks` fixes the generator. Undefined when the
 * caller asks the same member for something else: all filters have to hold, so no row passes.
 */
export const within = <Filter extends object>(filter: Filter, fixed: Partial<Filter>): Filter | undefined => {
  for (const key of Object.keys(fixed) as (keyof Filter)[]) {
    if (filter[key] !== undefined && filter[key] !== fixed[key]) return undefined;
  }
  return { ...filter, ...fixed };
};
