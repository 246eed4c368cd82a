import { Type } from "@sinclair/typebox";
import { WholeNumber } from "./schema.js";
import type { QueryPairs } from "./query-string.js";
import type { PageRequest } from "../route.js";

export const largestLimit = 100;
/** Keeps the offset of every page within what a double holds exactly. */
const largestPage = Math.floor(Number.MAX_SAFE_INTEGER / largestLimit);

/** Query parameters of every list, in addition to the route's own. */
export const pagingProperties = {
  page: Type.Optional(WholeNumber({ minimum: 1, maximum: largestPage, description: "Page number, from 1. Default 1." })),
  limit: WholeNumber({ minimum: 1, maximum: largestLimit, default: largestLimit, description: "Rows per page." }),
  offset: Type.Optional(WholeNumber({ minimum: 0, description: "Rows to skip; used if no page is given." })),
};

/** `meta` of a list's reply, in the order in which it is written. */
export const Meta = Type.Object(
  {
    count: Type.Integer({ description: "Rows on this page." }),
    pageCount: Type.Integer({ description: "Number of pages, at least 1." }),
    totalCount: Type.Integer({ description: "Rows on all pages." }),
    next: Type.Union([Type.String(), Type.Null()], { description: "Link to the next page; null on the last." }),
    previous: Type.Union([Type.String(), Type.Null()], { description: "Link to the previous page; null on the first." }),
    self: Type.String(),
    first: Type.String(),
    last: Type.String(),
  },
  { title: "Meta" },
);

/** A requested page, given by its number or by the number of rows before it. */
export type PageInput = PageRequest & ({ by: "page"; page: number } | { by: "offset" });

export const pageInput = (query: { page?: number; limit: number; offset?: number }): PageInput => {
  const { limit, offset } = query;
  if (query.page === undefined && offset !== undefined) {
    return { by: "offset", offset, limit };
  }
  const page = query.page ?? 1;
  return { by: "page", page, offset: (page - 1) * limit, limit };
};

/**
 * The page numbers or offsets (as `by` says) that the links lead to. Stepping by `limit` down from an offset that is no multiple of it, the
 * first page is a shorter one, of `previousLimit` rows: no row comes twice.
 */
interface Stops {
  self: number;
  first: number;
  last: number;
  next: number | null;
  previous: number | null;
  previousLimit: number | undefined;
}

const pageStops = (page: number, pageCount: number): Stops => ({
  self: page,
  first: 1,
  last: pageCount,
  next: page < pageCount ? page + 1 : null,
  previous: page > 1 ? Math.min(page - 1, pageCount) : null,
  previousLimit: undefined,
});

/** The last page is the one that stepping by `limit` through this offset ends at. */
const offsetStops = (offset: number, limit: number, total: number): Stops => {
  const shift = offset % limit;
  const last = total > shift ? shift + Math.floor((total - 1 - shift) / limit) * limit : 0;
  return {
    self: offset,
    first: 0,
    last,
    next: offset + limit < total ? offset + limit : null,
    previous: offset > 0 ? Math.max(0, Math.min(offset - limit, last)) : null,
    previousLimit: offset > 0 && offset < limit ? offset : undefined,
  };
};

/**
 * Makes links to pages: the caller's parameters in the caller's order, with `by` set to the page, and appended if missing, as `limit` is.
 * An offset beside a page is left out: it was not used.
 */
const linkMaker = (path: string, pairs: QueryPairs, input: Pick<PageInput, "by" | "limit">): ((stop: number) => string) => {
  const named = new Set(pairs.map(([name]) => name));
  const whole: QueryPairs = pairs.filter(([name]) => name !== "offset" || input.by === "offset");
  if (!named.has(input.by)) {
    whole.push([input.by, ""]);
  }
  if (!named.has("limit")) {
    whole.push(["limit", String(input.limit)]);
  }
  const place = whole.findIndex(([name]) => name === input.by);
  const written = (pairs: QueryPairs): string[] => pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  const before = [...written(whole.slice(0, place)), `${input.by}=`].join("&");
  const after = ["", ...written(whole.slice(place + 1))].join("&");
  return (stop) => `${path}?${before}${stop}${after}`;
};

const withLimit = (pairs: QueryPairs, limit: number): QueryPairs => pairs.map(([name, value]) => [name, name === "limit" ? String(limit) : value]);

interface ListMeta {
  count: number;
  pageCount: number;
  totalCount: number;
  next: string | null;
  previous: string | null;
  self: string;
  first: string;
  last: string;
}

/** `path`: the list's path as links have it. */
export const pageMeta = (
  answer: { count: number; total: number },
  path: string,
  pairs: QueryPairs,
  input: PageInput,
): ListMeta => {
  const { count, total } = answer;
  const pageCount = Math.max(1, Math.ceil(total / input.limit));
  const stops = input.by === "page" ? pageStops(input.page, pageCount) : offsetStops(input.offset, input.limit, total);
  const link = linkMaker(path, pairs, input);
  const linkBack = stops.previousLimit === undefined ? link : linkMaker(path, withLimit(pairs, stops.previousLimit), { by: input.by, limit: stops.previousLimit });
  return {
    count,
    pageCount,
    totalCount: total,
    next: stops.next === null ? null : link(stops.next),
    previous: stops.previous === null ? null : linkBack(stops.previous),
    self: link(stops.self),
    first: link(stops.first),
    last: link(stops.last),
  };
};
