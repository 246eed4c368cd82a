import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import cors from "@koa/cors";
import Koa, { type Context, type Middleware } from "koa";
import helmet from "koa-helmet";

/** Header names and values in turn. */
export type HeaderPairs = readonly string[];

export interface CorsOptions {
  cors: false | { origins: "*" | readonly string[] };
}

const nothing = (): Promise<void> => Promise.resolve();

/** What a middleware sets on a GET. Both middlewares used here set their headers before they yield for the first time. */
const headersSetBy = (middleware: Middleware, requestHeaders: Record<string, string>): string[] => {
  const request = new IncomingMessage(new Socket());
  request.method = "GET";
  Object.assign(request.headers, requestHeaders);
  const response = new ServerResponse(request);
  void middleware(new Koa().createContext(request, response), nothing);
  return response.getHeaderNames().flatMap((name) => [name, String(response.getHeader(name))]);
};

/** What suits a server of JSON: nothing may run, frame or sniff it; whoever CORS lets may read it. */
const security = helmet({
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  crossOriginResourcePolicy: { policy: "cross-origin" },
  crossOriginOpenerPolicy: false,
  xFrameOptions: { action: "deny" },
  originAgentCluster: false,
  // whether a whole domain is to be https is for its owner to say
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
/** Seconds for which a browser need not ask again. */
const maxAge = 600;

/** Headers that every reply carries, worked out once. */
export interface StandingHeaders {
  /** Whether they follow from the request's Origin. */
  readonly byOrigin: boolean;
  of(origin: string | undefined): HeaderPairs;
  /** Answers a CORS preflight; false when the request is none, or not from an allowed origin. */
  preflight(ctx: Context): Promise<boolean>;
}

const forOrigin = (origin: string): HeaderPairs => {
  const pairs = headersSetBy(cors({ origin, exposeHeaders: exposedHeaders }), { origin });
  // Vary names more than the origin: whoever sends the headers writes it
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

/** Security headers, and CORS for the origins that the option names. */
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
