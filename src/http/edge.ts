import type Koa from "koa";
import type { Router } from "@koa/router";
import type { RequestListener, Server } from "node:http";
import type { MaybePromise } from "../../types/chain-adapter.js";
import type { Health } from "../../types/plugin.js";
import { docsRoutes } from "./docs/docs-route.js";
import type { EdgeOptions } from "../options/options.js";
import { createKoaRouter } from "./hosts/koa.js";
import { createListener, type Listener } from "./hosts/listener.js";
import { createJsonServer } from "./hosts/node-server.js";
import { bodyGateLimits, createBodyGate, createBodyReader } from "./input/body.js";
import { createInputReaders } from "./input/input-reader.js";
import {
  createOpenApis,
  type Examples,
  type GroupDescriptions,
  type OpenApiDocument,
  type OpenApiInfo,
} from "./openapi/document.js";
import { clientKey } from "./pipeline/rate-limit.js";
import { createEndpoint, type Endpoint } from "./pipeline/endpoint.js";
import { createHandler } from "./pipeline/handler.js";
import { createRequestIds, guardedObserver, type LadderNeeds } from "./pipeline/request-context.js";
import type { Streams } from "./pipeline/streams.js";
import type { OutgoingRequest, Route, Scope } from "./route.js";
import { healthRoute, openApiRoute, rootRoute } from "./service-routes.js";
import { createLocate, createRouting } from "./routing/router.js";
import type { Generation } from "./routing/version.js";

export type { Replied } from "./pipeline/request-context.js";
export type { Listener } from "./hosts/listener.js";

/** What the edge needs from its caller. */
export interface EdgeNeeds<State extends Scope> extends LadderNeeds<State> {
  routes: readonly Route<State>[];
  health(): MaybePromise<Health>;
  /** When the network's time begins: ISO 8601. */
  epoch: string;
  /** Title, version and description of the OpenAPI document. */
  info: OpenApiInfo;
  /** What the docs say of each group of routes. */
  groups?: GroupDescriptions;
  /** Requests to the operations and their replies, by operation id. */
  examples?: Examples;
  /** Requests that are sent to targets of webhooks. */
  outgoing?: readonly OutgoingRequest[];
}

export interface Edge {
  /** Everything under the base path, errors included: `app.use(edge.router.routes())`. */
  readonly router: Router;
  readonly openapi: OpenApiDocument;
  /** A listener for `http.createServer` or a framework: requests outside the base path go to `next`, or get 404 without one. */
  callback(): Listener;
  /** Adds the interface to a Koa app. */
  mount(app: Koa): void;
  /**
   * A server for this interface alone, not yet listening. It answers whatever arrives in JSON, malformed requests included; `outside`
   * answers what lies outside the base path.
   */
  createServer(outside?: RequestListener): Server;
  /** Replies that are sent while they are made. */
  readonly streams: Streams;
  /** Bytes of the replies that are kept. */
  readonly cached: number;
  /** Requests being answered now. */
  readonly open: number;
  /** Resolves when no request is being answered. */
  drained(): Promise<void>;
}

/** The parameters that a query must have: those without a default. */
const requiredIn = (query: Route["query"]): string[] =>
  (query?.required ?? []).filter((name) => query?.properties[name]?.default === undefined);

/** Makes the HTTP edge for a table of routes. Throws TypeError for inconsistent routes or options. */
export const createEdge = <State extends Scope>(options: EdgeOptions, needs: EdgeNeeds<State>): Edge => {
  const { basePath, defaultVersion } = options;
  const routes: Route<State>[] = [
    ...needs.routes,
    rootRoute<State>(basePath, needs.info),
    healthRoute<State>(needs.health),
    openApiRoute<State>((...which) => documents(...which)),
    ...docsRoutes<State>(),
  ];
  const { groups, examples, info, outgoing } = needs;
  const documents = createOpenApis(routes, { ...options, groups, examples }, info, outgoing);

  const endpointNeeds = { basePath, inputReader: createInputReaders({ epoch: needs.epoch }) };
  const endpoints = routes.map((route) => createEndpoint(route, endpointNeeds));
  const routingOf = (generation: Generation) =>
    createRouting<Endpoint<State>>(
      endpoints
        .filter(({ route }) => route.versions.includes(generation))
        .map((endpoint) => {
          const { method, path, query, reserved } = endpoint.route;
          return { method, path, target: endpoint, reserved: reserved === true, requires: requiredIn(query) };
        }),
    );
  const routing = createLocate({ ...options, routings: { 1: routingOf(1), 2: routingOf(2) } });

  const requestId = createRequestIds();
  const observe = guardedObserver(needs.onReply, needs.logger);
  const handler = createHandler<State>(options, { needs, routing, requestId, observe });
  const { handle, inFlight, streams } = handler;
  const readBody = createBodyReader(options.bodyLimit, createBodyGate({ ...bodyGateLimits, clientOf: clientKey(options.trustedProxies) }));
  const router = createKoaRouter({ basePath, defaultVersion, routes, handle, readBody });
  const callback = (): Listener => createListener({ basePath, handle, readBody, requestId, logger: needs.logger });

  return {
    router,
    get openapi() {
      return documents("");
    },
    callback,
    mount: (app) => void app.use(router.routes()),
    streams,
    createServer: (outside) => {
      const listener = callback();
      const answer: RequestListener =
        outside === undefined ? listener : (request, response) => listener(request, response, () => outside(request, response));
      return createJsonServer(answer, { requestId, bounds: options, refused: observe });
    },
    get cached() {
      return handler.cached;
    },
    get open() {
      return inFlight.count;
    },
    drained: () => inFlight.none(),
  };
};
