import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { hash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import Negotiator from "negotiator";
import type { MaybePromise } from "../../../types/chain-adapter.js";
import type { EdgeOptions } from "../../options/options.js";
import type { Chunk } from "../route.js";
import type { ChosenBy } from "../routing/router.js";
import type { Generation } from "../routing/version.js";

/** Header names and values, alternating. */
export type HeaderPairs = readonly string[];

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

export const createDefaultHeaders = ({ cors }: Pick<EdgeOptions, "cors">): DefaultHeaders => {
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

export type Encoding = "br" | "gzip";

/** The bytes of a reply in one content encoding, with the headers that go with them. */
export interface Variant {
  bytes: Buffer;
  headers: HeaderPairs;
}

/** A body that is read while it is sent. What its members mean is said in route.ts. */
export interface StreamBody {
  open(signal: AbortSignal): AsyncIterable<Chunk>;
  readonly endless: boolean;
  readonly patience: number;
  readonly keepsState: boolean;
  /** Bytes, if that is known. */
  readonly length: number | undefined;
}

/** A reply that can be sent any number of times; one that has a stream only once. */
export interface Reply {
  readonly status: number;
  readonly plain: Variant;
  /** What is sent instead of the bytes of `plain`. */
  readonly stream?: StreamBody;
  /** Whether its headers replace default headers of the same names. */
  readonly hasOwnHeaders?: boolean;
  /** Bytes that it takes in memory. */
  readonly size: number;
  /** The compressed variant, which is made once per encoding. Absent if the body is too small to be worth it. */
  encoded?(encoding: Encoding): MaybePromise<Variant>;
}

/** For what will never be another: a year is the most that caches are meant to keep anything (RFC 9111). */
export const immutable = "public, max-age=31536000, immutable";

export interface ReplyFacts {
  status: number;
  json: string;
  /** Height of the state that it was computed from, if it was. */
  height: number | undefined;
  /** Whether it gets an ETag, by which clients can revalidate it. */
  validated: boolean;
  cacheControl: "no-cache" | "no-store" | typeof immutable;
  /** Whether it will be kept in the cache. */
  lasting: boolean;
}

/**
 * `Buffer.from` puts short texts into shared pieces of memory, each of which lives as long as any of its texts: a reply that is kept
 * gets memory of its own, so that it does not keep others alive.
 */
const bytesOf = ({ json, lasting }: ReplyFacts): Buffer => {
  if (!lasting) {
    return Buffer.from(json);
  }
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(json));
  bytes.write(json);
  return bytes;
};

const compressors: Record<Encoding, (bytes: Buffer) => Promise<Buffer>> = {
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (bytes) => promisify(gzip)(bytes),
};

/** The same bytes, in memory of their own: zlib leaves a short result at the beginning of 16 KB, which would live as long. */
const trimmed = (bytes: Buffer): Buffer => {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
};

export const plainHeaders = ({ height, cacheControl }: Pick<ReplyFacts, "height" | "cacheControl">): string[] => [
  "Content-Type",
  "application/json; charset=utf-8",
  "Cache-Control",
  cacheControl,
  ...(height === undefined ? [] : ["X-Block-Height", String(height)]),
];

/** Bytes that a kept reply takes besides its body: headers, keys and the like. */
const overhead = 1024;

interface Content {
  status: number;
  bytes: Buffer;
  headers: HeaderPairs;
  /** The part of its ETag between the quotes; undefined: none. */
  tag: string | undefined;
}

/**
 * Makes a reply of bytes. If there are at least `threshold`, they are available compressed; each encoding is computed once, and has an ETag
 * of its own.
 */
export const variantsOf = ({ status, bytes, headers, tag }: Content, threshold: number): Reply => {
  const tagged = (suffix: string): string[] => (tag === undefined ? [] : ["ETag", `"${tag}${suffix}"`]);
  const plain: Variant = { bytes, headers: [...headers, ...tagged("")] };
  if (bytes.length < threshold) {
    return { status, plain, size: bytes.length + overhead };
  }
  const made = new Map<Encoding, MaybePromise<Variant>>();
  const encode = async (encoding: Encoding): Promise<Variant> => {
    const encoded = trimmed(await compressors[encoding](bytes));
    const variant = { bytes: encoded, headers: [...headers, "Content-Encoding", encoding, ...tagged(`-${encoding}`)] };
    made.set(encoding, variant);
    return variant;
  };
  return {
    status,
    plain,
    // all compressed variants together take less than half of the plain bytes
    size: Math.ceil(bytes.length * 1.5) + overhead,
    encoded: (encoding) => {
      const variant = made.get(encoding) ?? encode(encoding);
      made.set(encoding, variant);
      return variant;
    },
  };
};

/** Makes a reply from its JSON text. ETags are strong and depend on the bytes alone. */
export const createReply = (facts: ReplyFacts, threshold: number): Reply => {
  const bytes = bytesOf(facts);
  const tag = facts.validated ? hash("sha1", bytes, "base64url") : undefined;
  return variantsOf({ status: facts.status, bytes, headers: plainHeaders(facts), tag }, threshold);
};

const noBytes = Buffer.alloc(0);

/** A reply without a body: a redirect, or the answer to OPTIONS. */
export const emptyReply = (status: number, headers: HeaderPairs): Reply => ({ status, plain: { bytes: noBytes, headers }, size: 0 });

const etagOf = ({ headers }: Pick<Variant, "headers">): string | undefined => {
  const index = headers.indexOf("ETag");
  return index === -1 ? undefined : headers[index + 1];
};

/** `W/"x"` stands for `"x"`: If-None-Match is compared weakly. */
const strong = (tag: string): string => tag.trim().replace(/^W\//, "");

/**
 * Whether the client has this variant already and may be told so by a 304: by its If-None-Match, beside which If-Modified-Since counts for
 * nothing (RFC 9110, 13.2.2). With `Cache-Control: no-cache` it wants the whole all the same.
 */
export const clientHas = (headers: IncomingHttpHeaders, variant: Pick<Variant, "headers">): boolean => {
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

/** Among encodings that a client likes equally, brotli: what it compresses is kept, so that its higher cost is rarely paid. */
const preferred: readonly Encoding[] = ["br", "gzip"];

const isEncoding = (name: string | undefined): name is Encoding => name === "br" || name === "gzip";

/** The types of negotiator are those of an older version. */
interface Negotiation {
  encoding(available: readonly string[], options: { preferred: readonly string[] }): string | undefined;
}

/** The encoding of a reply by `Accept-Encoding`; undefined: none. */
export const encodingFor = ({ headers }: IncomingMessage): Encoding | undefined => {
  if (headers["accept-encoding"] === undefined) return undefined;
  const negotiation = new Negotiator({ headers }) as unknown as Negotiation;
  const chosen = negotiation.encoding([...preferred, "identity"], { preferred });
  return isEncoding(chosen) ? chosen : undefined;
};
