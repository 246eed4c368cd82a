import type { ServerResponse } from "node:http";
import type { MaybePromise } from "../../../types/chain-adapter.js";
import { andThen, isPromised } from "../../async/maybe-promise.js";
import { PorticoError } from "../../errors.js";
import { bodyReply, type BodyReplyNeeds, withOwn } from "../reply/body-reply.js";
import { type LongJson, longReply } from "../reply/json-writer.js";
import {
  clientHas,
  createReply,
  type Encoding,
  encodingFor,
  type HeaderPairs,
  headersOf304,
  immutable,
  type Reply,
  type ReplyFacts,
  type Variant,
} from "../reply/reply.js";
import type { BodyAnswer, Route, Scope } from "../route.js";
import type { Asked, Endpoint, RouteInput } from "./endpoint.js";
import { type BodyStream, isClosed, onceClosed, watchLeaving } from "./streams.js";
import { clientLeft, type Ladder, type ParsedRequest, type RequestContext, type Step } from "./request-context.js";

const cacheControlOf = ({ authenticated, hasHostParts }: Route, isFinal: boolean): ReplyFacts["cacheControl"] => {
  if (authenticated === true) return "no-store";
  // The host may have other settings after a restart.
  return isFinal && hasHostParts !== true ? immutable : "no-cache";
};

/** Whether `at` is a time: heights and ids have no dash. */
const isTime = (at: string | undefined): boolean => at?.includes("-") === true;

/** The request as links repeat it: the block in the place of a time, which another block may be the last before. */
const atHeight = (asked: Asked, height: number | undefined): Asked => ({
  ...asked,
  pairs: asked.pairs.map(([name, value]) => [name, name === "at" ? String(height) : value]),
});

/** `isKept`: whether the reply may be kept, by this request or an equal one. */
const createWriter =
  <State extends Scope>(threshold: number) =>
  ({ endpoint, input, asked }: ParsedRequest<State>, answer: unknown, state: State, isKept: boolean): Reply => {
    const { status, json } = endpoint.write(answer, input, isTime(input.at) ? atHeight(asked, state.height) : asked);
    const facts: Omit<ReplyFacts, "json"> = {
      status,
      height: state.height ?? state.tip?.height,
      validated: endpoint.cached,
      cacheControl: cacheControlOf(endpoint.route, state.isFinal === true),
      lasting: isKept && endpoint.cached,
    };
    // What is spread comes last: the other way round, V8 keeps a hidden class of each until a full collection
    // (`npm run test:long -- garbage`).
    return typeof json === "string" ? createReply({ json, ...facts }, threshold) : longReply(facts, json);
  };

/** The tip for which a reply is kept. One that reads no state is the same where none is open. */
const tipOf = <State extends Scope>({ route }: Endpoint<State>, { tip }: State): string | undefined =>
  tip?.id ?? (route.stateless === true ? "" : undefined);

/** The steps that look a reply up in the cache: before a state is opened, if the tip is known, and for the tip of the state. */
export const createLookUps = <State extends Scope>({ cache, needs: { tipId } }: Ladder<State>) => {
  const lookUp: Step<State> = (context) => {
    const { entry, endpoint } = context;
    const tip = entry !== undefined && endpoint?.cached === true ? tipId?.() : undefined;
    if (entry !== undefined && tip !== undefined) context.reply = cache.replyAt(entry, tip);
    context.isHit = context.reply !== undefined;
  };

  /** At the tip of the state, an equal request may also be waiting for its answer. */
  const lookUpAtState: Step<State> = (context) => {
    const { entry, endpoint, key, state } = context;
    if (endpoint?.cached !== true || key === undefined || state === undefined) return;
    const id = tipOf(endpoint, state);
    if (id === undefined) return;
    if (entry !== undefined) context.reply = cache.replyAt(entry, id);
    context.isHit = context.reply !== undefined;
    if (context.isHit) return;
    return cache.pending(key, id)?.then((reply) => {
      context.reply = reply;
      if (entry !== undefined) cache.keep(entry, id, reply);
    });
  };

  return { lookUp, lookUpAtState };
};

const textOf = (json: string | LongJson): string => (typeof json === "string" ? json : [...json.pieces()].join(""));

/** What its route is asked with, where this request has more than those that equal it: a body, headers, or a client that may leave. */
const ownInput = <State extends Scope>(context: RequestContext<State>, input: RouteInput): RouteInput => {
  const { params, query, page, prefix, versioned, at } = input;
  const { body, transport } = context;
  return { params, query, page, prefix, versioned, at, body, headers: transport.request.headers };
};

/**
 * Long-poll routes release the state while they wait, as an open snapshot keeps LMDB from reusing freed pages, and stop when the client
 * disconnects. The reply, also where it is an error, has the height of when it is made.
 */
const createAskWaiting =
  <State extends Scope>(openOne: Step<State>, release: (state: State) => void) =>
  async (context: RequestContext<State>, { endpoint, input }: ParsedRequest<State>, state: State): Promise<unknown> => {
    const leaving = watchLeaving(context.transport.response);
    const asked = ownInput(context, input);
    asked.left = leaving.signal;
    asked.waited = (milliseconds) => (context.waited += milliseconds);
    context.state = undefined;
    release(state);
    try {
      return await endpoint.ask(asked, state);
    } finally {
      leaving.forget();
      await openOne(context);
    }
  };

/** For a route that makes its body itself. */
const createAskBody =
  <State extends Scope>(threshold: number) =>
  (context: RequestContext<State>, { endpoint, input, asked }: ParsedRequest<State>, state: State): MaybePromise<void> => {
    const { height, transport } = context;
    const { headers, method } = transport.request;
    const own = ownInput(context, input);
    own.json = (value) => textOf(endpoint.write(value, input, asked).json);
    const bodyNeeds: BodyReplyNeeds = {
      // Ranges are for GET alone (RFC 9110, 14.2).
      asked: method === "GET" ? headers : { ...headers, range: undefined },
      height: endpoint.route.stateless === true ? undefined : height,
      threshold,
      addHeaders: (pairs) => context.addHeaders(pairs),
    };
    return andThen(endpoint.ask(own, state), (answer) =>
      andThen(bodyReply(answer as BodyAnswer, bodyNeeds), (made) => {
        context.reply = made;
      }),
    );
  };

/** The steps that compute a reply from a state. */
export const createAnswers = <State extends Scope>({ cache, needs, release, threshold }: Ladder<State>) => {
  const writeReply = createWriter<State>(threshold);

  const openOne: Step<State> = (context) => {
    const at = context.parsed?.input.at;
    const isStateless = context.endpoint?.route.stateless === true;
    return andThen(needs.openState(at, isStateless), (state) => {
      context.state = state;
      context.height = state.height ?? state.tip?.height;
      if (state.tip === undefined && !isStateless) throw new PorticoError("NOT_READY");
    });
  };

  const reply = (context: RequestContext<State>, parsed: ParsedRequest<State>, state: State, answer: unknown): Reply => {
    const { entry } = context;
    const made = writeReply(parsed, answer, state, entry !== undefined);
    const id = entry === undefined || !parsed.endpoint.cached ? undefined : tipOf(parsed.endpoint, state);
    if (entry !== undefined && id !== undefined) cache.keep(entry, id, made);
    return (context.reply = made);
  };

  const askBody = createAskBody<State>(threshold);
  const askWaiting = createAskWaiting(openOne, release);

  const ask: Step<State> = (context) => {
    const { parsed, state, body, key } = context;
    if (parsed === undefined || state === undefined) return;
    const { endpoint, input } = parsed;
    const { route } = endpoint;
    if (route.kind === "body") return askBody(context, parsed, state);
    const isWaiting = route.kind === "item" && route.waits === true;
    const own = body === undefined ? input : ownInput(context, input);
    const answer = isWaiting ? askWaiting(context, parsed, state) : endpoint.ask(own, state);
    if (!isPromised(answer)) {
      context.answer = answer;
      return;
    }
    const made = Promise.resolve(answer).then((late) => reply(context, parsed, context.state ?? state, late));
    if (key !== undefined && state.tip !== undefined && endpoint.cached) cache.share(key, state.tip.id, made);
    return made.then(() => undefined);
  };

  const write: Step<State> = (context) => {
    const { parsed, state, answer } = context;
    if (parsed !== undefined && state !== undefined) reply(context, parsed, state, answer);
  };

  return { openState: openOne, ask, write };
};

interface SendNeeds<State extends Scope> {
  /** Version headers. */
  headersOf(context: RequestContext<State>): HeaderPairs;
  /** Makes the reply of a request that failed. */
  fail(context: RequestContext<State>, error: unknown): void;
  /** Releases the state of a request, if it is still open. */
  release(context: RequestContext<State>): void;
  /** Is told of a request when its reply has been handed to the connection; of one whose body is a stream, when the response has closed. */
  answered: ((context: RequestContext<State>) => void) | undefined;
}

/** Tells a client that the connection is about to end, so that it sends no further request on it that would be lost. */
const lastReply: HeaderPairs = ["Connection", "close"];

const variantOf = (reply: Reply, encoding: Encoding | undefined): MaybePromise<Variant> =>
  encoding === undefined || reply.encoded === undefined ? reply.plain : reply.encoded(encoding);

/**
 * Whether a reply reaches nobody: the client has left, or was refused what it was still sending, after which nothing is written any more.
 */
const isLost = (response: ServerResponse): boolean => isClosed(response) || response.socket?.writableEnded === true;

/** Hands status, headers and body to the transport. */
const createDispatch = <State extends Scope>(ladder: Ladder<State>, { headersOf, release, answered }: SendNeeds<State>) => {
  const { defaultHeaders, streams, options } = ladder;

  /** The body of a stream, which is not begun if nobody would see it. */
  const openStream = (context: RequestContext<State>, { stream }: Reply, headers: string[], isHad: boolean): BodyStream | undefined => {
    const { transport } = context;
    if (stream === undefined || isHad) return undefined;
    // Here, and not before: several requests may be on their way at once. HEAD is answered as GET would be.
    if (stream.endless && streams.endless >= options.maxStreams) throw new PorticoError("STREAMS_FULL");
    if (stream.length !== undefined) headers.push("Content-Length", String(stream.length));
    if (transport.request.method === "HEAD") return undefined;
    const body = streams.open(stream, transport.response, () => release(context));
    context.isStreamed = true;
    if (answered === undefined) return body;
    onceClosed(transport.response, () => {
      context.bytes = body.produced;
      answered(context);
    });
    return body;
  };

  return (context: RequestContext<State>, reply: Reply, variant: Variant): void => {
    const { transport, ownHeaders, id } = context;
    const { headers: asked } = transport.request;
    const isHad = clientHas(asked, variant);
    const general = [...defaultHeaders.of(asked.origin), ...headersOf(context)];
    const own = isHad ? headersOf304(variant) : variant.headers;
    const headers = reply.hasOwnHeaders === true ? withOwn(general, own) : [...general, ...own];
    headers.push(...ownHeaders, "X-Request-Id", id);
    if (ladder.needs.isStopping()) headers.push(...lastReply);
    const status = isHad ? 304 : reply.status;
    const isGone = isLost(transport.response);
    context.status = isGone ? clientLeft : status;
    if (reply.stream === undefined) {
      const bytes = isHad || reply.status === 204 ? undefined : variant.bytes;
      if (transport.request.method !== "HEAD" && !isGone) context.bytes = bytes?.length ?? 0;
      transport.send(status, headers, bytes);
      return;
    }
    const body = openStream(context, reply, headers, isHad);
    if (body === undefined) release(context);
    transport.send(status, headers, body);
  };
};

/** The last step of the ladder: sends the reply in the encoding that the client prefers, or 304 if it has it already. */
export const createSend = <State extends Scope>(ladder: Ladder<State>, needs: SendNeeds<State>) => {
  const { inFlight } = ladder;
  const { fail, release, answered } = needs;
  const dispatch = createDispatch(ladder, needs);

  /**
   * Of a large reply, some may still have to be sent, at the pace of its client; in a Koa app, all of it, when other middleware is done.
   */
  const finish = (context: RequestContext<State>): void => {
    const { response } = context.transport;
    if (!context.isStreamed) answered?.(context);
    const isSent = response.writableEnded && (response.socket?.writableLength ?? 0) === 0;
    if (isSent) inFlight.leave();
    // To listen to each would cost a third as much again as a ready reply.
    else onceClosed(response, inFlight.leave);
  };

  const sendReply = (context: RequestContext<State>): MaybePromise<void> => {
    const { reply, transport } = context;
    if (reply === undefined) throw new Error("No step made a reply.");
    const encoding = reply.encoded === undefined ? undefined : encodingFor(transport.request);
    return andThen(variantOf(reply, encoding), (variant) => dispatch(context, reply, variant));
  };

  const sendFailure = (context: RequestContext<State>, error: unknown): void => {
    release(context);
    try {
      // Headers that cannot be sent any more belong to a reply that is not ours.
      if (context.transport.response.headersSent) throw error;
      fail(context, error);
      if (context.reply !== undefined) dispatch(context, context.reply, context.reply.plain);
    } catch (failure) {
      context.transport.abandon(failure);
    }
  };

  return (context: RequestContext<State>): MaybePromise<void> => {
    try {
      const sent = sendReply(context);
      if (!isPromised(sent)) return finish(context);
      return sent.catch((error: unknown) => sendFailure(context, error)).then(() => finish(context));
    } catch (error) {
      sendFailure(context, error);
      finish(context);
    }
  };
};
