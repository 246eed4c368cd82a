import type { IncomingMessage, ServerResponse } from "node:http";
import type { Answerer } from "./answerer.js";
import type { Encodings } from "./exchange.js";
import type { InFlight } from "./in-flight.js";
import type { Plan, PlanMemory } from "./plan.js";
import type { RateLimit } from "./rate-limit.js";
import type { Reply, Variant } from "./reply.js";
import type { Scope } from "./route.js";
import type { StandingHeaders } from "./standing-headers.js";

export interface ShortcutNeeds<State extends Scope> {
  plans: PlanMemory<State>;
  answerer: Answerer<State>;
  rateLimit: RateLimit;
  standing: StandingHeaders;
  encodings: Encodings;
  inFlight: InFlight;
  requestId(headers: IncomingMessage["headers"]): string;
  isStopping(): boolean;
}

/** Answers a request, or hands it to `otherwise`. */
export type Shortcut = (request: IncomingMessage, response: ServerResponse, otherwise: () => void) => void;

const etagOf = ({ headers }: Variant): string | undefined => {
  const index = headers.indexOf("ETag");
  return index === -1 ? undefined : headers[index + 1];
};

/** Whether the client's copy is certainly this variant; undefined when that takes a closer look. */
const clientHas = ({ headers }: IncomingMessage, variant: Variant): boolean | undefined => {
  const given = headers["if-none-match"];
  if (given === undefined) {
    return false;
  }
  return given === etagOf(variant) && headers["cache-control"] === undefined ? true : undefined;
};

/**
 * The shortest way to a reply, for servers of this interface alone: a GET that was asked before goes to its answer without a
 * framework and out in one write. The reply is what the long way would send; whatever is not plain success is left to it.
 */
export const createShortcut = <State extends Scope>(needs: ShortcutNeeds<State>): Shortcut => {
  const { plans, answerer, rateLimit, standing, encodings, inFlight, requestId, isStopping } = needs;

  const send = (
    request: IncomingMessage,
    response: ServerResponse,
    plan: Plan<State>,
    status: number,
    variant: Variant,
  ): boolean => {
    const has = clientHas(request, variant);
    if (has === undefined) {
      return false;
    }
    const headers = [...standing.of(request.headers.origin), ...plan.headers, ...variant.headers];
    headers.push("X-Request-Id", requestId(request.headers));
    if (has) {
      response.writeHead(304, headers).end();
      return true;
    }
    headers.push("Content-Length", String(variant.bytes.length));
    response.writeHead(status, headers).end(request.method === "HEAD" ? undefined : variant.bytes);
    return true;
  };

  const variantOf = (request: IncomingMessage, reply: Reply): Variant | Promise<Variant> | undefined => {
    const choice = encodings.recall(request);
    if (choice?.encoding === undefined || reply.encoded === undefined) {
      return choice === undefined ? undefined : reply.plain;
    }
    return reply.ready?.(choice.encoding) ?? reply.encoded(choice.encoding);
  };

  /** Without waiting where nothing has to be waited for; a promise of whether it was sent where something has. */
  const sendReply = (
    request: IncomingMessage,
    response: ServerResponse,
    plan: Plan<State>,
    reply: Reply,
  ): boolean | Promise<boolean> => {
    const variant = variantOf(request, reply);
    if (variant instanceof Promise) {
      return variant.then((made) => send(request, response, plan, reply.status, made));
    }
    return variant !== undefined && send(request, response, plan, reply.status, variant);
  };

  const compute = async (request: IncomingMessage, response: ServerResponse, plan: Plan<State>): Promise<boolean> => {
    inFlight.begin(response);
    const reply = await answerer.reply(plan, undefined, { height: undefined });
    return sendReply(request, response, plan, reply);
  };

  return (request, response, otherwise) => {
    const plan = isStopping() || rateLimit.counts(request) ? undefined : plans.recall(request);
    if (plan === undefined) {
      otherwise();
      return;
    }
    const reply = answerer.kept(plan);
    const sent = reply === undefined ? compute(request, response, plan) : sendReply(request, response, plan, reply);
    if (sent === false) {
      otherwise();
    } else if (sent !== true) {
      // an error is told, logged and counted by the long way
      sent.then((done) => done || otherwise(), otherwise);
    }
  };
};
