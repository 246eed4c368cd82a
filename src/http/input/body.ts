import type { IncomingMessage } from "node:http";
import { finished } from "node:stream";
import bodyParser from "koa-bodyparser";
import type { Context } from "koa";
import { loopShare } from "../../async/loop-share.js";
import { currentMeter, metered } from "../../async/work-meter.js";
import { inputError, PorticoError } from "../../errors.js";
import type { BodyGate } from "./body-gate.js";
import { NumberError, parseExactJson, surveyJson } from "./exact-json.js";

/** Bytes that a body may have, before and after decompression: see `Route`. */
export interface BodyBounds {
  bodyLimit?: number;
  mostBody?: number;
}

/** Reads the JSON body of a request, whatever its content type; undefined if there is none. */
export type ReadBody = (ctx: Context, bounds?: BodyBounds) => Promise<unknown>;

const nothing = (): Promise<void> => Promise.resolve();

/** What koa-bodyparser adds to an error. */
interface BodyError {
  status?: unknown;
  /** The text that could not be parsed. */
  body?: unknown;
}

/** Why koa-bodyparser refuses JSON that is well-formed; undefined if it is not. */
const faultOfJson = (text: unknown): PorticoError | undefined => {
  if (typeof text !== "string") return undefined;
  try {
    const value = JSON.parse(text) as unknown;
    const isObject = typeof value === "object" && value !== null;
    return isObject ? inputError("payload", "__proto__", "is not allowed") : inputError("payload", "value", "must be object");
  } catch {
    return undefined;
  }
};

/** The error to report for a body. Whatever fails while a body is read is treated as the client's fault. */
const refusalOf = (error: unknown): PorticoError => {
  const { status, body }: BodyError = typeof error === "object" && error !== null ? error : {};
  if (status === 413) {
    return new PorticoError("BODY_TOO_LARGE");
  }
  if (status === 415) {
    return new PorticoError("UNSUPPORTED_MEDIA_TYPE", "The content encoding of the request body is not supported.");
  }
  return faultOfJson(body) ?? new PorticoError("MALFORMED_JSON", undefined, { cause: error });
};

/** Levels; deeper than any legitimate body. Serializing much deeper values could exhaust the stack. */
const deepestNesting = 100;

/** Numbers of a body that a double may not hold: more than any legitimate body of so many bytes has. */
const mostExact = (limit: number): number => Math.max(10_000, Math.floor(limit / 64));

const exactly = (raw: string, parsed: unknown, limit: number): unknown => {
  const { depth, mayLoseDigits } = surveyJson(raw);
  if (depth > deepestNesting) {
    throw new PorticoError("MALFORMED_JSON", `The request body is nested deeper than ${deepestNesting} levels.`);
  }
  if (!mayLoseDigits) {
    return parsed;
  }
  try {
    return parseExactJson(raw, mostExact(limit));
  } catch (cause) {
    if (!(cause instanceof NumberError)) throw refusalOf(cause);
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
const unlessBrokenOff = (request: IncomingMessage, reading: Promise<unknown>): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const forget = finished(request, { writable: false }, (error) => {
      if (error) reject(refusalOf(error));
    });
    void reading.then(resolve, reject).finally(forget);
  });

const parserOf = (limit: number) =>
  bodyParser({
    enableTypes: ["json"],
    detectJSON: () => true,
    // a number means bytes, though the type allows text only
    jsonLimit: limit as unknown as string,
    onerror: (error) => {
      throw refusalOf(error);
    },
  });

/** `usual`: bytes that a body may have, where the route does not take more, or less. */
export const createBodyReader = (usual: number, gate: BodyGate): ReadBody => {
  const parsers = new Map<number, ReturnType<typeof parserOf>>();
  return async (ctx, { bodyLimit = usual, mostBody = Infinity } = {}) => {
    const meter = currentMeter();
    const most = Math.min(Math.max(bodyLimit, usual), mostBody);
    const read = parsers.get(most) ?? parserOf(most);
    parsers.set(most, read);
    const before = readBefore(ctx);
    if (before === undefined) {
      nameCoding(ctx.req);
      await gate.pass(ctx.req, most, () => unlessBrokenOff(ctx.req, read(ctx, nothing) as Promise<unknown>));
    }
    const raw = ctx.request.rawBody;
    if (typeof raw !== "string") {
      return before;
    }
    return raw === "" ? undefined : loopShare.run(() => metered(meter, () => exactly(raw, ctx.request.body, most)));
  };
};
