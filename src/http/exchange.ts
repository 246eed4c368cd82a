import type { Context } from "koa";
import type { Encoding, Reply, Variant } from "./reply.js";
import type { HeaderPairs } from "./standing-headers.js";
import type { Generation } from "./version.js";

/** One request while it is answered: what its reply has to say whether or not it succeeds. */
export interface Exchange {
  ctx: Context;
  id: string;
  /** Undefined until a route is found. */
  generation: Generation | undefined;
  /** In which generation's way errors are told; undefined until a route is found. */
  failsAs: Generation | undefined;
  /** Height of the state that is being asked. */
  height: number | undefined;
}

export const setPairs = (ctx: Context, pairs: HeaderPairs): void => {
  const { res } = ctx;
  for (let index = 0; index + 1 < pairs.length; index += 2) {
    res.setHeader(pairs[index] ?? "", pairs[index + 1] ?? "");
  }
};

const preferred: readonly Encoding[] = ["br", "gzip"];

/** The encoding that a request would rather have. Of equally wanted ones, brotli: its bytes are kept, so its cost is paid once. */
export const encodingOf = (ctx: Context): Encoding | undefined => {
  const header = ctx.req.headers["accept-encoding"];
  if (header === undefined || header === "" || header === "identity") {
    return undefined;
  }
  const accepted = ctx.acceptsEncodings();
  const weighed = header.includes("q=");
  const known = weighed ? accepted.find((encoding) => encoding === "identity" || isEncoding(encoding)) : undefined;
  const choice = weighed ? known : preferred.find((encoding) => accepted.includes(encoding));
  return choice !== undefined && isEncoding(choice) ? choice : undefined;
};

const isEncoding = (name: string): name is Encoding => name === "br" || name === "gzip";

/** Sends a variant; 304 without a body to a client that has it. */
export const sendVariant = (ctx: Context, status: number, { bytes, headers }: Variant): void => {
  setPairs(ctx, headers);
  ctx.status = status;
  if (ctx.req.headers["if-none-match"] !== undefined && ctx.fresh) {
    ctx.status = 304;
    return;
  }
  ctx.body = bytes;
};

/** Sends a reply in the encoding that the request would rather have. */
export const sendReply = (ctx: Context, reply: Reply): void | Promise<void> => {
  const encoding = reply.encoded === undefined ? undefined : encodingOf(ctx);
  if (reply.encoded === undefined || encoding === undefined) {
    return sendVariant(ctx, reply.status, reply.plain);
  }
  return reply.encoded(encoding).then((variant) => sendVariant(ctx, reply.status, variant));
};
