import type { IncomingMessage } from "node:http";
import { andThen } from "../../async/maybe-promise.js";
import { inputError, PorticoError } from "../../errors.js";
import { parseQuery } from "../input/query.js";
import { porticoErrorOf } from "../reply/error-reply.js";
import { emptyReply, type HeaderPairs } from "../reply/reply.js";
import type { Scope } from "../route.js";
import { targetFor, targetOf, type Whereabouts } from "../routing/router.js";
import type { Generation } from "../routing/version.js";
import type { Endpoint } from "./endpoint.js";
import {
  cacheKeyOf,
  isRead,
  type Ladder,
  type ParsedRequest,
  type RequestContext,
  type Step,
  type Transport,
} from "./request-context.js";

/** Where a request leads, or why it leads nowhere. */
type Found<State extends Scope> = Whereabouts<Endpoint<State>> & { problem?: PorticoError };

/** The value of `Allow` for the methods that a path answers. */
const allowed = (methods: Iterable<string>): string =>
  [...methods]
    .flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]))
    .concat("OPTIONS")
    .join(", ");

/** What a reply states about the version, whether or not the request succeeds. */
interface Versioned {
  generation: Generation;
  /** The generation whose error format applies; undefined until a route is found. */
  failsAs: Generation | undefined;
  headers: HeaderPairs;
}

/** A request that names a version that does not exist, or a path that cannot be decoded, is refused in the default version. */
const locateIn = <State extends Scope>({ routing, options }: Ladder<State>, { transport }: RequestContext<State>): Found<State> => {
  try {
    return routing.locate(transport.request);
  } catch (error) {
    const nowhere = { versioned: false, prefix: "", match: undefined, redirect: undefined } as const;
    return { ...nowhere, generation: options.defaultVersion, amounts: options.amounts, problem: porticoErrorOf(error) };
  }
};

/** Whether a request leads to a probe, which answers while the node is stopping, and whatever was asked before. */
const isProbe = <State extends Scope>(ladder: Ladder<State>, context: RequestContext<State>): boolean => {
  const { match } = locateIn(ladder, context);
  return match !== undefined && targetFor(match.item, context.transport.request.method ?? "")?.route.isProbe === true;
};

/** The first step of the ladder: finds the route of a request, or a reply that needs none. */
export const createMatch = <State extends Scope>(ladder: Ladder<State>) => {
  const { cache, defaultHeaders, options, routing, versionHeaders } = ladder;
  const docs = `${options.basePath}/docs`;
  const allowedAt = (request: IncomingMessage): HeaderPairs => ["Allow", allowed(routing.methodsAt(request))];

  /** The reply to a request that needs no route. */
  const replyWithoutRoute = ({ request }: Transport, { redirect, match: found }: Found<State>) => {
    // Before any redirect: browsers do not follow redirects of a preflight.
    const preflight = request.method === "OPTIONS" ? defaultHeaders.preflight(request.headers) : undefined;
    if (preflight !== undefined) return emptyReply(204, preflight);
    // Upon 301, clients repeat a POST as a GET.
    if (redirect !== undefined) return emptyReply(isRead(request) ? 301 : 308, ["Location", redirect]);
    return request.method === "OPTIONS" && found !== undefined ? emptyReply(204, allowedAt(request)) : undefined;
  };

  const endpointOf = (context: RequestContext<State>, { match: found, generation }: Found<State>): Endpoint<State> => {
    const { request } = context.transport;
    if (found === undefined) {
      context.addHeaders(["Link", `<${docs}>; rel="service-doc"`]);
      throw new PorticoError("NOT_FOUND", undefined, generation === 1 ? {} : { members: { docs } });
    }
    const endpoint = targetFor(found.item, request.method ?? "");
    if (endpoint === undefined) {
      context.addHeaders(allowedAt(request));
      throw new PorticoError("METHOD_NOT_ALLOWED", `Method Not Allowed: use ${routing.methodsAt(request).join(" or ")} here.`);
    }
    return endpoint;
  };

  const match = (context: RequestContext<State>): void => {
    const { transport } = context;
    if (isRead(transport.request)) {
      context.key = cacheKeyOf(transport.request);
      context.entry = cache.find(context.key);
      context.parsed = context.entry?.request;
    }
    if (context.parsed === undefined) {
      const found: Found<State> = (context.where = locateIn(ladder, context));
      if (found.problem !== undefined) throw found.problem;
      context.reply = replyWithoutRoute(transport, found);
      if (context.reply !== undefined) return;
      context.endpoint = endpointOf(context, found);
      transport.matched?.(context.endpoint.route, found.match?.params ?? {});
    } else {
      context.endpoint = context.parsed.endpoint;
      transport.matched?.(context.endpoint.route, context.parsed.asked.params);
    }
  };

  /** Also for requests that failed before they were matched. */
  const versionOf = (context: RequestContext<State>): Versioned => {
    const failsAs = context.endpoint?.failsAs;
    if (context.parsed !== undefined) return { generation: context.parsed.generation, failsAs, headers: context.parsed.headers };
    const where = (context.where ??= locateIn(ladder, context));
    return { generation: where.generation, failsAs, headers: versionHeaders(where) };
  };

  return { match, versionOf };
};

/** Whether a header was sent more than once. Of some, such as `Authorization`, Node.js keeps only the first in `headers`. */
const isDoubled = ({ rawHeaders }: IncomingMessage, name: string): boolean =>
  rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === name).length > 1;

/** Whether the request says that its body is JSON. */
const isJson = ({ headers }: IncomingMessage): boolean => {
  const [type = ""] = (headers["content-type"] ?? "").split(";", 1);
  return type.trim().toLowerCase() === "application/json";
};

/** The steps that check and parse a request. */
export const createChecks = <State extends Scope>(ladder: Ladder<State>) => {
  const { rateLimit, cache, versionHeaders, routing } = ladder;
  const { isStopping, authorize } = ladder.needs;

  /** Whoever asks `/wallets/search?address=…` by GET, where `search` is taken for a wallet, means the search. */
  const pointToPost = (error: unknown, request: IncomingMessage): unknown => {
    if (!(error instanceof PorticoError) || error.validation?.source !== "query" || !isRead(request)) return error;
    if (!routing.methodsAt(request).includes("POST")) return error;
    const { code, message, validation } = error;
    return new PorticoError(code, `${message}. By POST, this path takes a JSON body instead.`, { validation });
  };

  const steps: Record<"limit" | "authorize" | "parse" | "readBody", Step<State>> = {
    limit: (context) => {
      if (isStopping() && !isProbe(ladder, context)) throw new PorticoError("NOT_READY", "The node is stopping.");
      return andThen(rateLimit(context.transport.request), (allowance) => {
        // An orchestrator may come from the address of clients, and would restart a node that refuses it.
        if (allowance === undefined || (!allowance.granted && isProbe(ladder, context))) return;
        context.allowance = allowance;
        context.addHeaders(allowance.headers);
        if (!allowance.granted) throw new PorticoError("RATE_LIMITED");
      });
    },

    authorize: ({ endpoint, transport: { request } }) => {
      if (endpoint?.route.authenticated !== true) return;
      if (isDoubled(request, "authorization")) throw inputError("headers", "Authorization", "must be sent only once");
      return andThen(authorize?.(request.headers.authorization) ?? false, (isAdmitted) => {
        if (!isAdmitted) throw new PorticoError("UNAUTHORIZED");
      });
    },

    parse: (context) => {
      const { endpoint, where, key, transport } = context;
      if (context.parsed !== undefined || endpoint === undefined || where?.match === undefined) return;
      const { prefix, versioned, amounts, match, generation } = where;
      if (amounts === "unknown") throw inputError("headers", "API-Amounts", "must be one of number, string");
      const pairs = parseQuery(targetOf(transport.request.url ?? "").query);
      const asked = { params: match.params, pairs, prefix, versioned, amounts };
      let input;
      try {
        input = endpoint.readInput(asked);
      } catch (error) {
        throw match.item.path.includes("{") ? pointToPost(error, transport.request) : error;
      }
      const parsed: ParsedRequest<State> = { endpoint, generation, asked, input, headers: versionHeaders(where) };
      context.parsed = parsed;
      if (key === undefined || endpoint.route.authenticated === true) return;
      context.entry = cache.admit(key, parsed);
    },

    readBody: (context) => {
      const { endpoint, transport } = context;
      if (endpoint?.takesBody !== true) return;
      if (endpoint.route.requiresJsonType === true && !isJson(transport.request)) throw new PorticoError("UNSUPPORTED_MEDIA_TYPE");
      return transport.readBody(endpoint.route).then((body) => {
        context.body = endpoint.readBody(body);
      });
    },
  };
  return steps;
};
