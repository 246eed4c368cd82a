import type { IncomingMessage, ServerResponse } from "node:http";
import type { Context } from "koa";
import { setPairs } from "./exchange.js";

/** A request that has arrived at a listener or in a Koa app, and the ways to be done with it. */
export interface Arrival {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Writes a reply. `headers`, names and values in turn, may be changed; there are no `bytes` in a 304. */
  write(status: number, headers: string[], bytes: Buffer | undefined): void;
  /** Leaves the request to Koa's middleware. */
  takeLongWay(): void;
}

/** At a listener, where the reply is sent at once. */
export const directArrival = (request: IncomingMessage, response: ServerResponse, takeLongWay: () => void): Arrival => ({
  request,
  response,
  takeLongWay,
  write: (status, headers, bytes) => {
    if (bytes !== undefined) {
      headers.push("Content-Length", String(bytes.length));
    }
    response.writeHead(status, headers).end(request.method === "HEAD" ? undefined : bytes);
  },
});

/** In a Koa app, which sends the reply itself when its other middleware is done. `written` is called when it has been set. */
export const koaArrival = (ctx: Context, written: () => void, takeLongWay: () => void): Arrival => ({
  request: ctx.req,
  response: ctx.res,
  takeLongWay,
  write: (status, headers, bytes) => {
    setPairs(ctx, headers);
    ctx.status = status;
    if (bytes !== undefined) {
      ctx.body = bytes;
    }
    written();
  },
});
