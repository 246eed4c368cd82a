import type { IncomingMessage } from "node:http";
import type { Context } from "koa";
import type { Encoding, Reply, Variant } from "../reply/reply.js";
import { clientHas, headersOf304 } from "../reply/conditional-get.js";
import type { HeaderPairs } from "../reply/default-headers.js";
import type { Generation } from "../routing/version.js";

/** One request while it is being answered: what its reply states whether or not it succeeds. */
export interface Exchange {
  readonly ctx: Context;
  readonly id: string;
  /** Undefined until the version is known. */
  generation: Generation | undefined;
  /** The generation whose error format applies; undefined until a route is found. */
  failsAs: Generation | undefined;
  /** Height of the state that is being asked. */
  height: number | undefined;
}

export const setPairs = ({ res }: Context, pairs: HeaderPairs): void => {
  for (let index = 0; index + 1 < pairs.length; index += 2) {
    res.setHeader(pairs[index] ?? "", pairs[index + 1] ?? "");
  }
};

/** Tells a client that the connection is about to end, so that it sends no further request on it that would be lost. */
export const lastReply: HeaderPairs = ["Connection", "close"];

const isEncoding = (name: string): name is Encoding => name === "br" || name === "gzip";

/**
 * The encoding to send. Among equally preferred ones it is brotli: compressed bytes of repeated replies are kept, so its higher
 * cost is rarely paid. `accepted` is in the order of the client's weights, if it gave any (`weighed`).
 */
const choose = (accepted: readonly string[], weighed: boolean): Encoding | undefined => {
  if (!weighed) {
    return accepted.includes("br") || accepted.includes("*") ? "br" : accepted.includes("gzip") ? "gzip" : undefined;
  }
  const first = accepted.find((name) => name === "identity" || isEncoding(name));
  return first !== undefined && isEncoding(first) ? first : undefined;
};

/** Negotiated encodings, remembered by the text of `Accept-Encoding`. Few texts are in use; the memory is cleared if others fill it. */
export interface Encodings {
  /** Undefined if this text has not been seen recently. */
  recall(request: IncomingMessage): { encoding: Encoding | undefined } | undefined;
  of(ctx: Context): Encoding | undefined;
}

const remembered = 1000;
const plain = { encoding: undefined };

export const createEncodings = (): Encodings => {
  const known = new Map<string, { encoding: Encoding | undefined }>();
  const recall = ({ headers }: IncomingMessage) => {
    const header = headers["accept-encoding"];
    return header === undefined ? plain : known.get(header);
  };
  return {
    recall,
    of: (ctx) => {
      const present = recall(ctx.req);
      if (present !== undefined) {
        return present.encoding;
      }
      const header = String(ctx.req.headers["accept-encoding"]);
      const encoding = choose(ctx.acceptsEncodings(), header.includes("q="));
      if (known.size >= remembered) {
        known.clear();
      }
      known.set(header, { encoding });
      return encoding;
    },
  };
};

/** Sends a variant, or 304 without a body to a client that has it already. */
const sendVariant = (ctx: Context, status: number, variant: Variant): void => {
  if (clientHas(ctx.req.headers, variant)) {
    setPairs(ctx, headersOf304(variant));
    ctx.status = 304;
    return;
  }
  setPairs(ctx, variant.headers);
  ctx.status = status;
  ctx.body = variant.bytes;
};

/** Sends a reply in the encoding, or uncompressed if there is no encoding or the reply is not available compressed. */
export const sendReply = (ctx: Context, reply: Reply, encoding: Encoding | undefined): void | Promise<void> => {
  if (reply.encoded === undefined || encoding === undefined) {
    return sendVariant(ctx, reply.status, reply.plain);
  }
  return reply.encoded(encoding).then((variant) => sendVariant(ctx, reply.status, variant));
};
