import type { IncomingMessage, ServerResponse } from "node:http";
import type { Context } from "koa";
import { setPairs } from "./exchange.js";
import type { HeaderPairs } from "./standing-headers.js";

/** A request, and the ways to be done with it. */
export interface Arrival {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Sends a reply; there are no `bytes` in a 304. */
  write(status: number, headers: HeaderPairs, bytes: Buffer | undefined): void;
  takeLongWay(): void;
}

/** On a listener. */
export const directArrival = (request: IncomingMessage, response: ServerResponse, takeLongWay: () => void): Arrival => ({
  request,
  response,
  takeLongWay,
  write: (status, headers, bytes) => {
    const all = bytes === undefined ? [...headers] : [...headers, "Content-Length", String(bytes.length)];
    response.writeHead(status, all).end(request.method === "HEAD" ? undefined : bytes);
  },
});

/** In a Koa app, which sends the reply itself when its other middleware is done. */
export const koaArrival = (ctx: Context, done: () => void, takeLongWay: () => void): Arrival => ({
  request: ctx.req,
  response: ctx.res,
  takeLongWay,
  write: (status, headers, bytes) => {
    setPairs(ctx, headers);
    ctx.status = status;
    if (bytes !== undefined) {
      ctx.body = bytes;
    }
    done();
  },
});
