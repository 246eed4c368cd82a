import { hash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Chunk } from "../route.js";
import type { HeaderPairs } from "./default-headers.js";

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
  /** Makes a compressed variant, once per encoding. Absent if the body is too small to be worth it. */
  encoded?(encoding: Encoding): Promise<Variant>;
  /** A compressed variant, if it has already been made. */
  ready?(encoding: Encoding): Variant | undefined;
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

/** Makes a reply of bytes. If there are at least `threshold`, they are available compressed; each encoding is computed once, and has an ETag of its own. */
export const variantsOf = ({ status, bytes, headers, tag }: Content, threshold: number): Reply => {
  const tagged = (suffix: string): string[] => (tag === undefined ? [] : ["ETag", `"${tag}${suffix}"`]);
  const plain: Variant = { bytes, headers: [...headers, ...tagged("")] };
  if (bytes.length < threshold) {
    return { status, plain, size: bytes.length + overhead };
  }
  const made = new Map<Encoding, Promise<Variant>>();
  const ready = new Map<Encoding, Variant>();
  const encode = async (encoding: Encoding): Promise<Variant> => {
    const encoded = trimmed(await compressors[encoding](bytes));
    const variant = { bytes: encoded, headers: [...headers, "Content-Encoding", encoding, ...tagged(`-${encoding}`)] };
    ready.set(encoding, variant);
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
    ready: (encoding) => ready.get(encoding),
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
