import { AsyncResource } from "node:async_hooks";
import type { MaybePromise } from "../../../types/chain-adapter.js";
import { loopShare, metered } from "../../async/loop-share.js";
import { andThen, isPromised } from "../../async/maybe-promise.js";
import { createOpenCount, type OpenCount } from "../../async/open-count.js";
import { messageOf, type PorticoError } from "../../errors.js";
import type { EdgeOptions } from "../../options/options.js";
import { failureReply, porticoErrorOf } from "../reply/error-reply.js";
import { createDefaultHeaders, createVersionHeaders } from "../reply/reply.js";
import { createResponseCache } from "../response-cache.js";
import type { Scope } from "../route.js";
import type { Locate } from "../routing/router.js";
import { createAnswers, createLookUps, createSend } from "./answer.js";
import type { Endpoint } from "./endpoint.js";
import { createChecks, createMatch } from "./match.js";
import { createRateLimit } from "./rate-limit.js";
import {
  type Ladder,
  type LadderNeeds,
  type ParsedRequest,
  type Replied,
  repliedOf,
  RequestContext,
  type RequestId,
  type Step,
  type Transport,
} from "./request-context.js";
import { createStreams, type Streams } from "./streams.js";

interface HandlerNeeds<State extends Scope> {
  needs: LadderNeeds<State>;
  routing: Locate<Endpoint<State>>;
  requestId: RequestId;
  /** Is told of every request when it has been answered. It must not throw. */
  observe: ((replied: Replied) => void) | undefined;
}

interface Handler {
  /** Answers a request. */
  handle(transport: Transport): void;
  /** The requests that are being answered. */
  readonly inFlight: OpenCount;
  readonly streams: Streams;
  /** Bytes of the replies that are kept. */
  readonly cached: number;
}

/** A part of the work on an item. It must not throw or reject. */
export type Stage<Item> = (item: Item) => MaybePromise<void>;

/** Takes an item through the stages from `from` on. */
const goOn = async <Item>(stages: readonly Stage<Item>[], item: Item, from: number): Promise<void> => {
  for (const stage of stages.slice(from)) await stage(item);
};

/** Items in a batch at the most: enough for the gain, and few enough that the first one does not wait long for the last one. */
const largest = 32;

/** An item, and the asynchronous context in which it came. */
class Waiting<Item> extends AsyncResource {
  readonly item: Item;

  constructor(item: Item) {
    super("PorticoRequest");
    this.item = item;
  }
}

/**
 * Returns a function that takes an item through the stages. Items that come within one turn of the event loop go through in micro-batches,
 * each stage for all of a batch before the next: done one by one, an item finds the processor's caches full of what other stages needed,
 * and takes about 1.5 times as long. An item for which something has to be awaited goes on alone.
 */
export const createBatches = <Item>(stages: readonly Stage<Item>[]): ((item: Item) => void) => {
  const waiting: Waiting<Item>[] = [];

  /** Whether the item goes on to the next stage with its batch. */
  const passes = ({ item }: Waiting<Item>, at: number): boolean => {
    try {
      const done = stages[at]?.(item);
      if (!isPromised(done)) return true;
      void done.then(() => goOn(stages, item, at + 1));
    } catch (error) {
      // A stage that throws is a mistake of ours, which is not to hold up the others of the batch.
      queueMicrotask(() => {
        throw error;
      });
    }
    return false;
  };

  const run = (): void => {
    let batch = waiting.splice(0, largest);
    for (const at of stages.keys()) {
      batch = batch.filter((one) => one.runInAsyncScope(passes, undefined, one, at));
    }
  };

  return (item) => {
    // All batches of a turn follow one another before anything else is received: servers end connections whose clients have ended theirs.
    if (waiting.length % largest === 0) {
      setImmediate(run);
    }
    waiting.push(new Waiting(item));
  };
};

/**
 * Takes one step after another, until there is a reply; synchronously as far as nothing has to be awaited. `fail` makes the reply of an
 * error.
 */
const createClimb = <State extends Scope>(fail: (context: RequestContext<State>, error: unknown) => void) => {
  const go = (context: RequestContext<State>, steps: readonly Step<State>[]): MaybePromise<void> => {
    for (const [index, step] of steps.entries()) {
      if (context.reply !== undefined) return;
      try {
        const done = step(context);
        if (isPromised(done)) {
          return Promise.resolve(done).then(
            () => climb(context, steps.slice(index + 1)),
            (error: unknown) => fail(context, error),
          );
        }
      } catch (error) {
        fail(context, error);
      }
    }
  };
  const climb: typeof go = (context, steps) => metered(context, () => go(context, steps));
  return climb;
};

const detailOf = (error: PorticoError): string =>
  error.cause instanceof Error ? (error.cause.stack ?? error.cause.message) : (error.stack ?? error.message);

/** Makes the reply of a request that failed, and tells of what is not the client's doing. */
const createFail =
  <State extends Scope>({ damaged, logger }: LadderNeeds<State>, versionOf: ReturnType<typeof createMatch<State>>["versionOf"]) =>
  (context: RequestContext<State>, thrown: unknown): void => {
    const error = porticoErrorOf(thrown);
    if (error.code === "RECORD_DAMAGED") damaged?.(error.message);
    if (!error.exposed) {
      const { method, url } = context.transport.request;
      logger.error(`Request ${context.id}, ${method} ${JSON.stringify(url)}, failed: ${detailOf(error)}`);
    }
    context.reply = failureReply(error, { ...versionOf(context), height: context.height });
  };

/** What the steps share. */
const createLadder = <State extends Scope>(
  options: EdgeOptions,
  needs: LadderNeeds<State>,
  routing: Locate<Endpoint<State>>,
): Ladder<State> => {
  const defaultHeaders = createDefaultHeaders(options);
  return {
    needs,
    options,
    routing,
    cache: createResponseCache<ParsedRequest<State>>(options.cacheSize),
    rateLimit: createRateLimit(options),
    defaultHeaders,
    versionHeaders: createVersionHeaders({ byEncoding: options.compression !== false, byOrigin: defaultHeaders.byOrigin }),
    inFlight: createOpenCount(),
    streams: createStreams(needs),
    threshold: options.compression === false ? Infinity : options.compression.threshold,
    release: (state) => {
      // A state is the host's, and so may be what fails.
      try {
        state?.release?.();
      } catch (error) {
        needs.logger.error(`a snapshot of the chain could not be released: ${messageOf(error)}`);
      }
    },
  };
};

/**
 * Answers every request below the base path, on one ladder:
 *
 *     rate limit → match → authorize → parse → body → cache → state → ask → write → send
 *
 * No step is taken twice. The first that makes a reply is the last before it is sent: an error is a reply, too.
 */
export const createHandler = <State extends Scope>(
  options: EdgeOptions,
  { needs, routing, requestId, observe }: HandlerNeeds<State>,
): Handler => {
  type Context = RequestContext<State>;
  const ladder = createLadder(options, needs, routing);
  const { cache, inFlight, release, streams } = ladder;
  const { match, versionOf } = createMatch(ladder);
  const { limit, authorize, parse, readBody } = createChecks(ladder);
  const { lookUp, lookUpAtState } = createLookUps(ladder);
  const { openState, ask, write } = createAnswers(ladder);

  const fail = createFail(needs, versionOf);
  const climb = createClimb<State>(fail);
  const releaseState = (context: Context): void => {
    const { state } = context;
    context.state = undefined;
    release(state);
  };
  const send = createSend(ladder, {
    answered: observe && ((context) => observe(repliedOf(context))),
    headersOf: (context) => versionOf(context).headers,
    fail,
    release: releaseState,
  });
  const upToBody = [match, authorize, parse, readBody];
  const upToWrite = [lookUp, openState, lookUpAtState, ask, write];
  const answer = (context: Context): MaybePromise<void> =>
    andThen(climb(context, upToWrite), () => {
      if (context.reply?.stream?.keepsState !== true) releaseState(context);
    });
  const run = createBatches<Context>([
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
      const context = new RequestContext<State>(transport, requestId(transport.request.headers));
      inFlight.enter();
      void andThen(climb(context, [limit]), () => run(context));
    },
  };
};
