import type { IncomingMessage } from "node:http";
import { finished } from "node:stream";
import bodyParser from "koa-bodyparser";
import type { Context } from "koa";
import { currentMeter, loopShare, metered } from "../../async/loop-share.js";
import { PorticoError, type Validation } from "../../errors.js";
import { NumberError, parseBounded } from "./exact-json.js";

/** How much may be waiting of bodies that have not arrived whole, and how slowly they may come. */
export interface BodyGateLimits {
  /** Bytes, in all: as many as the bodies say they have, or may have. */
  most: number;
  /** Bytes of one client. One body is let in, however large it may be. */
  mostOfClient: number;
  /** Bytes a second that a body must bring on the average, once `grace` milliseconds have passed. */
  leastRate: number;
  grace: number;
}

interface BodyGateNeeds extends BodyGateLimits {
  /** The key by which a request's client is counted. */
  clientOf(request: IncomingMessage): string;
}

/** Lets bodies in: what a flood of unfinished bodies can hold of the memory is bounded, and so is for how long. */
interface BodyGate {
  /**
   * Reads a body of at most `limit` bytes by `read`, once there is room for it.
   * @throws PorticoError BODY_TOO_LARGE, BODIES_FULL, BODY_TOO_SLOW
   */
  pass<T>(request: IncomingMessage, limit: number, read: () => Promise<T>): Promise<T>;
}

export const bodyGateLimits: BodyGateLimits = { most: 67_108_864, mostOfClient: 16_777_216, leastRate: 4_096, grace: 5_000 };

const bodyTooLarge = (limit: number): PorticoError =>
  new PorticoError("BODY_TOO_LARGE", `The request body is too large: this route takes up to ${limit} bytes.`);

/** Bytes that a body says it has; undefined if it does not. */
const announced = ({ headers }: IncomingMessage): number | undefined => {
  const length = Number(headers["content-length"] ?? NaN);
  return Number.isSafeInteger(length) ? length : undefined;
};

const isCompressed = ({ headers }: IncomingMessage): boolean => !["", "identity"].includes(headers["content-encoding"] ?? "");

/** Milliseconds between two looks at how much has arrived. */
const interval = 1_000;

/** Rejects once a body comes too slowly. The second function ends the watch. */
const watchRate = (request: IncomingMessage, { leastRate, grace }: BodyGateLimits): [Promise<never>, () => void] => {
  const begun = performance.now();
  const before = request.socket.bytesRead;
  let timer: NodeJS.Timeout | undefined;
  const tooSlow = new Promise<never>((_, reject) => {
    timer = setInterval(() => {
      const passed = performance.now() - begun;
      if (passed < grace || request.complete) return;
      if (request.socket.bytesRead - before < (leastRate * passed) / 1000) reject(new PorticoError("BODY_TOO_SLOW"));
    }, interval).unref();
  });
  // Nobody may be waiting for it any more.
  tooSlow.catch(() => undefined);
  return [tooSlow, () => clearInterval(timer)];
};

export const createBodyGate = (needs: BodyGateNeeds): BodyGate => {
  const { most, mostOfClient, clientOf } = needs;
  const ofClients = new Map<string, number>();
  let waiting = 0;

  const enter = (client: string, bytes: number): (() => void) => {
    const before = ofClients.get(client) ?? 0;
    if (waiting + bytes > Math.max(most, bytes) || (before > 0 && before + bytes > mostOfClient)) throw new PorticoError("BODIES_FULL");
    waiting += bytes;
    ofClients.set(client, before + bytes);
    return () => {
      waiting -= bytes;
      const left = (ofClients.get(client) ?? 0) - bytes;
      if (left > 0) ofClients.set(client, left);
      else ofClients.delete(client);
    };
  };

  return {
    pass: async (request, limit, read) => {
      const length = announced(request);
      if (length !== undefined && length > limit) throw bodyTooLarge(limit);
      if (length === 0) return read();
      const leave = enter(clientOf(request), length === undefined || isCompressed(request) ? limit : length);
      const [tooSlow, endWatch] = watchRate(request, needs);
      try {
        return await Promise.race([read(), tooSlow]);
      } finally {
        endWatch();
        leave();
      }
    },
  };
};

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
    const validation: Validation = { source: "payload", keys: ["value"] };
    throw new PorticoError("BAD_REQUEST", `The request body has a number that is ${cause.message}.`, { cause, validation });
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

/**
 * Bodies of any type are read as text, and parsed here: koa-bodyparser would parse them as they come, all in one turn of the event loop.
 */
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
