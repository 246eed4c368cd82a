import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import parseRanges from "range-parser";
import type { MaybePromise } from "../../../types/chain-adapter.js";
import { andThen } from "../../async/maybe-promise.js";
import { PorticoError } from "../../errors.js";
import type { BodyAnswer, FileAnswer, StreamAnswer } from "../route.js";
import { clientHas, emptyReply, type HeaderPairs, immutable, type Reply, type StreamBody, variantsOf } from "./reply.js";

/** Milliseconds for which a client may read nothing while there is something to read. */
export const defaultPatience = 30_000;

/** Neither proxies nor middleware may hold events back to compress or collect them. (`X-Accel-Buffering` is nginx's.) */
const unbuffered: HeaderPairs = ["Cache-Control", "no-cache, no-transform", "X-Accel-Buffering", "no"];

const heightHeader = (height: number | undefined): HeaderPairs => (height === undefined ? [] : ["X-Block-Height", String(height)]);

const namesOf = (pairs: HeaderPairs): string[] => pairs.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());

const valueOf = (name: string, pairs: HeaderPairs): string | undefined => {
  const place = namesOf(pairs).indexOf(name);
  return place === -1 ? undefined : pairs[2 * place + 1];
};

/** The list of both, each member once. */
const union = (general: string, own: string): string => [...new Set([...general.split(", "), ...own.split(", ")])].join(", ");

/**
 * Headers of its own that add to those of any reply: a cache that knew but some of `Vary` would give a reply to the wrong client, and what
 * must not be transformed is held back by whoever does so.
 */
const added: Partial<Record<string, (general: string, own: string) => string>> = {
  vary: union,
  "cache-control": (general, own) => (general.includes("no-transform") ? union(own, "no-transform") : own),
};

/** Headers by which those of the same names in `general` are replaced, except that `Vary` and `Cache-Control` keep what `added` says. */
export const withOwn = (general: HeaderPairs, own: HeaderPairs): string[] => {
  const names = new Set(namesOf(own));
  const joined = own.map((text, index) => {
    const name = index % 2 === 0 ? "" : (own[index - 1] ?? "").toLowerCase();
    const before = valueOf(name, general);
    return before === undefined ? text : (added[name]?.(before, text) ?? text);
  });
  return [...general.filter((_, index) => !names.has((general[index - (index % 2)] ?? "").toLowerCase())), ...joined];
};

const streamReply = (answer: StreamAnswer, height: number | undefined): Reply => {
  const { contentType, status = 200, headers = [], endless = false, patience = defaultPatience, keepsState = false } = answer;
  const usual = ["Content-Type", contentType, ...(endless ? unbuffered : ["Cache-Control", "no-store"]), ...heightHeader(height)];
  const stream: StreamBody = { open: (signal) => answer.stream(signal), endless, patience, keepsState, length: undefined };
  return { ...emptyReply(status, withOwn(usual, headers)), stream, hasOwnHeaders: true };
};

const isText = (type: string): boolean => /^(?:text\/|image\/svg\+xml|application\/(?:json|javascript|manifest\+json))/.test(type);

/** A file as far as it is known before it is read. */
interface Known {
  size: number;
  tag: string;
}

const known = ({ file, etag }: FileAnswer): MaybePromise<Known> => {
  if (Buffer.isBuffer(file)) return { size: file.length, tag: etag ?? hash("sha1", file, "base64url") };
  return stat(file).then(
    (found) => {
      if (!found.isFile()) throw new PorticoError("NOT_FOUND");
      return { size: found.size, tag: etag ?? `${found.size.toString(36)}-${Math.round(found.mtimeMs * 1000).toString(36)}` };
    },
    (error: unknown) => {
      const isMissing = error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
      throw isMissing ? new PorticoError("NOT_FOUND") : error;
    },
  );
};

interface Piece {
  start: number;
  /** The last byte. */
  end: number;
}

/**
 * The one piece that a client asks for; undefined for the whole, which also answers whoever asks for several; "none" if it lies beyond the
 * end.
 */
const pieceOf = (headers: IncomingHttpHeaders, { size, tag }: Known): Piece | "none" | undefined => {
  const { range, "if-range": unless } = headers;
  if (range === undefined || (unless !== undefined && unless !== `"${tag}"`)) return undefined;
  // What it has already is a 304, whatever piece it asks for (RFC 9110, 13.2.2).
  if (clientHas(headers, { headers: ["ETag", `"${tag}"`] })) return undefined;
  const ranges = parseRanges(size, range);
  if (ranges === -1) return "none";
  if (ranges === -2 || ranges.type !== "bytes" || ranges.length !== 1) return undefined;
  return ranges[0];
};

const readPiece = (path: string, { start, end }: Piece): StreamBody["open"] => (signal) => createReadStream(path, { start, end, signal });

const wholeReply = ({ file, contentType }: FileAnswer, { size, tag }: Known, headers: HeaderPairs, threshold: number): Reply => {
  if (Buffer.isBuffer(file)) return variantsOf({ status: 200, bytes: file, headers, tag }, isText(contentType) ? threshold : Infinity);
  const open = size === 0 ? () => createReadStream(file) : readPiece(file, { start: 0, end: size - 1 });
  return { ...emptyReply(200, [...headers, "ETag", `"${tag}"`]), stream: { ...finite, open, length: size } };
};

const finite = { endless: false, patience: defaultPatience, keepsState: false };

const pieceReply = ({ file }: FileAnswer, { size, tag }: Known, headers: HeaderPairs, piece: Piece): Reply => {
  const own = [...headers, "ETag", `"${tag}"`, "Content-Range", `bytes ${piece.start}-${piece.end}/${size}`];
  if (Buffer.isBuffer(file)) return { ...emptyReply(206, own), plain: { bytes: file.subarray(piece.start, piece.end + 1), headers: own } };
  return { ...emptyReply(206, own), stream: { ...finite, open: readPiece(file, piece), length: piece.end - piece.start + 1 } };
};

/** Replies with whole files whose bytes are in memory, by the answer they were made from. */
const whole = new WeakMap<FileAnswer, Reply>();

const fileReply = (answer: FileAnswer, { asked, height, threshold, addHeaders }: BodyReplyNeeds): MaybePromise<Reply> => {
  const ready = asked.range === undefined ? whole.get(answer) : undefined;
  if (ready !== undefined) return ready;
  return andThen(known(answer), (file): Reply => {
    const cacheControl = answer.immutable === true ? immutable : "no-cache";
    const usual = ["Content-Type", answer.contentType, "Cache-Control", cacheControl, "Accept-Ranges", "bytes", ...heightHeader(height)];
    const headers = withOwn(usual, answer.headers ?? []);
    const piece = pieceOf(asked, file);
    if (piece === "none") {
      addHeaders(["Content-Range", `bytes */${file.size}`]);
      throw new PorticoError("RANGE_NOT_SATISFIABLE");
    }
    if (piece !== undefined) return { ...pieceReply(answer, file, headers, piece), hasOwnHeaders: true };
    const made: Reply = { ...wholeReply(answer, file, headers, threshold), hasOwnHeaders: true };
    if (Buffer.isBuffer(answer.file)) whole.set(answer, made);
    return made;
  });
};

export interface BodyReplyNeeds {
  /** Headers of the request. */
  asked: IncomingHttpHeaders;
  /** Height of the state that it was computed from, if it was. */
  height: number | undefined;
  /** Bytes from which on texts are available compressed. */
  threshold: number;
  /** Adds headers to the reply, also where that is an error. */
  addHeaders(pairs: HeaderPairs): void;
}

/** Makes the reply of a route that makes its body itself. Throws NOT_FOUND if a file on disk is not there, and RANGE_NOT_SATISFIABLE. */
export const bodyReply = (answer: BodyAnswer, needs: BodyReplyNeeds): MaybePromise<Reply> =>
  "stream" in answer ? streamReply(answer, needs.height) : fileReply(answer, needs);
