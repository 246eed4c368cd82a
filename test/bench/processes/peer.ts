/** What Portico is compared with: a server that sends bytes from memory, and does nothing else. */
import { once } from "node:events";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Router } from "@koa/router";
import Koa from "koa";
import { answerWith } from "./asking.js";
import { cpuTime } from "./usage.js";

/** A path, which may have parameters in the router's syntax, and the body it is answered with. */
export interface PeerRoute {
  path: string;
  body: Uint8Array;
  /** What the Koa app sends besides the type and the length. Default: nothing. */
  headers?: [name: string, value: string][];
}

const contentType = "application/json; charset=utf-8";

const koaListener = (routes: readonly PeerRoute[]): RequestListener => {
  const router = new Router();
  for (const { path, body, headers = [] } of routes) {
    const bytes = Buffer.from(body);
    router.get(path, (ctx) => {
      for (const [name, value] of headers) ctx.set(name, value);
      ctx.type = contentType;
      ctx.body = bytes;
    });
  }
  const app = new Koa();
  app.use(router.routes());
  const listener = app.callback();
  return (request, response) => void listener(request, response);
};

const nodeListener = (routes: readonly PeerRoute[]): RequestListener => {
  const bodies = new Map(routes.map(({ path, body }) => [path, Buffer.from(body)]));
  return (request, response) => {
    const [path = ""] = (request.url ?? "").split("?", 1);
    const body = bodies.get(path);
    response.writeHead(body === undefined ? 404 : 200, { "Content-Type": contentType, "Content-Length": body?.length ?? 0 });
    response.end(body);
  };
};

const streams = new Set<ServerResponse>();

/** Keeps all that connect, for `emit`. */
const streamListener = (): RequestListener => (_request, response) => {
  response.writeHead(200, { "Content-Type": "text/event-stream; charset=utf-8" }).write("id: 1-1\n\n");
  streams.add(response);
};

/** As long as the event of a block of ten transactions. */
const event = Buffer.from(`event: block.applied\ndata: ${"x".repeat(900)}\nid: 1-1\n\n`);

const listeners = { koa: koaListener, node: nodeListener, streams: streamListener };

const handlers = {
  /** Returns the port. */
  serve: async ({ kind, routes }: { kind: keyof typeof listeners; routes: PeerRoute[] }): Promise<number> => {
    const server = createServer(listeners[kind](routes)).listen(0, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  },
  /** Sends an event to all streams. Returns when it began, in milliseconds since 1970, with fractions. */
  emit: (): number => {
    const at = performance.timeOrigin + performance.now();
    for (const response of streams) response.write(event);
    return at;
  },
  cpuTime,
};

export type PeerHandlers = typeof handlers;

answerWith(handlers);
