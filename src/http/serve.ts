import type { Context } from "koa";
import type { MaybePromise } from "../../types/chain-adapter.js";
import type { Logger } from "../../types/node-context.js";
import { PorticoError } from "../errors.js";
import type { CompiledRoute } from "./compiled-route.js";
import type { EdgeOptions } from "./edge-options.js";
import { type Exchange, sendReply, setPairs } from "./exchange.js";
import { failureOf, porticoErrorOf } from "./failure.js";
import { allowed, entryOf, type Located, targetOf, type Whereabouts } from "./locate.js";
import { createPlanMemory, type Plan, questionOf } from "./plan.js";
import { parseQuery } from "./query-text.js";
import type { RateLimit } from "./rate-limit.js";
import { createReply, type Reply } from "./reply.js";
import { createReplyCache } from "./reply-cache.js";
import type { ReadBody } from "./request-body.js";
import type { Scope } from "./route.js";
import type { StandingHeaders } from "./standing-headers.js";
import { type Generation, type NamedVersion, versionInHeaders } from "./version.js";

export interface ServeNeeds<State extends Scope> {
  options: EdgeOptions;
  locate(target: ReturnType<typeof targetOf>, method: string, named: NamedVersion): Whereabouts<CompiledRoute<State>>;
  rateLimit: RateLimit;
  standing: StandingHeaders;
  readBody: ReadBody;
  requestId(headers: Context["req"]["headers"]): string;
  openState(): MaybePromise<State>;
  tipId?: (() => string | undefined) | undefined;
  isStopping(): boolean;
  authorize?: ((authorization: string | undefined) => MaybePromise<boolean>) | undefined;
  logger: Logger;
}

const varyOf = ({ compression }: EdgeOptions, byOrigin: boolean) => {
  const always = [...(compression === false ? [] : ["Accept-Encoding"]), ...(byOrigin ? ["Origin"] : [])];
  return (versioned: boolean): string => (versioned ? always : ["API-Version", "Accept", ...always]).join(", ");
};

/**
 * Answers every request below the base path. A reply that is kept goes out at once; all else takes the long way, in this order:
 * stopping, rate limit, path, method, authorization, input, state, answer. Errors end it anywhere.
 */
export const createServe = <State extends Scope>(needs: ServeNeeds<State>) => {
  const { options, standing, rateLimit, logger } = needs;
  const replies = createReplyCache(options.cacheSize * 0.9);
  const plans = createPlanMemory<State>(options.cacheSize * 0.1);
  const pending = new Map<string, Promise<Reply>>();
  const vary = varyOf(options, standing.byOrigin);
  const threshold = options.compression === false ? Infinity : options.compression.threshold;
  const inFlight = createInFlight();

  const versionHeaders = (generation: Generation, versioned: boolean): string[] => {
    const varies = vary(versioned);
    return ["API-Version", String(generation), ...(varies === "" ? [] : ["Vary", varies])];
  };

  const headAll = (ctx: Context, id: string): void => {
    setPairs(ctx, standing.of(ctx.req.headers.origin));
    ctx.res.setHeader("X-Request-Id", id);
  };

  /** The reply that is kept for a plan in the state of now, where both are known without waiting. */
  const kept = (plan: Plan<State>): Reply | undefined => {
    const tip = plan.entry.kept ? needs.tipId?.() : undefined;
    return tip === undefined ? undefined : replies.get(tip, plan.question);
  };

  const count = async (ctx: Context): Promise<void> => {
    const allowance = await rateLimit.take(ctx.req);
    ctx.res.setHeader("X-RateLimit-Limit", allowance.limit);
    ctx.res.setHeader("X-RateLimit-Remaining", allowance.remaining);
    ctx.res.setHeader("X-RateLimit-Reset", allowance.secondsToReset);
    if (!allowance.granted) {
      ctx.res.setHeader("Retry-After", allowance.secondsToReset);
      throw new PorticoError("RATE_LIMITED");
    }
  };

  const authorize = async (ctx: Context): Promise<void> => {
    if ((await needs.authorize?.(ctx.req.headers.authorization)) !== true) {
      throw new PorticoError("UNAUTHORIZED");
    }
  };

  const planOf = async (exchange: Exchange, where: Whereabouts<CompiledRoute<State>>, located: Located<CompiledRoute<State>>, query: string): Promise<Plan<State>> => {
    const { ctx } = exchange;
    const entry = entryOf(located, ctx.method);
    exchange.failsAs = entry.failsAs;
    if (entry.route.authenticated === true) {
      await authorize(ctx);
    }
    const asked = { params: located.params, pairs: parseQuery(query) };
    const input = entry.readInput(asked);
    const headers = versionHeaders(located.generation, where.versioned);
    return { entry, generation: located.generation, asked, input, question: questionOf(entry, input, asked), headers };
  };

  const redirect = (ctx: Context, location: string): void => {
    ctx.res.setHeader("Location", location);
    ctx.status = 301;
    ctx.body = Buffer.alloc(0);
    ctx.remove("Content-Type");
  };

  const describeMethods = async (ctx: Context, located: Located<CompiledRoute<State>> | undefined): Promise<void> => {
    if (await needs.standing.preflight(ctx)) {
      return;
    }
    if (located === undefined) {
      throw new PorticoError("NOT_FOUND");
    }
    ctx.res.setHeader("Allow", allowed(located.item.methods.keys()));
    ctx.status = 204;
  };

  /** The plan of a request; undefined when the request has been answered without one. */
  const route = async (exchange: Exchange): Promise<Plan<State> | undefined> => {
    const { ctx } = exchange;
    const target = targetOf(ctx.req.url ?? "");
    const where = needs.locate(target, ctx.method, versionInHeaders(ctx.req.headers));
    exchange.generation = where.generation;
    setPairs(ctx, versionHeaders(where.generation, where.versioned));
    if (where.redirect !== undefined) {
      redirect(ctx, where.redirect);
      return undefined;
    }
    if (ctx.method === "OPTIONS") {
      await describeMethods(ctx, where.located);
      return undefined;
    }
    if (where.located === undefined) {
      throw new PorticoError("NOT_FOUND");
    }
    ctx.res.setHeader("Allow", allowed(where.located.item.methods.keys()));
    const plan = await planOf(exchange, where, where.located, target.query);
    ctx.res.removeHeader("Allow");
    plans.remember(ctx.req, plan);
    return plan;
  };

  const readBody = async (ctx: Context, { route, takesBody, readBody }: CompiledRoute<State>): Promise<unknown> => {
    if (route.requiresJsonType === true && ctx.request.type !== "application/json") {
      throw new PorticoError("UNSUPPORTED_MEDIA_TYPE");
    }
    return takesBody ? readBody(await needs.readBody(ctx)) : undefined;
  };

  const compute = async (plan: Plan<State>, input: Plan<State>["input"], state: State): Promise<Reply> => {
    const { entry } = plan;
    const { status, json } = await entry.answer(input, plan.asked, state);
    const cacheControl = entry.route.authenticated === true ? "no-store" : "no-cache";
    return createReply({ status, json, height: state.tip?.height, validated: entry.kept, cacheControl }, threshold);
  };

  /** Equal questions to one state that are asked at the same time share one answer. */
  const computeOnce = (plan: Plan<State>, state: State, tip: string): Promise<Reply> => {
    const key = `${tip} ${plan.question}`;
    const running = pending.get(key);
    if (running !== undefined) {
      return running;
    }
    const reply = compute(plan, plan.input, state);
    pending.set(key, reply);
    const forget = (): void => void pending.delete(key);
    reply.then(forget, forget);
    return reply;
  };

  const replyTo = async (exchange: Exchange, plan: Plan<State>): Promise<Reply> => {
    const { entry } = plan;
    const body = await readBody(exchange.ctx, entry);
    const state = await needs.openState();
    try {
      exchange.height = state.tip?.height;
      if (state.tip === undefined) {
        if (entry.route.stateless !== true) {
          throw new PorticoError("NOT_READY");
        }
      } else if (entry.kept) {
        const tip = state.tip.id;
        const present = replies.get(tip, plan.question);
        if (present !== undefined) {
          return present;
        }
        const reply = await computeOnce(plan, state, tip);
        replies.keep(tip, plan.question, reply);
        return reply;
      }
      return await compute(plan, body === undefined ? plan.input : { ...plan.input, body }, state);
    } finally {
      state.release?.();
    }
  };

  const fail = (exchange: Exchange, thrown: unknown): void => {
    const { ctx, id } = exchange;
    const error = porticoErrorOf(thrown);
    if (!error.exposed) {
      const detail = error.cause instanceof Error ? (error.cause.stack ?? error.cause.message) : (error.stack ?? error.message);
      logger.error(`Request ${id} ${ctx.method} ${JSON.stringify(ctx.req.url)} failed: ${detail}`);
    }
    const { status, body, headers } = failureOf(error, exchange.failsAs);
    if (exchange.generation === undefined) {
      setPairs(ctx, versionHeaders(options.defaultVersion, false));
    }
    if (status !== 405) {
      ctx.res.removeHeader("Allow");
    }
    setPairs(ctx, Object.entries(headers).flat());
    const height = exchange.height;
    const reply = createReply({ status, json: JSON.stringify(body), height, validated: false, cacheControl: "no-cache" }, Infinity);
    void sendReply(ctx, reply);
  };

  const answer = async (exchange: Exchange, remembered: Plan<State> | undefined): Promise<void> => {
    const { ctx } = exchange;
    if (needs.isStopping()) {
      ctx.res.setHeader("Connection", "close");
      throw new PorticoError("NOT_READY", "The node is stopping.");
    }
    if (rateLimit.counts(ctx.req)) {
      await count(ctx);
    }
    if (remembered !== undefined) {
      exchange.generation = remembered.generation;
      exchange.failsAs = remembered.entry.failsAs;
      setPairs(ctx, remembered.headers);
    }
    const plan = remembered ?? (await route(exchange));
    if (plan !== undefined) {
      await sendReply(ctx, kept(plan) ?? (await replyTo(exchange, plan)));
    }
  };

  const serveSlowly = async (ctx: Context, id: string, plan: Plan<State> | undefined): Promise<void> => {
    const exchange: Exchange = { ctx, id, generation: undefined, failsAs: undefined, height: undefined };
    inFlight.begin();
    try {
      await answer(exchange, plan);
    } catch (error) {
      fail(exchange, error);
    } finally {
      inFlight.end();
    }
  };

  const serve = (ctx: Context): void | Promise<void> => {
    const id = needs.requestId(ctx.req.headers);
    headAll(ctx, id);
    const plan = plans.recall(ctx.req);
    const reply = plan === undefined || needs.isStopping() || rateLimit.counts(ctx.req) ? undefined : kept(plan);
    if (plan === undefined || reply === undefined) {
      return serveSlowly(ctx, id, plan);
    }
    setPairs(ctx, plan.headers);
    return sendReply(ctx, reply);
  };

  return { serve, inFlight };
};

/** Counts requests that are being answered, and tells when there is none. */
export const createInFlight = () => {
  let count = 0;
  let waiting: (() => void)[] = [];
  return {
    get count(): number {
      return count;
    },
    begin: (): void => {
      count += 1;
    },
    end: (): void => {
      count -= 1;
      if (count === 0) {
        waiting.forEach((resolve) => resolve());
        waiting = [];
      }
    },
    /** Resolves as soon as no request is being answered. */
    none: (): Promise<void> => (count === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
};
