import type { IncomingHttpHeaders } from "node:http";
import type { Variant } from "./reply.js";
import type { HeaderPairs } from "./default-headers.js";

const etagOf = ({ headers }: Variant): string | undefined => {
  const index = headers.indexOf("ETag");
  return index === -1 ? undefined : headers[index + 1];
};

/** `W/"x"` stands for `"x"`: If-None-Match is compared weakly. */
const strong = (tag: string): string => tag.trim().replace(/^W\//, "");

/**
 * Whether the client has this variant already and may be told so by a 304: by its If-None-Match, beside which If-Modified-Since counts for
 * nothing (RFC 9110, 13.2.2). With `Cache-Control: no-cache` it wants the whole all the same.
 */
export const clientHas = (headers: IncomingHttpHeaders, variant: Variant): boolean => {
  const given = headers["if-none-match"];
  if (given === undefined) return false;
  const etag = etagOf(variant);
  if (etag === undefined || /(?:^|,)\s*no-cache\s*(?:,|$)/.test(headers["cache-control"] ?? "")) return false;
  return given === etag || given.trim() === "*" || given.split(",").some((tag) => strong(tag) === etag);
};

/** The headers of a 304: it has no content that could have a type. */
export const headersOf304 = ({ headers }: Variant): HeaderPairs => {
  const index = headers.indexOf("Content-Type");
  return index === -1 ? headers : [...headers.slice(0, index), ...headers.slice(index + 2)];
};
