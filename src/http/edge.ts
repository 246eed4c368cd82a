import { type IncomingMessage, METHODS, type Server, type ServerResponse } from "node:http";
import { Router } from "@koa/router";
import Koa from "koa";
import type { MaybePromise } from "../../types/chain-adapter.js";
import type { Health, Logger } from "../../types/node-context.js";
import { directArrival } from "./pipeline/arrival.js";
import { type CompiledRoute, compileRoute } from "./pipeline/endpoint.js";
import type { EdgeOptions } from "./edge-options.js";
import { failureOf } from "./reply/error-reply.js";
import { messageOf, PorticoError } from "../errors.js";
import { frontRoute } from "./root-route.js";
import { healthRoute } from "./health-route.js";
import { createInputReaders } from "./input/input-reader.js";
import { turnOf } from "./hosts/pipelining.js";
import { createLocate, localTarget } from "./routing/resolve.js";
import { andThen } from "../async/maybe-promise.js";
import { createOpenApiByPrefix, openApiRoute, type OpenApiDocument, type OpenApiInfo } from "./openapi/document.js";
import type { OutgoingRequest, Route, Scope } from "./route.js";
import { createRouting } from "./routing/router.js";
import { createRequestIds } from "./pipeline/request-id.js";
import { createServe } from "./pipeline/serve.js";
import { createJsonServer } from "./hosts/node-server.js";
import type { Generation } from "./routing/version.js";

export type { EdgeOptions } from "./edge-options.js";

/** What the edge needs from its caller. */
export interface EdgeNeeds<State extends Scope> {
  routes: readonly Route<State>[];
  /** Opens the state from which one request is answered. The edge releases it when the reply has been computed. */
  openState(): MaybePromise<State>;
  /**
   * Id of the tip that `openState` would find now, if that is known without waiting; kept replies are then sent without opening a
   * state. Returns undefined if it is not known.
   */
  tipId?: (() => string | undefined) | undefined;
  health(): Health;
  /** Once this returns true, every new request is refused with 503. */
  isStopping(): boolean;
  /** Whether the value of `Authorization` admits a client to the routes that are `authenticated`. Default: nobody is admitted. */
  authorize?: ((authorization: string | undefined) => MaybePromise<boolean>) | undefined;
  logger: Logger;
  /** Title, version and description of the OpenAPI document. */
  info: OpenApiInfo;
  /** Requests that are sent to targets of webhooks. */
  outgoing?: readonly OutgoingRequest[];
}

export type Listener = (request: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void) => void;

export interface Edge<State extends Scope> {
  /** Everything under the base path, errors included: `app.use(edge.router.routes())`. */
  readonly router: Router;
  readonly openapi: OpenApiDocument;
  /** A listener for `http.createServer` or a framework: requests outside the base path go to `next`, or get 404 without one. */
  callback(): Listener;
  /** Adds the interface to a Koa app. */
  mount(app: Koa): void;
  /** A server for this interface alone, not yet listening. It answers whatever arrives in JSON, malformed requests included. */
  createServer(): Server;
  /** Recomputes repeated replies from the state that `openState` is about to return, and releases that state. */
  renew(state: State): Promise<void>;
  /** Requests being answered now. */
  readonly open: number;
  /** Resolves when no request is being answered. */
  drained(): Promise<void>;
}

const normalized = (basePath: string): string =>
  (basePath === "" ? "" : `/${basePath.replace(/^\/+|\/+$/g, "")}`).replace(/^\/$/, "");

/** Answers a request outside the base path. */
const notFound = (response: ServerResponse, id: string): void => {
  const { status, body } = failureOf(new PorticoError("NOT_FOUND"), { generation: undefined, failsAs: undefined });
  const json = JSON.stringify(body);
  const headers = { "Content-Type": "application/json; charset=utf-8", "Content-Length": Buffer.byteLength(json), "X-Request-Id": id };
  response.writeHead(status, headers).end(json);
};

/** The request's URL, and its `originalUrl` if there is one: frameworks that mount a listener at a prefix cut it off `url`. */
const targetsOf = ({ url = "", originalUrl }: IncomingMessage & { originalUrl?: unknown }): string[] =>
  [url, ...(typeof originalUrl === "string" ? [originalUrl] : [])].map(localTarget);

/** Makes the HTTP edge for a table of routes. Throws TypeError for inconsistent routes or options. */
export const createEdge = <State extends Scope>(given: EdgeOptions, needs: EdgeNeeds<State>): Edge<State> => {
  const options: EdgeOptions = { ...given, basePath: normalized(given.basePath) };
  const { basePath } = options;
  const ownRoutes = [frontRoute<State>(basePath, needs.info), healthRoute<State>(needs.health), openApiRoute<State>((prefix) => documents(prefix))];
  const routes: Route<State>[] = [...needs.routes, ...ownRoutes];
  const documents = createOpenApiByPrefix(routes, options, needs.info, needs.outgoing);
  const openapi = documents("");

  const compileNeeds = { basePath, inputReader: createInputReaders() };
  const compiled = routes.map((route) => compileRoute(route, compileNeeds));
  const routingOf = (generation: Generation) =>
    createRouting<CompiledRoute<State>>(
      compiled
        .filter(({ route }) => route.versions.includes(generation))
        .map((entry) => ({ method: entry.route.method, path: entry.route.path, target: entry })),
    );
  const routings = { 1: routingOf(1), 2: routingOf(2) };
  const requestId = createRequestIds();
  const { serve, serveLongWay, shortcut, renew, inFlight } = createServe<State>(options, {
    ...needs,
    ...createLocate({ ...options, routings }),
    tipId: needs.tipId,
    requestId,
    authorize: needs.authorize ?? (() => false),
  });

  const serveInTurn = (ctx: Koa.Context): void | Promise<void> =>
    andThen(turnOf(ctx.req, ctx.res), (isTurn) => {
      if (isTurn) return serve(ctx);
      // Nobody waits for a reply any more, but a host's own middleware does for the end of this one.
      ctx.respond = false;
    });

  const router = new Router();
  const escaped = basePath.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const everyMethod = ["GET", ...METHODS.filter((method) => method !== "GET" && method !== "HEAD")];
  router.register(new RegExp(`^${escaped}(?:/|$)`), everyMethod, serveInTurn, { pathAsRegExp: true });

  const mount = (app: Koa): void => void app.use(router.routes());
  const callback = (): Listener => {
    const app = new Koa().use(serveLongWay);
    // Nothing but a connection that fails while a reply is sent.
    app.on("error", (error) => needs.logger.debug(`A reply could not be sent: ${messageOf(error)}`));
    const handle = app.callback();
    const below = new RegExp(`^${escaped}(?:[/?#]|$)`);
    return (request, response, next) => {
      const target = targetsOf(request).find((candidate) => below.test(candidate));
      if (target !== undefined) {
        request.url = target;
        const answer = (): void => shortcut(directArrival(request, response, () => void handle(request, response)));
        void andThen(turnOf(request, response), (isTurn) => isTurn && answer());
      } else if (next !== undefined) {
        next();
      } else {
        notFound(response, requestId(request.headers));
      }
    };
  };

  return {
    router,
    openapi,
    callback,
    mount,
    renew,
    createServer: () => createJsonServer(callback(), requestId),
    get open() {
      return inFlight.count;
    },
    drained: () => inFlight.none(),
  };
};
