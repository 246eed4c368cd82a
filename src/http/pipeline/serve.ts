import type { Context } from "koa";
import type { MaybePromise } from "../../../types/chain-adapter.js";
import type { Logger } from "../../../types/node-context.js";
import { PorticoError } from "../../errors.js";
import { createAnswerer } from "./answerer.js";
import { koaArrival } from "./arrival.js";
import type { CompiledRoute } from "./endpoint.js";
import type { EdgeOptions } from "../edge-options.js";
import { createEncodings, type Exchange, lastReply, sendReply, setPairs } from "./exchange.js";
import { failureReply, porticoErrorOf } from "../reply/error-reply.js";
import { createInFlight, type InFlight } from "./in-flight.js";
import type { ChosenBy, Locate } from "../routing/resolve.js";
import { createPlanMemory } from "./plan.js";
import { createPlanner } from "./planner.js";
import { createRateLimit, type RateLimit } from "./rate-limit.js";
import { createBodyReader, type ReadBody } from "../input/body.js";
import type { RequestId } from "./request-id.js";
import type { Scope } from "../route.js";
import { createShortcut, type Shortcut } from "./shortcut.js";
import { createStandingHeaders, type HeaderPairs } from "../reply/default-headers.js";
import type { Generation } from "../routing/version.js";

export interface ServeNeeds<State extends Scope> extends Locate<CompiledRoute<State>> {
  openState(): MaybePromise<State>;
  tipId: (() => string | undefined) | undefined;
  isStopping(): boolean;
  requestId: RequestId;
  authorize(authorization: string | undefined): MaybePromise<boolean>;
  logger: Logger;
}

/** Answers requests below the base path. Its Koa middlewares call no others, and throw only if the host has sent a reply of its own. */
export interface Serve<State extends Scope> {
  /** Middleware that answers by the shortcut where it can. */
  serve(ctx: Context): Promise<void>;
  /** Middleware for requests that the shortcut has left. */
  serveLongWay(ctx: Context): Promise<void>;
  shortcut: Shortcut;
  /** Prepares replies from a state that is about to become current, and releases it. */
  renew(state: State): Promise<void>;
  readonly inFlight: InFlight;
}

/** Fraction of the cache's bytes that parsed requests may take. */
const planShare = 0.1;

/** Milliseconds for which a new state may be held back. */
const longestRenewal = 25;

/** Makes the headers that tell which generation answered, and (`Vary`) which request headers the reply depended on. */
const versionHeadersBy = ({ compression }: EdgeOptions, byOrigin: boolean) => {
  const always = [...(compression === false ? [] : ["Accept-Encoding"]), ...(byOrigin ? ["Origin"] : [])];
  const pairs = (generation: Generation, byHeaders: readonly string[]): HeaderPairs => {
    const vary = [...byHeaders, ...always];
    return ["API-Version", String(generation), ...(vary.length === 0 ? [] : ["Vary", vary.join(", ")])];
  };
  const both = (generation: Generation, byHeaders: readonly string[]) => ({
    versioned: pairs(generation, byHeaders),
    unversioned: pairs(generation, ["API-Version", "Accept", ...byHeaders]),
  });
  const [first, second, prefixed] = [both(1, []), both(2, ["API-Amounts"]), both(2, [])];
  return ({ generation, versioned, prefix }: ChosenBy): HeaderPairs => {
    const made = generation === 1 ? first : prefix === "" ? second : prefixed;
    return versioned ? made.versioned : made.unversioned;
  };
};

/** Counts a request and sets the rate-limit headers. Throws RATE_LIMITED. */
const count = async (rateLimit: RateLimit, ctx: Context): Promise<void> => {
  const { granted, headers } = await rateLimit.take(ctx.req);
  setPairs(ctx, headers);
  if (!granted) {
    throw new PorticoError("RATE_LIMITED");
  }
};

const bodyOf = async <State extends Scope>(
  ctx: Context,
  { route, takesBody, readBody }: CompiledRoute<State>,
  read: ReadBody,
): Promise<unknown> => {
  if (route.requiresJsonType === true && ctx.request.type.toLowerCase() !== "application/json") {
    throw new PorticoError("UNSUPPORTED_MEDIA_TYPE");
  }
  return takesBody ? readBody(await read(ctx)) : undefined;
};

const detailOf = (error: PorticoError): string =>
  error.cause instanceof Error ? (error.cause.stack ?? error.cause.message) : (error.stack ?? error.message);

/**
 * Answers every request below the base path. All that the shortcut leaves take the long way: stopping, rate limit, path, method,
 * authorization, input, body, state, answer, in this order. An error at any step ends it.
 */
export const createServe = <State extends Scope>(options: EdgeOptions, needs: ServeNeeds<State>): Serve<State> => {
  const { isStopping, requestId, logger } = needs;
  const threshold = options.compression === false ? Infinity : options.compression.threshold;
  const standing = createStandingHeaders(options);
  const rateLimit = createRateLimit(options);
  const encodings = createEncodings();
  const readBody = createBodyReader(options.bodyLimit);
  const versionHeaders = versionHeadersBy(options, standing.byOrigin);
  const plans = createPlanMemory<State>(options.cacheSize * planShare);
  const answerer = createAnswerer<State>({ ...needs, cacheSize: options.cacheSize * (1 - planShare), threshold, longestRenewal });
  const { defaultVersion } = options;
  const planner = createPlanner<State>({ ...needs, defaultVersion, versionHeaders, plans, standing });
  const inFlight = createInFlight();

  const fail = (exchange: Exchange, thrown: unknown): void => {
    const { ctx, id } = exchange;
    const error = porticoErrorOf(thrown);
    if (!error.exposed) {
      logger.error(`Request ${id}, ${ctx.method} ${JSON.stringify(ctx.req.url)}, failed: ${detailOf(error)}`);
    }
    if (exchange.generation === undefined) {
      planner.settleVersion(exchange);
    }
    void sendReply(ctx, failureReply(error, exchange), undefined);
  };

  const answer = async (exchange: Exchange): Promise<void> => {
    const { ctx } = exchange;
    if (rateLimit.counts(ctx.req)) {
      await count(rateLimit, ctx);
    }
    const plan = await planner.plan(exchange);
    if (plan !== undefined) {
      const body = ctx.method === "GET" ? undefined : await bodyOf(ctx, plan.entry, readBody);
      const reply = answerer.kept(plan) ?? (await answerer.reply(plan, body, exchange));
      await sendReply(ctx, reply, encodings.of(ctx));
    }
  };

  const serveLongWay = async (ctx: Context): Promise<void> => {
    const id = requestId(ctx.req.headers);
    const exchange: Exchange = { ctx, id, generation: undefined, failsAs: undefined, height: undefined };
    setPairs(ctx, standing.of(ctx.req.headers.origin));
    ctx.res.setHeader("X-Request-Id", id);
    // A request that arrived before stopping began is still answered, even if the shortcut leaves it only now.
    const isLate = isStopping() && !inFlight.has(ctx.res);
    inFlight.countUntilClosed(ctx.res);
    try {
      if (isLate) {
        throw new PorticoError("NOT_READY", "The node is stopping.");
      }
      await answer(exchange);
    } catch (error) {
      fail(exchange, error);
    }
    if (isStopping()) {
      setPairs(ctx, lastReply);
    }
  };

  const shortcut = createShortcut<State>({
    plans,
    draft: planner.draft,
    answerer,
    rateLimit,
    standing,
    encodings,
    inFlight,
    requestId,
    isStopping,
  });

  const serve = (ctx: Context): Promise<void> =>
    new Promise((resolve) => {
      const written = (): void => {
        // It is sent when the host's other middleware is done.
        inFlight.countUntilClosed(ctx.res);
        resolve();
      };
      shortcut(koaArrival(ctx, written, () => resolve(serveLongWay(ctx))));
    });

  return { serve, serveLongWay, shortcut, renew: answerer.renew, inFlight };
};
