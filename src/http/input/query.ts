import { Type } from "@sinclair/typebox";
import { inputError } from "../../errors.js";
import { amongKnown } from "../../text/known-names.js";
import { isSchema, type JsonSchema } from "../json-schema.js";
import type { PageRequest } from "../route.js";
import { exactKeyword, inputKeyword, textKeyword, WholeNumber } from "./schema.js";

/** The parameters of a query string in the caller's order, decoded. */
export type QueryPairs = [name: string, value: string][];

const decode = (text: string): string | undefined => {
  if (!/[%+]/.test(text)) {
    return text;
  }
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
};

/** Splits a query string (without its `?`). Throws BAD_REQUEST if it is not percent-encoded UTF-8. */
export const parseQuery = (text: string): QueryPairs => {
  if (text === "") {
    return [];
  }
  return text.split("&").flatMap((part): QueryPairs => {
    if (part === "") {
      return [];
    }
    const cut = part.indexOf("=");
    const name = decode(cut === -1 ? part : part.slice(0, cut));
    const value = decode(cut === -1 ? "" : part.slice(cut + 1));
    if (name === undefined || value === undefined) {
      throw inputError("query", name ?? "query", "is not percent-encoded UTF-8");
    }
    return [[name, value]];
  });
};

interface Place {
  path: string[];
  many: boolean;
}

const placesOf = (schema: JsonSchema, within: string[]): Map<string, Place> => {
  const places = new Map<string, Place>();
  const properties = isSchema(schema.properties) ? schema.properties : {};
  for (const [name, part] of Object.entries(properties)) {
    const path = [...within, name];
    const nested = isSchema(part) && part.type === "object" && !(inputKeyword in part);
    if (!nested || part[exactKeyword] === true) {
      places.set(path.join("."), { path, many: isSchema(part) && part.type === "array" && part[textKeyword] !== "json" });
    }
    for (const [nestedName, place] of nested ? placesOf(part, path) : []) {
      places.set(nestedName, place);
    }
  }
  return places;
};

/** The list to which a parameter adds an item: client libraries write `ids.0`, `ids[0]` and `ids[]` besides `ids`. */
const listNamed = (name: string): string | undefined => /^(.+?)(?:\.\d{1,3}|\[\d{0,3}\])$/.exec(name)?.[1];

const placeNamed = (places: Map<string, Place>, name: string): Place | undefined => {
  const list = places.get(listNamed(name) ?? "");
  return places.get(name) ?? (list?.many === true ? list : undefined);
};

const put = (tree: JsonSchema, name: string, { path, many }: Place, text: string): void => {
  let object = tree;
  for (const step of path.slice(0, -1)) {
    const next = Object.hasOwn(object, step) ? object[step] : {};
    if (!isSchema(next)) {
      throw inputError("query", name, "cannot be given together with a single value");
    }
    object[step] = next;
    object = next;
  }
  const last = path[path.length - 1] ?? name;
  const present = Object.hasOwn(object, last) ? object[last] : undefined;
  if (present !== undefined && !many) {
    throw inputError("query", name, "must be given once");
  }
  object[last] = many ? [...(Array.isArray(present) ? (present as string[]) : []), ...text.split(",")] : text;
};

/**
 * Makes the function that nests query parameters as the schema does: `balance.from=1` becomes `{ balance: { from: "1" } }`, the
 * object that a body would carry. That function throws BAD_REQUEST for a repeated single value and, unless `leaveOutUnknown`, for
 * a name that the schema does not have.
 */
export const createQueryLayout = (schema: unknown, { leaveOutUnknown = false } = {}): ((pairs: QueryPairs) => JsonSchema) => {
  const places = isSchema(schema) ? placesOf(schema, []) : new Map<string, Place>();
  return (pairs) => {
    const tree: JsonSchema = {};
    for (const [name, text] of pairs) {
      const place = placeNamed(places, name);
      if (place === undefined) {
        if (leaveOutUnknown) {
          continue;
        }
        throw inputError("query", name, `is not allowed${amongKnown(name, [...places.keys()])}`);
      }
      put(tree, name, place, text);
    }
    return tree;
  };
};

const largestLimit = 100;
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

/** The rows that are asked for: by a page's number, or by the number of rows before it. */
export const pageRequest = (page: number | undefined, limit: number, offset: number | undefined): PageRequest =>
  page === undefined && offset !== undefined ? { offset, limit } : { offset: ((page ?? 1) - 1) * limit, limit };

/** The parameter that names a page in its links: the one that the caller has used, or `page`. */
type PagedBy = "page" | "offset";

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
const linkMaker = (path: string, pairs: QueryPairs, by: PagedBy, limit: number): ((stop: number) => string) => {
  const named = new Set(pairs.map(([name]) => name));
  const whole: QueryPairs = pairs.filter(([name]) => name !== "offset" || by === "offset");
  if (!named.has(by)) whole.push([by, ""]);
  if (!named.has("limit")) whole.push(["limit", String(limit)]);
  const place = whole.findIndex(([name]) => name === by);
  const written = (pairs: QueryPairs): string[] => pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  const before = [...written(whole.slice(0, place)), `${by}=`].join("&");
  const after = ["", ...written(whole.slice(place + 1))].join("&");
  return (stop) => `${path}?${before}${stop}${after}`;
};

const withLimit = (pairs: QueryPairs, limit: number): QueryPairs =>
  pairs.map(([name, value]) => [name, name === "limit" ? String(limit) : value]);

/** `path`: the list's path as links have it. */
export const pageMeta = (
  { count, total }: { count: number; total: number },
  path: string,
  pairs: QueryPairs,
  { offset, limit }: PageRequest,
): (typeof Meta)["static"] => {
  const isGiven = (by: PagedBy): boolean => pairs.some(([name]) => name === by);
  const by = isGiven("offset") && !isGiven("page") ? "offset" : "page";
  const pageCount = Math.max(1, Math.ceil(total / limit));
  const stops = by === "page" ? pageStops(offset / limit + 1, pageCount) : offsetStops(offset, limit, total);
  const link = linkMaker(path, pairs, by, limit);
  const { previousLimit } = stops;
  const linkBack = previousLimit === undefined ? link : linkMaker(path, withLimit(pairs, previousLimit), by, previousLimit);
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
