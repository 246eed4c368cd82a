import { Router } from "@koa/router";
import type { Context, Next } from "koa";
import { type IncomingMessage, METHODS, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { andThen } from "../../async/maybe-promise.js";
import type { BodyBounds, ReadBody } from "../input/body.js";
import type { Transport } from "../pipeline/request-context.js";
import type { BodyStream } from "../pipeline/streams.js";
import { routeName } from "../route-names.js";
import { publicPath } from "../route-schemas.js";
import type { Route } from "../route.js";
import { isBelow, localTarget } from "../routing/resolve.js";
import { bySpecificity } from "../routing/router.js";
import type { Generation } from "../routing/version.js";
import { turnOf } from "./pipelining.js";

interface KoaNeeds {
  basePath: string;
  defaultVersion: Generation;
  routes: readonly Route<never>[];
  handle(transport: Transport): void;
  readBody: ReadBody;
}

/** Where @koa/router leaves what it has found, for the host's own middleware. */
interface MatchedContext extends Context {
  params: Readonly<Record<string, string>>;
  router: Router;
  routerPath?: string | RegExp;
  routerName?: string | undefined;
  _matchedRoute?: string | RegExp;
  _matchedRouteName?: string | undefined;
}

const everyMethod = ["GET", ...METHODS.filter((method) => method !== "GET" && method !== "HEAD")];

/** `/wallets/{id}` as @koa/router writes it: `/wallets/:id`. */
const layerPath = (path: string): string => path.replaceAll("{", ":").replaceAll("}", "");

/** What requests in a Koa app have in common. */
interface KoaHost {
  readonly router: Router;
  readonly layers: ReadonlyMap<Route<never>, Router["stack"][number]>;
  readonly readBody: ReadBody;
}

/** How a client leaves: by closing its connection, or by resetting it, as happens where it has not read everything. */
const leaving: readonly (string | undefined)[] = ["ERR_STREAM_PREMATURE_CLOSE", "ECONNRESET", "EPIPE"];

/** That a client leaves before a stream has ended is usual. Koa would report it as an error of the app. */
const allowLeaving = (ctx: Context): void => {
  const { onerror } = ctx;
  ctx.onerror = (error: NodeJS.ErrnoException | null) => {
    if (error !== null && !leaving.includes(error.code)) onerror.call(ctx, error);
  };
};

/** Bytes that are held for a client that does not read, besides what the socket holds. */
const highWaterMark = 65_536;

/** A body for Koa, which is begun when Koa sends it. */
const readableOf = (body: BodyStream, response: ServerResponse): Readable => {
  let isBegun = false;
  const readable: Readable = new Readable({
    highWaterMark,
    read: () => {
      // Clients wait for the head before there is anything to tell them.
      if (!response.headersSent) response.flushHeaders();
      if (isBegun) return body.resume();
      isBegun = true;
      body.to({ write: (chunk) => readable.push(chunk), end: () => void readable.push(null) });
    },
    destroy: (error, callback) => {
      body.finish();
      callback(error);
    },
  });
  return readable;
};

/** Koa sends the reply when the host's other middleware is done; until then, that may set further headers. */
class KoaTransport implements Transport {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  private readonly ctx: MatchedContext;
  private readonly host: KoaHost;
  private readonly done: () => void;
  readonly abandon: (error: unknown) => void;

  constructor(ctx: Context, host: KoaHost, done: () => void, abandon: (error: unknown) => void) {
    this.request = ctx.req;
    this.response = ctx.res;
    this.ctx = ctx as MatchedContext;
    this.host = host;
    this.done = done;
    this.abandon = abandon;
  }

  readBody(bounds?: BodyBounds): Promise<unknown> {
    return this.host.readBody(this.ctx, bounds);
  }

  matched(route: Route<never>, params: Readonly<Record<string, string>>): void {
    const { ctx, host } = this;
    const layer = host.layers.get(route);
    if (layer === undefined) return;
    ctx.params = { ...params };
    ctx.router = host.router;
    ctx.routerPath = ctx._matchedRoute = layer.path;
    ctx.routerName = ctx._matchedRouteName = layer.name;
  }

  send(status: number, headers: string[], body: Buffer | BodyStream | undefined): void {
    const { ctx, response } = this;
    for (let index = 0; index + 1 < headers.length; index += 2) {
      response.setHeader(headers[index] ?? "", headers[index + 1] ?? "");
    }
    ctx.status = status;
    if (body !== undefined) {
      ctx.body = Buffer.isBuffer(body) ? body : readableOf(body, response);
      // Koa names a type for a body that has none.
      if (Buffer.isBuffer(body) && body.length === 0) ctx.remove("Content-Type");
      if (!Buffer.isBuffer(body)) allowLeaving(ctx);
    }
    this.done();
  }
}

/**
 * Makes a router for Koa apps. Its layers are the routes, each under its path and name, and last one for whatever else is below the base
 * path, which gets an error in JSON. Requests are not matched with all of these in turn, but by the same index as at a listener, unless
 * the host has added layers of its own. Koa sends the reply when the host's other middleware is done.
 */
export const createKoaRouter = ({ basePath, defaultVersion, routes, handle, readBody }: KoaNeeds): Router => {
  const router = new Router();
  const layers = new Map<Route<never>, Router["stack"][number]>();
  const host: KoaHost = { router, layers, readBody };

  const serve = (ctx: Context, next: Next): Promise<void> => {
    // Where the host has put a prefix before the base path.
    if (!isBelow(localTarget(ctx.url), basePath)) return next();
    return new Promise((resolve, reject) => {
      void andThen(turnOf(ctx.req, ctx.res), (isTurn) => {
        if (isTurn) return handle(new KoaTransport(ctx, host, resolve, reject));
        // Nobody waits for a reply any more, but a host's own middleware does for the end of this one.
        ctx.respond = false;
        resolve();
      });
    });
  };

  for (const route of [...routes].sort((a, b) => bySpecificity(a.path, b.path))) {
    const name = routeName(route);
    const path = layerPath(basePath + publicPath(route, defaultVersion)) || "/";
    layers.set(route, router.register(path, [route.method], serve, { name }) as Router["stack"][number]);
  }
  const escaped = basePath.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  router.register(new RegExp(`^${escaped}(?:/|$)`), everyMethod, serve, { pathAsRegExp: true });

  const ownLayers = router.stack.length;
  const dispatchByLayers = router.middleware.bind(router);
  router.routes = router.middleware = () => {
    const dispatch = dispatchByLayers();
    const direct = (ctx: Context, next: Next): Promise<unknown> =>
      router.stack.length === ownLayers ? serve(ctx, next) : (dispatch(ctx as never, next) as Promise<unknown>);
    return Object.assign(direct, { router }) as ReturnType<typeof dispatchByLayers>;
  };
  return router;
};

