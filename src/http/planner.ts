import type { MaybePromise } from "../../types/chain-adapter.js";
import { PorticoError } from "../errors.js";
import type { CompiledRoute } from "./compiled-route.js";
import { type Exchange, setPairs } from "./exchange.js";
import { type Located, targetOf, type Target, type Whereabouts } from "./locate.js";
import { type Plan, type PlanMemory, questionOf } from "./plan.js";
import { parseQuery } from "./query-text.js";
import type { Scope } from "./route.js";
import type { StandingHeaders } from "./standing-headers.js";
import { type Generation, type NamedVersion, versionInHeaders } from "./version.js";

export interface PlannerNeeds<State extends Scope> {
  locate(target: Target, method: string, named: NamedVersion): Whereabouts<CompiledRoute<State>>;
  versionHeaders(generation: Generation, versioned: boolean): string[];
  plans: PlanMemory<State>;
  standing: StandingHeaders;
  /** Whether the value of `Authorization` lets a client in. */
  authorize(authorization: string | undefined): MaybePromise<boolean>;
}

/** Methods that a path answers, as `Allow` lists them. */
const allowed = (methods: Iterable<string>): string =>
  [...methods]
    .flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]))
    .concat("OPTIONS")
    .join(", ");

const redirect = ({ ctx }: Exchange, location: string): void => {
  ctx.res.setHeader("Location", location);
  ctx.body = null;
  // after the body: without one Koa would say 204
  ctx.status = 301;
};

/**
 * Makes what turns a request into a plan: path, method, authorization, input, in this order. Undefined when the request is
 * answered by that already (OPTIONS, a trailing slash). Throws whatever is wrong with the request.
 */
export const createPlanner = <State extends Scope>(needs: PlannerNeeds<State>) => {
  type Entry = CompiledRoute<State>;

  const describe = async ({ ctx }: Exchange, located: Located<Entry> | undefined): Promise<void> => {
    if (await needs.standing.preflight(ctx)) {
      return;
    }
    if (located === undefined) {
      throw new PorticoError("NOT_FOUND");
    }
    ctx.res.setHeader("Allow", allowed(located.item.methods.keys()));
    ctx.status = 204;
  };

  const entryFor = ({ ctx }: Exchange, { item }: Located<Entry>): Entry => {
    const entry = item.methods.get(ctx.method === "HEAD" ? "GET" : ctx.method);
    if (entry === undefined) {
      ctx.res.setHeader("Allow", allowed(item.methods.keys()));
      throw new PorticoError("METHOD_NOT_ALLOWED");
    }
    return entry;
  };

  const planFor = async (exchange: Exchange, located: Located<Entry>, query: string, headers: string[]): Promise<Plan<State>> => {
    const entry = entryFor(exchange, located);
    exchange.failsAs = entry.failsAs;
    if (entry.route.authenticated === true && !(await needs.authorize(exchange.ctx.req.headers.authorization))) {
      throw new PorticoError("UNAUTHORIZED");
    }
    const asked = { params: located.params, pairs: parseQuery(query) };
    const input = entry.readInput(asked);
    return { entry, generation: located.generation, asked, input, question: questionOf(entry, input, asked), headers };
  };

  return async (exchange: Exchange): Promise<Plan<State> | undefined> => {
    const { ctx } = exchange;
    const target = targetOf(ctx.req.url ?? "");
    const where = needs.locate(target, ctx.method, versionInHeaders(ctx.req.headers));
    const headers = needs.versionHeaders(where.generation, where.versioned);
    exchange.generation = where.generation;
    setPairs(ctx, headers);
    if (where.redirect !== undefined) {
      redirect(exchange, where.redirect);
      return undefined;
    }
    if (ctx.method === "OPTIONS") {
      await describe(exchange, where.located);
      return undefined;
    }
    if (where.located === undefined) {
      throw new PorticoError("NOT_FOUND");
    }
    const plan = await planFor(exchange, where.located, target.query, headers);
    needs.plans.remember(ctx.req, plan);
    return plan;
  };
};
