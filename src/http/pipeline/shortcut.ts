import { AsyncResource } from "node:async_hooks";
import type { IncomingMessage } from "node:http";
import type { MaybePromise } from "../../../types/chain-adapter.js";
import { PorticoError } from "../../errors.js";
import { andThen } from "../../async/maybe-promise.js";
import type { Answerer } from "./answerer.js";
import type { Arrival } from "./arrival.js";
import { createBatches } from "../fast/micro-batch.js";
import { type Encodings, lastReply } from "./exchange.js";
import { failureReply } from "../reply/error-reply.js";
import type { InFlight } from "./in-flight.js";
import { isRead, type Plan, type PlanMemory } from "./plan.js";
import type { RateLimit } from "./rate-limit.js";
import type { Encoding, Reply, Variant } from "../reply/reply.js";
import { clientHas, headersOf304 } from "../reply/conditional-get.js";
import type { Scope } from "../route.js";
import type { HeaderPairs, StandingHeaders } from "../reply/default-headers.js";

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

/**
 * Answers a request by the shortcut, or lets it take the long way. The shortcut answers GET and HEAD requests in batches, and without a
 * promise where nothing has to be awaited. The reply is the one that the long way (`serveLongWay`) would send. Invalid requests and
 * errors that are not exposed are left to that.
 */
export type Shortcut = (arrival: Arrival) => void;

/** A request that takes the shortcut, and the asynchronous context in which it arrived. */
class Visit<State extends Scope> extends AsyncResource {
  readonly arrival: Arrival;
  readonly encoding: Encoding | undefined;
  /** Headers of this request alone. */
  own: HeaderPairs = [];
  plan: Plan<State> | undefined;
  reply: MaybePromise<Reply> | undefined;

  constructor(arrival: Arrival, encoding: Encoding | undefined) {
    super("PorticoRequest");
    this.arrival = arrival;
    this.encoding = encoding;
  }
}

export const createShortcut = <State extends Scope>(needs: ShortcutNeeds<State>): Shortcut => {
  const { plans, draft, answerer, rateLimit, standing, encodings, inFlight, requestId, isStopping } = needs;

  /** Lets a request that was admitted take the long way after all. */
  const handOn = ({ arrival }: Visit<State>): void => {
    // On the long way, it counts as one that came before the node began to stop.
    inFlight.countUntilClosed(arrival.response);
    inFlight.leave();
    // After the batch: nothing that happens on the long way is to reach the others in it.
    queueMicrotask(arrival.takeLongWay);
  };

  /** To be called when a reply has been written. A large one may still have to be sent, at the pace of its client. */
  const written = ({ arrival: { response } }: Visit<State>): void => {
    if ((response.socket?.writableLength ?? 0) > 0) {
      inFlight.countUntilClosed(response);
    }
    inFlight.leave();
  };

  const send = ({ arrival, own }: Visit<State>, plan: Plan<State>, status: number, variant: Variant): void => {
    const { headers: asked } = arrival.request;
    const has = clientHas(asked, variant);
    const headers = [...standing.of(asked.origin), ...plan.headers, ...(has ? headersOf304(variant) : variant.headers), ...own];
    headers.push("X-Request-Id", requestId(asked));
    if (isStopping()) {
      headers.push(...lastReply);
    }
    arrival.write(has ? 304 : status, headers, has ? undefined : variant.bytes);
  };

  /** Synchronous if nothing has to be awaited. */
  const encodeAndSend = (visit: Visit<State>, plan: Plan<State>, reply: Reply): MaybePromise<void> => {
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
    const { request } = visit.arrival;
    visit.plan = plans.recall(request) ?? draft(request);
  };

  const replyToVisit = (visit: Visit<State>): void => {
    visit.reply = visit.plan && replyTo(visit.plan);
  };

  const finishVisit = (visit: Visit<State>): void => {
    const { plan, reply } = visit;
    if (plan === undefined || reply === undefined) {
      handOn(visit);
      return;
    }
    const sent = andThen(reply, (made) => encodeAndSend(visit, plan, made));
    if (sent instanceof Promise) {
      sent.then(
        () => written(visit),
        () => handOn(visit),
      );
    } else {
      written(visit);
    }
  };

  // What an error means for a request, and whether it is logged, is up to the long way.
  const joinBatch = createBatches<Visit<State>>([planVisit, replyToVisit, finishVisit], handOn);

  const admitCounted = async (visit: Visit<State>): Promise<void> => {
    const { granted, headers } = await rateLimit.take(visit.arrival.request);
    if (granted) {
      visit.own = headers;
      joinBatch(visit);
    } else {
      handOn(visit);
    }
  };

  /** False if the request has to take the long way. */
  const admit = (arrival: Arrival): boolean => {
    const { request } = arrival;
    const choice = isRead(request) && !isStopping() ? encodings.recall(request) : undefined;
    if (choice === undefined) {
      return false;
    }
    const isCounted = rateLimit.counts(request);
    const visit = new Visit<State>(arrival, choice.encoding);
    inFlight.enter();
    if (isCounted) {
      admitCounted(visit).catch(() => handOn(visit));
    } else {
      joinBatch(visit);
    }
    return true;
  };

  return (arrival) => {
    let admitted = false;
    try {
      admitted = admit(arrival);
    } catch {
      // the long way reports and logs the error
    }
    if (!admitted) {
      arrival.takeLongWay();
    }
  };
};
