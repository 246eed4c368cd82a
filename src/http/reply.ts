import { hash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { HeaderPairs } from "./standing-headers.js";

export type Encoding = "br" | "gzip";

/** The bytes of a reply in one content encoding, with the headers that go with them. */
export interface Variant {
  bytes: Buffer;
  headers: HeaderPairs;
}

/** A reply, ready to be sent as often as one likes. */
export interface Reply {
  readonly status: number;
  readonly plain: Variant;
  /** Bytes that it takes in memory. */
  readonly size: number;
  /** Undefined where compression is not worth it. */
  encoded?(encoding: Encoding): Promise<Variant>;
  /** A variant that has been made already. */
  ready?(encoding: Encoding): Variant | undefined;
}

export interface ReplyFacts {
  status: number;
  json: string;
  /** Of the state it was computed from, where it was. */
  height: number | undefined;
  /** Whether it may be asked for again by its ETag. */
  validated: boolean;
  cacheControl: "no-cache" | "no-store";
  /** Whether it is to be kept. */
  lasting: boolean;
}

/**
 * Short texts share pieces of memory, and each piece is there for as long as any of its texts: what is kept must not hold on to
 * what is not.
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

const plainHeaders = ({ height, cacheControl }: ReplyFacts): string[] => [
  "Content-Type",
  "application/json; charset=utf-8",
  "Cache-Control",
  cacheControl,
  ...(height === undefined ? [] : ["X-Block-Height", String(height)]),
];

/** What a kept reply takes beside its bytes: headers, keys and the like. */
const overhead = 1024;

/**
 * Makes a reply of its JSON text. ETags are strong and follow from the bytes alone, one for each encoding; bodies of at least
 * `threshold` bytes can be had compressed, and are compressed once.
 */
export const createReply = (facts: ReplyFacts, threshold: number): Reply => {
  const bytes = bytesOf(facts);
  const headers = plainHeaders(facts);
  const tag = facts.validated ? hash("sha1", bytes, "base64url") : undefined;
  const tagged = (suffix: string): string[] => (tag === undefined ? [] : ["ETag", `"${tag}${suffix}"`]);
  const plain: Variant = { bytes, headers: [...headers, ...tagged("")] };
  if (bytes.length < threshold) {
    return { status: facts.status, plain, size: bytes.length + overhead };
  }
  const made = new Map<Encoding, Promise<Variant>>();
  const ready = new Map<Encoding, Variant>();
  const encode = async (encoding: Encoding): Promise<Variant> => {
    const encoded = await compressors[encoding](bytes);
    const variant = { bytes: encoded, headers: [...headers, "Content-Encoding", encoding, ...tagged(`-${encoding}`)] };
    ready.set(encoding, variant);
    return variant;
  };
  return {
    status: facts.status,
    plain,
    // half of the bytes for all encodings is more than they take
    size: bytes.length * 1.5 + overhead,
    encoded: (encoding) => {
      const variant = made.get(encoding) ?? encode(encoding);
      made.set(encoding, variant);
      return variant;
    },
    ready: (encoding) => ready.get(encoding),
  };
};
