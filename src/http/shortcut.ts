import { AsyncResource } from "node:async_hooks";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { MaybePromise } from "../../types/chain-adapter.js";
import { PorticoError } from "../errors.js";
import { andThen } from "../maybe-promise.js";
import type { Answerer } from "./answerer.js";
import { createBatches } from "./batches.js";
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

export interface Shortcut {
  /** Answers a request, or hands it to `otherwise`. */
  take(request: IncomingMessage, response: ServerResponse, otherwise: () => void): void;
  /** Number of requests that have been taken and are neither answered, nor in flight, nor handed on. */
  readonly waiting: number;
}

/** A request that takes the shortcut, and the asynchronous context in which it arrived. */
class Visit<State extends Scope> extends AsyncResource {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly otherwise: () => void;
  readonly encoding: Encoding | undefined;
  /** Headers of this request alone. */
  own: HeaderPairs = [];
  plan: Plan<State> | undefined;
  reply: MaybePromise<Reply> | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, otherwise: () => void, encoding: Encoding | undefined) {
    super("PorticoRequest");
    this.request = request;
    this.response = response;
    this.otherwise = otherwise;
    this.encoding = encoding;
  }
}

/**
 * The shortest way to a reply, for listeners made by `callback`: GET and HEAD requests are answered in batches, without a framework, each
 * in one write. The reply is the one that the long way (`serve`) would send. Invalid requests and errors that are not exposed are left
 * to the long way.
 */
export const createShortcut = <State extends Scope>(needs: ShortcutNeeds<State>): Shortcut => {
  const { plans, draft, answerer, rateLimit, standing, encodings, inFlight, requestId, isStopping } = needs;

  const handOn = ({ response, otherwise }: Visit<State>): void => {
    inFlight.begin(response);
    otherwise();
  };

  const send = ({ request, response, own }: Visit<State>, plan: Plan<State>, status: number, variant: Variant): void => {
    const has = clientHas(request.headers, variant);
    const headers = [...standing.of(request.headers.origin), ...plan.headers, ...(has ? headersOf304(variant) : variant.headers), ...own];
    headers.push("X-Request-Id", requestId(request.headers));
    if (isStopping()) {
      headers.push(...lastReply);
    }
    if (has) {
      response.writeHead(304, headers).end();
      return;
    }
    headers.push("Content-Length", String(variant.bytes.length));
    response.writeHead(status, headers).end(request.method === "HEAD" ? undefined : variant.bytes);
  };

  /** Sends a reply, synchronously if nothing has to be awaited. */
  const sendReply = (visit: Visit<State>, plan: Plan<State>, reply: Reply): MaybePromise<void> => {
    const { encoding } = visit;
    const variant = encoding === undefined || reply.encoded === undefined ? reply.plain : (reply.ready?.(encoding) ?? reply.encoded(encoding));
    return andThen(variant, (made) => send(visit, plan, reply.status, made));
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

  const planVisit = (visit: Visit<State>): void => {
    visit.plan = plans.recall(visit.request) ?? draft(visit.request);
  };

  const replyToVisit = (visit: Visit<State>): void => {
    if (visit.plan === undefined) return;
    try {
      visit.reply = replyTo(visit.plan);
    } catch {
      // the long way reports and logs the error
    }
  };

  const sendOrHandOn = (visit: Visit<State>): void => {
    const { plan, reply, response } = visit;
    if (plan === undefined || reply === undefined) {
      handOn(visit);
      return;
    }
    try {
      const sent = andThen(reply, (made) => sendReply(visit, plan, made));
      if (sent instanceof Promise) {
        inFlight.begin(response);
        sent.catch(() => handOn(visit));
      }
    } catch {
      handOn(visit);
    }
  };

  const batches = createBatches<Visit<State>>([planVisit, replyToVisit, sendOrHandOn]);

  const takeCounted = async (visit: Visit<State>): Promise<void> => {
    const { granted, headers } = await rateLimit.take(visit.request);
    if (granted) {
      visit.own = headers;
      batches.add(visit);
    } else {
      handOn(visit);
    }
  };

  return {
    take: (request, response, otherwise) => {
      const choice = isStopping() ? undefined : encodings.recall(request);
      if (choice === undefined) {
        otherwise();
        return;
      }
      const visit = new Visit<State>(request, response, otherwise, choice.encoding);
      if (rateLimit.counts(request)) {
        inFlight.begin(response);
        takeCounted(visit).catch(() => handOn(visit));
      } else {
        batches.add(visit);
      }
    },
    get waiting() {
      return batches.waiting;
    },
  };
};
