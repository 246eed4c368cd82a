import type { IncomingMessage } from "node:http";
import type { MaybePromise } from "../../../types/chain-adapter.js";
import { andThen } from "../../async/maybe-promise.js";
import { inputError, PorticoError } from "../../errors.js";
import type { ResponseCache } from "../cache/response-cache.js";
import { parseQuery } from "../input/query-string.js";
import type { VersionHeaders } from "../reply/default-headers.js";
import type { Scope } from "../route.js";
import { type Locate, targetOf } from "../routing/resolve.js";
import { versionInHeaders } from "../routing/version.js";
import type { Step } from "./climb.js";
import type { RequestContext } from "./request-context.js";
import { freezeParsed, ParsedRequest } from "./parsed-request.js";
import type { RateLimit } from "./rate-limit.js";

interface CheckNeeds<State extends Scope> {
  rateLimit: RateLimit;
  cache: ResponseCache<ParsedRequest<State>>;
  versionHeaders: VersionHeaders;
  isStopping(): boolean;
  /** Whether a request leads to a probe, which answers while the node is stopping, and whatever was asked before. */
  isProbe(context: RequestContext<State>): boolean;
  methodsAt: Locate<unknown>["methodsAt"];
  /** Whether the value of `Authorization` admits a client. */
  authorize(authorization: string | undefined): MaybePromise<boolean>;
}

/** Whether a header was sent more than once. Of some, such as `Authorization`, Node.js keeps only the first in `headers`. */
const isDoubled = ({ rawHeaders }: IncomingMessage, name: string): boolean =>
  rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === name).length > 1;

/** Whether the request says that its body is JSON. */
const isJson = ({ headers }: IncomingMessage): boolean => {
  const [type = ""] = (headers["content-type"] ?? "").split(";", 1);
  return type.trim().toLowerCase() === "application/json";
};

/** The steps that check and parse a request. */
export const createChecks = <State extends Scope>({ rateLimit, cache, versionHeaders, isStopping, isProbe, methodsAt, authorize }: CheckNeeds<State>) => {
  /** Whoever asks `/wallets/search?address=…` by GET, where `search` is taken for a wallet, means the search. */
  const pointToPost = (error: unknown, { url = "", method, headers }: IncomingMessage): unknown => {
    if (!(error instanceof PorticoError) || error.validation?.source !== "query" || (method !== "GET" && method !== "HEAD")) return error;
    if (!methodsAt(targetOf(url), versionInHeaders(headers)).includes("POST")) return error;
    return new PorticoError(error.code, `${error.message}. By POST, this path takes a JSON body instead.`, { validation: error.validation });
  };

  const steps: Record<"limit" | "authorize" | "parse" | "readBody", Step<State>> = {
    limit: (context) => {
      if (isStopping() && !isProbe(context)) throw new PorticoError("NOT_READY", "The node is stopping.");
      return andThen(rateLimit.count(context.transport.request), (allowance) => {
        // An orchestrator may come from the address of clients, and would restart a node that refuses it.
        if (allowance === undefined || (!allowance.granted && isProbe(context))) return;
        context.allowance = allowance;
        context.addHeaders(allowance.headers);
        if (!allowance.granted) throw new PorticoError("RATE_LIMITED");
      });
    },

    authorize: ({ endpoint, transport: { request } }) => {
      if (endpoint?.route.authenticated !== true) return;
      if (isDoubled(request, "authorization")) throw inputError("headers", "Authorization", "must be sent only once");
      return andThen(authorize(request.headers.authorization), (isAdmitted) => {
        if (!isAdmitted) throw new PorticoError("UNAUTHORIZED");
      });
    },

    parse: (context) => {
      const { endpoint, where, key, transport } = context;
      if (context.parsed !== undefined || endpoint === undefined || where?.located === undefined) return;
      const { prefix, versioned, amounts, located, generation } = where;
      if (amounts === "unknown") throw inputError("headers", "API-Amounts", "must be one of number, string");
      const asked = { params: located.params, pairs: parseQuery(targetOf(transport.request.url ?? "").query), prefix, versioned, amounts };
      let input;
      try {
        input = endpoint.readInput(asked);
      } catch (error) {
        throw located.item.path.includes("{") ? pointToPost(error, transport.request) : error;
      }
      const parsed = new ParsedRequest(endpoint, generation, asked, input, versionHeaders(where));
      context.parsed = parsed;
      if (key === undefined || endpoint.route.authenticated === true) return;
      context.entry = cache.admit(key, parsed);
      if (context.entry !== undefined) freezeParsed(parsed);
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
