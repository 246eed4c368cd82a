import type { IncomingMessage, ServerResponse } from "node:http";
import type { MaybePromise } from "../../types/chain-adapter.js";
import { PorticoError } from "../errors.js";
import { andThen } from "../maybe-promise.js";
import type { Answerer } from "./answerer.js";
import { type Encodings, lastReply } from "./exchange.js";
import { failureReply } from "./failure.js";
import type { InFlight } from "./in-flight.js";
import type { Plan, PlanMemory } from "./plan.js";
import type { RateLimit } from "./rate-limit.js";
import type { Encoding, Reply, Variant } from "./reply.js";
import { clientHas, headersOf304 } from "./revalidation.js";
import type { Scope } from "./route.js";
import type { HeaderPairs, StandingHeaders } from "./standing-headers.js";

export interface ShortcutNeeds<State extends Scope> {
  plans: PlanMemory<State>;
  draft(request: IncomingMessage): Plan<State> | undefined;
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

/** A request that takes the shortcut. */
interface Visit<State extends Scope> {
  request: IncomingMessage;
  response: ServerResponse;
  plan: Plan<State>;
  encoding: Encoding | undefined;
  /** Headers of this request alone. */
  own: HeaderPairs;
}

/**
 * The shortest way to a reply, for listeners made by `callback`: a GET or HEAD request is answered without a framework, in one write.
 * The reply is the one that the long way (`serve`) would send. Invalid requests and errors that are not exposed are left to the long way.
 */
export const createShortcut = <State extends Scope>(needs: ShortcutNeeds<State>): Shortcut => {
  const { plans, draft, answerer, rateLimit, standing, encodings, inFlight, requestId, isStopping } = needs;

  const send = ({ request, response, plan, own }: Visit<State>, status: number, variant: Variant): true => {
    const has = clientHas(request.headers, variant);
    const headers = [...standing.of(request.headers.origin), ...plan.headers, ...(has ? headersOf304(variant) : variant.headers), ...own];
    headers.push("X-Request-Id", requestId(request.headers));
    if (isStopping()) {
      headers.push(...lastReply);
    }
    if (has) {
      response.writeHead(304, headers).end();
      return true;
    }
    headers.push("Content-Length", String(variant.bytes.length));
    response.writeHead(status, headers).end(request.method === "HEAD" ? undefined : variant.bytes);
    return true;
  };

  /** Sends a reply, synchronously if nothing has to be awaited. */
  const sendReply = (visit: Visit<State>, reply: Reply): MaybePromise<true> => {
    const { encoding } = visit;
    const variant = encoding === undefined || reply.encoded === undefined ? reply.plain : (reply.ready?.(encoding) ?? reply.encoded(encoding));
    return andThen(variant, (made) => send(visit, reply.status, made));
  };

  /** Throws errors that are not exposed, which the long way then logs. */
  const replyTo = (plan: Plan<State>): MaybePromise<Reply> => {
    const noted = { generation: plan.generation, failsAs: plan.entry.failsAs, height: undefined };
    const tell = (error: unknown): Reply => {
      if (error instanceof PorticoError && error.exposed) return failureReply(error, noted);
      throw error;
    };
    try {
      const reply = answerer.kept(plan) ?? answerer.reply(plan, undefined, noted);
      return reply instanceof Promise ? reply.catch(tell) : reply;
    } catch (error) {
      return tell(error);
    }
  };

  const answer = (request: IncomingMessage, response: ServerResponse, own: HeaderPairs): MaybePromise<boolean> => {
    // Before anything is computed, so that no reply is computed twice.
    const choice = encodings.recall(request);
    const plan = choice === undefined ? undefined : (plans.recall(request) ?? draft(request));
    if (choice === undefined || plan === undefined) {
      return false;
    }
    const visit = { request, response, plan, own, encoding: choice.encoding };
    return andThen(replyTo(plan), (reply) => sendReply(visit, reply));
  };

  const answerCounted = async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    const { granted, headers } = await rateLimit.take(request);
    return granted && answer(request, response, headers);
  };

  const attempt = (request: IncomingMessage, response: ServerResponse): MaybePromise<boolean> => {
    if (isStopping()) {
      return false;
    }
    return rateLimit.counts(request) ? answerCounted(request, response) : answer(request, response, []);
  };

  return (request, response, otherwise) => {
    let sent: MaybePromise<boolean> = false;
    try {
      sent = attempt(request, response);
    } catch {
      // the long way reports and logs the error
    }
    if (sent === false) {
      otherwise();
    } else if (sent !== true) {
      inFlight.begin(response);
      sent.then((done) => done || otherwise(), otherwise);
    }
  };
};
