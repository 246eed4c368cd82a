import type { IncomingMessage } from "node:http";
import { PorticoError } from "../../errors.js";
import type { ResponseCache } from "../cache/response-cache.js";
import type { DefaultHeaders, HeaderPairs, VersionHeaders } from "../reply/default-headers.js";
import { porticoErrorOf } from "../reply/error-reply.js";
import { emptyReply } from "../reply/reply.js";
import type { Scope } from "../route.js";
import { type AmountForm, formInHeaders } from "../routing/amounts.js";
import { type Locate, targetOf, type Whereabouts } from "../routing/resolve.js";
import { targetFor } from "../routing/router.js";
import { type Generation, versionInHeaders } from "../routing/version.js";
import type { Endpoint } from "./endpoint.js";
import { cacheKeyOf, isRead, type ParsedRequest } from "./parsed-request.js";
import type { RequestContext } from "./request-context.js";

interface MatchNeeds<State extends Scope> extends Locate<Endpoint<State>> {
  basePath: string;
  defaultVersion: Generation;
  amounts: AmountForm;
  cache: ResponseCache<ParsedRequest<State>>;
  defaultHeaders: DefaultHeaders;
  versionHeaders: VersionHeaders;
}

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
const locateIn = <State extends Scope>(needs: MatchNeeds<State>, { transport }: RequestContext<State>): Found<State> => {
  const { url = "", method = "", headers } = transport.request;
  try {
    return needs.locate(targetOf(url), method, versionInHeaders(headers), formInHeaders(headers));
  } catch (error) {
    const nowhere = { versioned: false, prefix: "", located: undefined, redirect: undefined } as const;
    return { ...nowhere, generation: needs.defaultVersion, amounts: needs.amounts, problem: porticoErrorOf(error) };
  }
};

const methodsAt = <State extends Scope>(needs: MatchNeeds<State>, { url = "", headers }: IncomingMessage): string[] => needs.methodsAt(targetOf(url), versionInHeaders(headers));
const allowedAt = <State extends Scope>(needs: MatchNeeds<State>, request: IncomingMessage): HeaderPairs => ["Allow", allowed(methodsAt(needs, request))];

/** The first step of the ladder: finds the route of a request, or a reply that needs none. */
export const createMatch = <State extends Scope>(needs: MatchNeeds<State>) => {
  const { cache, defaultHeaders } = needs;
  const docs = `${needs.basePath}/docs`;
  const locate = (context: RequestContext<State>): Found<State> => locateIn(needs, context);

  /** The reply to a request that needs no route. */
  const replyWithoutRoute = (context: RequestContext<State>, { redirect, located }: Found<State>) => {
    const { request } = context.transport;
    // Before any redirect: browsers do not follow redirects of a preflight.
    const preflight = request.method === "OPTIONS" ? defaultHeaders.preflight(request.headers) : undefined;
    if (preflight !== undefined) return emptyReply(204, preflight);
    // Upon 301, clients repeat a POST as a GET.
    if (redirect !== undefined) return emptyReply(isRead(request) ? 301 : 308, ["Location", redirect]);
    return request.method === "OPTIONS" && located !== undefined ? emptyReply(204, allowedAt(needs, request)) : undefined;
  };

  const endpointOf = (context: RequestContext<State>, { located, generation }: Found<State>): Endpoint<State> => {
    if (located === undefined) {
      context.addHeaders(["Link", `<${docs}>; rel="service-doc"`]);
      throw new PorticoError("NOT_FOUND", undefined, generation === 1 ? {} : { members: { docs } });
    }
    const endpoint = targetFor(located.item, context.transport.request.method ?? "");
    if (endpoint === undefined) {
      context.addHeaders(allowedAt(needs, context.transport.request));
      throw new PorticoError("METHOD_NOT_ALLOWED", `Method Not Allowed: use ${methodsAt(needs, context.transport.request).join(" or ")} here.`);
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
      const found: Found<State> = (context.where = locate(context));
      if (found.problem !== undefined) throw found.problem;
      context.reply = replyWithoutRoute(context, found);
      if (context.reply !== undefined) return;
      context.endpoint = endpointOf(context, found);
      transport.matched?.(context.endpoint.route, found.located?.params ?? {});
    } else {
      context.endpoint = context.parsed.endpoint;
      transport.matched?.(context.endpoint.route, context.parsed.asked.params);
    }
  };

  const isProbe = (context: RequestContext<State>): boolean => {
    const { located } = locate(context);
    return located !== undefined && targetFor(located.item, context.transport.request.method ?? "")?.route.isProbe === true;
  };

  /** Also for requests that failed before they were matched. */
  const versionOf = (context: RequestContext<State>): Versioned => {
    const failsAs = context.endpoint?.failsAs;
    if (context.parsed !== undefined) return { generation: context.parsed.generation, failsAs, headers: context.parsed.headers };
    const where = (context.where ??= locate(context));
    return { generation: where.generation, failsAs, headers: needs.versionHeaders(where) };
  };

  return { match, versionOf, isProbe };
};
