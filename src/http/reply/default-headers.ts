import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import cors from "@koa/cors";
import Koa, { type Context, type Middleware } from "koa";
import helmet from "koa-helmet";

/** Header names and values, alternating. */
export type HeaderPairs = readonly string[];

export interface CorsOptions {
  cors: false | { origins: "*" | readonly string[] };
}

const nothing = (): Promise<void> => Promise.resolve();

/** The headers that a middleware sets on a GET. Both middlewares used here set them synchronously, before their first await. */
const headersSetBy = (middleware: Middleware, requestHeaders: Record<string, string>): string[] => {
  const request = new IncomingMessage(new Socket());
  request.method = "GET";
  Object.assign(request.headers, requestHeaders);
  const response = new ServerResponse(request);
  void middleware(new Koa().createContext(request, response), nothing);
  return response.getHeaderNames().flatMap((name) => [name, String(response.getHeader(name))]);
};

/** Settings for a server of JSON: nothing may execute, frame or sniff it; CORS decides who may read it. */
const security = helmet({
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  crossOriginResourcePolicy: { policy: "cross-origin" },
  crossOriginOpenerPolicy: false,
  xFrameOptions: { action: "deny" },
  originAgentCluster: false,
  // whether a whole domain is https-only is for its owner to decide
  strictTransportSecurity: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
});

const exposedHeaders = [
  "API-Version",
  "ETag",
  "Retry-After",
  "WWW-Authenticate",
  "X-Block-Height",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "X-Request-Id",
];
const allowMethods = "GET,HEAD,POST,PUT,DELETE";
/** Seconds for which a browser may reuse a preflight response. */
const maxAge = 600;

/** Headers that every reply carries, computed once. */
export interface StandingHeaders {
  /** Whether they depend on the request's Origin. */
  readonly byOrigin: boolean;
  of(origin: string | undefined): HeaderPairs;
  /** Answers a CORS preflight; false if the request is not one, or not from an allowed origin. */
  preflight(ctx: Context): Promise<boolean>;
}

const forOrigin = (origin: string): HeaderPairs => {
  const pairs = headersSetBy(cors({ origin, exposeHeaders: exposedHeaders }), { origin });
  // Vary is set with the version headers, since it names more than the origin
  return pairs.filter((_, index) => pairs[index - (index % 2)]?.toLowerCase() !== "vary");
};

const preflightOf = (origin: string | ((ctx: Context) => string)) => {
  const middleware = cors({ origin, allowMethods, maxAge });
  return async (ctx: Context): Promise<boolean> => {
    if (ctx.get("Origin") === "" || ctx.get("Access-Control-Request-Method") === "") {
      return false;
    }
    await middleware(ctx, nothing);
    return ctx.status === 204;
  };
};

/** Security headers, and CORS headers for the origins in the option. */
export const createStandingHeaders = ({ cors: option }: CorsOptions): StandingHeaders => {
  const secure = headersSetBy(security, {});
  if (option === false) {
    return { byOrigin: false, of: () => secure, preflight: () => Promise.resolve(false) };
  }
  if (option.origins === "*") {
    const all = [...secure, ...forOrigin("*")];
    return { byOrigin: false, of: () => all, preflight: preflightOf("*") };
  }
  const allowed = new Map(option.origins.map((origin) => [origin, [...secure, ...forOrigin(origin)]]));
  return {
    byOrigin: true,
    of: (origin) => allowed.get(origin ?? "") ?? secure,
    preflight: preflightOf((ctx) => (allowed.has(ctx.get("Origin")) ? ctx.get("Origin") : "")),
  };
};
