import type { IncomingHttpHeaders } from "node:http";
import type { ChosenBy } from "../routing/resolve.js";
import type { Generation } from "../routing/version.js";

/** Header names and values, alternating. */
export type HeaderPairs = readonly string[];

interface CorsOptions {
  cors: false | { origins: "*" | readonly string[] };
}

/**
 * For a server of JSON: nothing may execute, frame or sniff a reply. CORS decides who may read it, and whether a whole domain is
 * https-only is for its owner to decide. (OWASP REST Security Cheat Sheet, "Security Headers".)
 */
const security: HeaderPairs = [
  "Content-Security-Policy",
  "default-src 'none';frame-ancestors 'none'",
  "Cross-Origin-Resource-Policy",
  "cross-origin",
  "Referrer-Policy",
  "no-referrer",
  "X-Content-Type-Options",
  "nosniff",
  "X-Frame-Options",
  "DENY",
];

const exposedHeaders = [
  "API-Version",
  "ETag",
  "Retry-After",
  "WWW-Authenticate",
  "X-Block-Height",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "X-Request-Id",
].join(",");

/** Seconds for which a browser may reuse the reply to a preflight. */
const preflightAge = "600";

/** Headers that every reply carries: for security, and for the origins that may read it in a browser. */
export interface DefaultHeaders {
  /** Whether they depend on the request's Origin. */
  readonly byOrigin: boolean;
  of(origin: string | undefined): HeaderPairs;
  /** The further headers that answer a CORS preflight; undefined if the request is none, or its origin is not allowed. */
  preflight(headers: IncomingHttpHeaders): HeaderPairs | undefined;
}

const readableBy = (origin: string): HeaderPairs => [
  ...security,
  "Access-Control-Allow-Origin",
  origin,
  "Access-Control-Expose-Headers",
  exposedHeaders,
];

/** Whatever headers the page wants to send are allowed (Fetch standard, "CORS-preflight request"). */
const preflightHeaders = (wanted: string | undefined): HeaderPairs => [
  "Access-Control-Max-Age",
  preflightAge,
  "Access-Control-Allow-Methods",
  "GET,HEAD,POST,PUT,PATCH,DELETE",
  ...(wanted === undefined ? [] : ["Access-Control-Allow-Headers", wanted]),
];

export const createDefaultHeaders = ({ cors }: CorsOptions): DefaultHeaders => {
  const origins = cors === false ? [] : cors.origins;
  const all = origins === "*" ? readableBy("*") : undefined;
  const byOrigin = new Map(origins === "*" ? [] : origins.map((origin) => [origin, readableBy(origin)]));
  const isAllowed = (origin: string): boolean => all !== undefined || byOrigin.has(origin);
  return {
    byOrigin: byOrigin.size > 0,
    of: (origin) => all ?? byOrigin.get(origin ?? "") ?? security,
    preflight: ({ origin, ...headers }) =>
      origin !== undefined && headers["access-control-request-method"] !== undefined && isAllowed(origin)
        ? preflightHeaders(headers["access-control-request-headers"])
        : undefined,
  };
};

/** The headers that tell which generation answered, and (`Vary`) on which request headers the reply depends. */
export type VersionHeaders = (chosen: ChosenBy) => HeaderPairs;

interface VersionHeadersNeeds {
  /** Whether replies may be compressed. */
  byEncoding: boolean;
  /** Whether the default headers depend on the request's Origin. */
  byOrigin: boolean;
}

export const createVersionHeaders = ({ byEncoding, byOrigin }: VersionHeadersNeeds): VersionHeaders => {
  const always = [...(byEncoding ? ["Accept-Encoding"] : []), ...(byOrigin ? ["Origin"] : [])];
  const pairs = (generation: Generation, byHeaders: readonly string[]): HeaderPairs => {
    const vary = [...byHeaders, ...always];
    return ["API-Version", String(generation), ...(vary.length === 0 ? [] : ["Vary", vary.join(", ")])];
  };
  const both = (generation: Generation, byHeaders: readonly string[]) => ({
    versioned: pairs(generation, byHeaders),
    unversioned: pairs(generation, ["API-Version", "Accept", ...byHeaders]),
  });
  const [first, second, prefixed] = [both(1, []), both(2, ["API-Amounts"]), both(2, [])];
  return ({ generation, versioned, prefix }) => {
    const made = generation === 1 ? first : prefix === "" ? second : prefixed;
    return versioned ? made.versioned : made.unversioned;
  };
};
