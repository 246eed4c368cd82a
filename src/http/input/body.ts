import type { IncomingMessage } from "node:http";
import { finished } from "node:stream";
import bodyParser from "koa-bodyparser";
import type { Context } from "koa";
import { loopShare } from "../../async/loop-share.js";
import { currentMeter, metered } from "../../async/work-meter.js";
import { PorticoError } from "../../errors.js";
import { type BodyGate, bodyTooLarge } from "./body-gate.js";
import { parseBounded } from "./bounded-json.js";
import { NumberError } from "./exact-json.js";

/** Bytes that a body may have, before and after decompression: see `Route`. */
export interface BodyBounds {
  bodyLimit?: number;
  mostBody?: number;
}

/** Reads the JSON body of a request, whatever its content type; undefined if there is none. */
export type ReadBody = (ctx: Context, bounds?: BodyBounds) => Promise<unknown>;

const nothing = (): Promise<void> => Promise.resolve();

/** The error to report for a body. Whatever fails while a body is read is treated as the client's fault. */
const refusalOf = (error: unknown, limit: number): PorticoError => {
  if (error instanceof PorticoError) return error;
  const { status }: { status?: unknown } = typeof error === "object" && error !== null ? error : {};
  if (status === 413) return bodyTooLarge(limit);
  if (status === 415) {
    return new PorticoError("UNSUPPORTED_MEDIA_TYPE", "The content encoding of the request body is not supported.");
  }
  return new PorticoError("MALFORMED_JSON", undefined, { cause: error });
};

const exactly = (raw: string, limit: number, before: unknown): unknown => {
  try {
    return parseBounded(raw, limit, before);
  } catch (cause) {
    if (!(cause instanceof NumberError)) throw refusalOf(cause, limit);
    throw new PorticoError("BAD_REQUEST", `The request body has a number that is ${cause.message}.`, { cause, validation: { source: "payload", keys: ["value"] } });
  }
};

/**
 * The body, if the host's own server has read it before the request came here. Some parsers leave an empty object when they have
 * read nothing because of the content type, so what decides is whether the request has been read to its end.
 */
const readBefore = (ctx: Context): unknown => {
  if (ctx.req.readableEnded) {
    return ctx.request.body ?? (ctx.req as { body?: unknown }).body;
  }
  ctx.request.body = undefined;
  return undefined;
};

/** Codings are named in any letter case, and "x-gzip" is gzip (RFC 9110, 8.4.1); what reads the body knows only one name of each. */
const nameCoding = ({ headers }: IncomingMessage): void => {
  const coding = headers["content-encoding"];
  if (coding !== undefined) headers["content-encoding"] = coding.trim().toLowerCase().replace(/^x-gzip$/, "gzip");
};

/** Rejects also if the request breaks off: where its body is compressed, what reads that would never hear of it. */
const unlessBrokenOff = <T>(request: IncomingMessage, limit: number, reading: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const forget = finished(request, { writable: false }, (error) => {
      if (error) reject(refusalOf(error, limit));
    });
    void reading.then(resolve, reject).finally(forget);
  });

/** Bodies of any type are read as text, and parsed here: koa-bodyparser would parse them as they come, all in one turn of the event loop. */
const readerOf = (limit: number) => {
  const read = bodyParser({
    enableTypes: ["text"],
    // a number means bytes, though the type allows text only
    textLimit: limit as unknown as string,
    onerror: (error) => {
      throw refusalOf(error, limit);
    },
  });
  return async (req: IncomingMessage): Promise<string> => {
    const request: { is(): boolean; rawBody?: string } = { is: () => true };
    await read({ req, request } as unknown as Context, nothing);
    return request.rawBody ?? "";
  };
};

/** `usual`: bytes that a body may have, where the route does not take more, or less. */
export const createBodyReader = (usual: number, gate: BodyGate): ReadBody => {
  const readers = new Map<number, ReturnType<typeof readerOf>>();
  return async (ctx, { bodyLimit = usual, mostBody = Infinity } = {}) => {
    const meter = currentMeter();
    const most = Math.min(Math.max(bodyLimit, usual), mostBody);
    const read = readers.get(most) ?? readerOf(most);
    readers.set(most, read);
    const before = readBefore(ctx);
    if (before !== undefined && typeof ctx.request.rawBody !== "string") return before;
    if (before === undefined) {
      nameCoding(ctx.req);
      ctx.request.rawBody = await gate.pass(ctx.req, most, () => unlessBrokenOff(ctx.req, most, read(ctx.req)));
    }
    const raw = ctx.request.rawBody as string;
    if (raw === "") return undefined;
    return loopShare.run(() => {
      // Nobody waits for the answer any more, but others for this round.
      if (ctx.req.socket.destroyed) throw new PorticoError("BAD_REQUEST", "The connection was closed before the request body was parsed.");
      return metered(meter, () => exactly(raw, most, before));
    });
  };
};
