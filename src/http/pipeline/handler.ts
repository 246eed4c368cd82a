import type { MaybePromise } from "../../../types/chain-adapter.js";
import type { Logger } from "../../../types/node-context.js";
import { loopShare } from "../../async/loop-share.js";
import { andThen } from "../../async/maybe-promise.js";
import { messageOf, type PorticoError } from "../../errors.js";
import { createPrewarm } from "../cache/prewarm.js";
import { createResponseCache } from "../cache/response-cache.js";
import type { EdgeOptions } from "../edge-options.js";
import { createDefaultHeaders, createVersionHeaders } from "../reply/default-headers.js";
import { failureReply, porticoErrorOf } from "../reply/error-reply.js";
import type { Scope } from "../route.js";
import type { Locate } from "../routing/resolve.js";
import { createAnswers, createLookUps } from "./answer.js";
import { createChecks } from "./check.js";
import { createClimb, type Stage } from "./climb.js";
import type { Endpoint } from "./endpoint.js";
import { createInFlight, type InFlight } from "./in-flight.js";
import { createMatch } from "./match.js";
import type { ParsedRequest } from "./parsed-request.js";
import { createRateLimit } from "./rate-limit.js";
import { guardedObserver, type Replied, repliedOf } from "./replied.js";
import { RequestContext, type Transport } from "./request-context.js";
import type { RequestId } from "./request-id.js";
import { createSend } from "./send.js";
import { createStreams, type Streams } from "./streams.js";

interface HandlerNeeds<State extends Scope> extends Locate<Endpoint<State>> {
  openState(at?: string, readsNone?: boolean): MaybePromise<State>;
  tipId: (() => string | undefined) | undefined;
  isStopping(): boolean;
  requestId: RequestId;
  authorize(authorization: string | undefined): MaybePromise<boolean>;
  /** Told of a request that met a damaged record. */
  damaged?: ((reason: string) => void) | undefined;
  logger: Logger;
  /** Is told of every request when it has been answered. */
  onReply?: ((replied: Replied) => void) | undefined;
}

interface Handler<State extends Scope> {
  /** Answers a request. */
  handle(transport: Transport): void;
  /** Computes repeated replies from a state that is about to become current, and releases it. */
  prewarm(state: State): Promise<void>;
  readonly inFlight: InFlight;
  readonly streams: Streams;
  /** Bytes of the replies that are kept. */
  readonly cached: number;
}

/** Takes requests through the stages: one by one, or many at a time. */
type RunStages = <Item>(stages: readonly Stage<Item>[]) => (item: Item) => void;

/** Milliseconds for which a new state may be held back. */
const longestPrewarm = 25;

const detailOf = (error: PorticoError): string =>
  error.cause instanceof Error ? (error.cause.stack ?? error.cause.message) : (error.stack ?? error.message);

/** Makes the reply of a request that failed, and tells of what is not the client's doing. */
const createFail =
  <State extends Scope>({ damaged, logger }: HandlerNeeds<State>, versionOf: ReturnType<typeof createMatch<State>>["versionOf"]) =>
  (context: RequestContext<State>, thrown: unknown): void => {
    const error = porticoErrorOf(thrown);
    if (error.code === "RECORD_DAMAGED") damaged?.(error.message);
    if (!error.exposed) {
      const { method, url } = context.transport.request;
      logger.error(`Request ${context.id}, ${method} ${JSON.stringify(url)}, failed: ${detailOf(error)}`);
    }
    context.reply = failureReply(error, { ...versionOf(context), height: context.height });
  };

const createAnswered = <State extends Scope>({ onReply, logger }: HandlerNeeds<State>) => {
  const observe = guardedObserver(onReply, logger);
  return observe && ((context: RequestContext<State>): void => observe(repliedOf(context)));
};

/** A state is the host's, and so may be what fails. */
const createRelease =
  (logger: Logger) =>
  (state: Scope | undefined): void => {
    try {
      state?.release?.();
    } catch (error) {
      logger.error(`a snapshot of the chain could not be released: ${messageOf(error)}`);
    }
  };

/**
 * Answers every request below the base path, on one ladder:
 *
 *     rate limit → match → authorize → parse → body → cache → state → ask → write → send
 *
 * No step is taken twice. The first that makes a reply is the last before it is sent: an error is a reply, too.
 */
export const createHandler = <State extends Scope>(options: EdgeOptions, needs: HandlerNeeds<State>, inStages: RunStages): Handler<State> => {
  type Context = RequestContext<State>;
  const { isStopping, logger } = needs;
  const threshold = options.compression === false ? Infinity : options.compression.threshold;
  const defaultHeaders = createDefaultHeaders(options);
  const versionHeaders = createVersionHeaders({ byEncoding: options.compression !== false, byOrigin: defaultHeaders.byOrigin });
  const cache = createResponseCache<ParsedRequest<State>>(options.cacheSize);
  const inFlight = createInFlight();
  const streams = createStreams(needs);

  const { match, versionOf, isProbe } = createMatch<State>({ ...needs, ...options, cache, defaultHeaders, versionHeaders });
  const { limit, authorize, parse, readBody } = createChecks<State>({ ...needs, isProbe, rateLimit: createRateLimit(options), cache, versionHeaders });
  const { lookUp, lookUpAtState } = createLookUps<State>({ ...needs, cache });
  const release = createRelease(logger);
  const { openState, ask, write, writeReply } = createAnswers<State>({ ...needs, cache, threshold, release });

  const fail = createFail(needs, versionOf);
  const releaseState = (context: Context): void => {
    const { state } = context;
    context.state = undefined;
    release(state);
  };
  const releaseUnlessKept = (context: Context): void => {
    if (context.reply?.stream?.keepsState !== true) releaseState(context);
  };

  const climb = createClimb<State>(fail);
  const send = createSend<State>({ answered: createAnswered(needs), defaultHeaders, headersOf: (context) => versionOf(context).headers, fail, inFlight, streams, maxStreams: options.maxStreams, release: releaseState, isStopping });
  const upToBody = [match, authorize, parse, readBody];
  const upToWrite = [lookUp, openState, lookUpAtState, ask, write];
  const answer = (context: Context): MaybePromise<void> => andThen(climb(context, upToWrite), () => releaseUnlessKept(context));
  const run = inStages<Context>([
    (context) => climb(context, upToBody),
    // What has a body is mostly a search. Those that were parsed in one round would otherwise all be planned in one turn.
    (context) => (context.body === undefined ? answer(context) : loopShare.run(() => answer(context))),
    (context) => {
      context.charge();
      return send(context);
    },
  ]);

  return {
    inFlight,
    streams,
    get cached() {
      return cache.size;
    },
    handle: (transport) => {
      const context = new RequestContext<State>(transport, needs.requestId(transport.request.headers));
      inFlight.enter();
      void andThen(climb(context, [limit]), () => run(context));
    },
    prewarm: createPrewarm<ParsedRequest<State>, State>({
      cache,
      release,
      ask: ({ endpoint, input }, state) => endpoint.ask(input, state),
      write: (parsed, answer, state) => writeReply(parsed, answer, state, true),
      longest: longestPrewarm,
    }),
  };
};
