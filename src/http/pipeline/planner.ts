import type { IncomingMessage } from "node:http";
import type { MaybePromise } from "../../../types/chain-adapter.js";
import { inputError, PorticoError } from "../../errors.js";
import type { CompiledRoute } from "./endpoint.js";
import { type Exchange, setPairs } from "./exchange.js";
import { formInHeaders } from "../routing/amounts.js";
import { type ChosenBy, type Locate, type Located, targetOf, type Whereabouts } from "../routing/resolve.js";
import { isRead, Plan, type PlanMemory } from "./plan.js";
import { parseQuery } from "../input/query-string.js";
import type { Scope } from "../route.js";
import { targetFor } from "../routing/router.js";
import type { HeaderPairs, StandingHeaders } from "../reply/default-headers.js";
import { type Generation, versionInHeaders } from "../routing/version.js";

export interface PlannerNeeds<State extends Scope> extends Locate<CompiledRoute<State>> {
  defaultVersion: Generation;
  versionHeaders(where: ChosenBy): HeaderPairs;
  plans: PlanMemory<State>;
  standing: StandingHeaders;
  /** Whether the value of `Authorization` admits a client. */
  authorize(authorization: string | undefined): MaybePromise<boolean>;
}

export interface Planner<State extends Scope> {
  /**
   * Plans a request: checks path, method, authorization and input, in this order. Undefined if that already answers the request
   * (OPTIONS, a trailing slash). Throws the error of an invalid request.
   */
  plan(exchange: Exchange): Promise<Plan<State> | undefined>;
  /** Sets the version of a request that failed before it was planned: the default one, if it names none or none that exists. */
  settleVersion(exchange: Exchange): void;
  /** Plans a GET or HEAD request; undefined if it is invalid or needs authorization. */
  draft(request: IncomingMessage): Plan<State> | undefined;
}

/** The value of `Allow` for the methods that a path answers. */
const allowed = (methods: Iterable<string>): string =>
  [...methods]
    .flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]))
    .concat("OPTIONS")
    .join(", ");

/** Whether a header was sent more than once. Of some, such as `Authorization`, Node.js keeps only the first in `headers`. */
const isDoubled = ({ rawHeaders }: IncomingMessage, name: string): boolean =>
  rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === name).length > 1;

const redirect = ({ ctx }: Exchange, location: string): void => {
  ctx.res.setHeader("Location", location);
  ctx.body = null;
  // After the body: setting it to null makes Koa set the status to 204. Upon 301, clients repeat a POST as a GET.
  ctx.status = isRead(ctx.req) ? 301 : 308;
};

export const createPlanner = <State extends Scope>(needs: PlannerNeeds<State>): Planner<State> => {
  type Entry = CompiledRoute<State>;
  interface Found {
    where: Whereabouts<Entry>;
    query: string;
    headers: HeaderPairs;
  }
  const { plans } = needs;

  const tellMethods = ({ ctx }: Exchange): void => {
    const methods = needs.methodsAt(targetOf(ctx.req.url ?? ""), versionInHeaders(ctx.req.headers));
    ctx.res.setHeader("Allow", allowed(methods));
  };

  const entryFor = (exchange: Exchange, { item }: Located<Entry>): Entry => {
    const entry = targetFor(item, exchange.ctx.method);
    if (entry === undefined) {
      tellMethods(exchange);
      throw new PorticoError("METHOD_NOT_ALLOWED");
    }
    return entry;
  };

  const authorize = async ({ ctx: { req } }: Exchange, { route }: Entry): Promise<void> => {
    if (route.authenticated !== true) return;
    if (isDoubled(req, "authorization")) throw inputError("headers", "Authorization", "must be sent only once");
    if (!(await needs.authorize(req.headers.authorization))) throw new PorticoError("UNAUTHORIZED");
  };

  const parse = (request: IncomingMessage, entry: Entry, { params, generation }: Located<Entry>, { where, query, headers }: Found) => {
    const { prefix, amounts } = where;
    if (amounts === "unknown") throw inputError("headers", "API-Amounts", "must be one of number, string");
    const asked = { params, pairs: parseQuery(query), prefix, amounts };
    const plan = new Plan(entry, generation, asked, entry.readInput(asked), headers);
    plans.remember(request, plan);
    return plan;
  };

  const whereabouts = ({ url = "", method = "", headers }: IncomingMessage): Found => {
    const target = targetOf(url);
    const where = needs.locate(target, method, versionInHeaders(headers), formInHeaders(headers));
    return { where, query: target.query, headers: needs.versionHeaders(where) };
  };

  const plan = async (exchange: Exchange): Promise<Plan<State> | undefined> => {
    const { ctx } = exchange;
    const found = whereabouts(ctx.req);
    const { where } = found;
    exchange.generation = where.generation;
    setPairs(ctx, found.headers);
    // Before any redirect: browsers do not follow redirects of a preflight.
    if (ctx.method === "OPTIONS" && (await needs.standing.preflight(ctx))) {
      return undefined;
    }
    if (where.redirect !== undefined) {
      redirect(exchange, where.redirect);
      return undefined;
    }
    if (where.located === undefined) {
      throw new PorticoError("NOT_FOUND");
    }
    if (ctx.method === "OPTIONS") {
      tellMethods(exchange);
      ctx.status = 204;
      return undefined;
    }
    const entry = entryFor(exchange, where.located);
    exchange.failsAs = entry.failsAs;
    await authorize(exchange, entry);
    return parse(ctx.req, entry, where.located, found);
  };

  const settleVersion = (exchange: Exchange): void => {
    const { ctx } = exchange;
    let named: ChosenBy = { generation: needs.defaultVersion, versioned: false, prefix: "" };
    try {
      named = whereabouts(ctx.req).where;
    } catch {
      // It names a version that does not exist, or a path that cannot be decoded.
    }
    exchange.generation = named.generation;
    setPairs(ctx, needs.versionHeaders(named));
  };

  const draft = (request: IncomingMessage): Plan<State> | undefined => {
    try {
      const found = whereabouts(request);
      const { where } = found;
      const entry = where.located?.item.methods.get("GET");
      const open = where.redirect === undefined && entry?.route.authenticated !== true;
      return where.located !== undefined && entry !== undefined && open
        ? parse(request, entry, where.located, found)
        : undefined;
    } catch {
      // `plan` will meet the same error and report it
      return undefined;
    }
  };

  return { plan, settleVersion, draft };
};
