import type { IncomingMessage } from "node:http";
import type { Context } from "koa";
import type { Encoding, Reply, Variant } from "./reply.js";
import type { HeaderPairs } from "./standing-headers.js";
import type { Generation } from "./version.js";

/** One request while it is answered: what its reply has to say whether or not it succeeds. */
export interface Exchange {
  readonly ctx: Context;
  readonly id: string;
  /** Undefined until a version is settled. */
  generation: Generation | undefined;
  /** In which generation's way errors are told; undefined until a route is found. */
  failsAs: Generation | undefined;
  /** Height of the state that is being asked. */
  height: number | undefined;
}

export const setPairs = ({ res }: Context, pairs: HeaderPairs): void => {
  for (let index = 0; index + 1 < pairs.length; index += 2) {
    res.setHeader(pairs[index] ?? "", pairs[index + 1] ?? "");
  }
};

/** Said to a client whose connection is about to end: it sends nothing more into it, and nothing is lost there. */
export const lastReply: HeaderPairs = ["Connection", "close"];

const isEncoding = (name: string): name is Encoding => name === "br" || name === "gzip";

/**
 * The encoding to send. Of equally wanted ones, brotli: the bytes of what is asked for again are kept, so that its cost is paid
 * seldom. `accepted` is in the order of the client's weights, if it gave any.
 */
const choose = (accepted: readonly string[], weighed: boolean): Encoding | undefined => {
  if (!weighed) {
    return accepted.includes("br") || accepted.includes("*") ? "br" : accepted.includes("gzip") ? "gzip" : undefined;
  }
  const first = accepted.find((name) => name === "identity" || isEncoding(name));
  return first !== undefined && isEncoding(first) ? first : undefined;
};

/** What `Accept-Encoding` comes to, by its text. Few texts are in use; whoever sends others does not grow this for long. */
export interface Encodings {
  /** Undefined as well when this text was not seen lately. */
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

/** Sends a variant; 304 without a body to a client that has it. */
const sendVariant = (ctx: Context, status: number, { bytes, headers }: Variant): void => {
  setPairs(ctx, headers);
  ctx.status = status;
  if (ctx.req.headers["if-none-match"] !== undefined && ctx.fresh) {
    ctx.status = 304;
    return;
  }
  ctx.body = bytes;
};

/** Sends a reply in an encoding, or plain where it is not to be had in any. */
export const sendReply = (ctx: Context, reply: Reply, encoding: Encoding | undefined): void | Promise<void> => {
  if (reply.encoded === undefined || encoding === undefined) {
    return sendVariant(ctx, reply.status, reply.plain);
  }
  return reply.encoded(encoding).then((variant) => sendVariant(ctx, reply.status, variant));
};
