import type { MaybePromise } from "../../../types/chain-adapter.js";
import { andThen, isPromised } from "../../async/maybe-promise.js";
import { PorticoError } from "../../errors.js";
import type { ResponseCache } from "../cache/response-cache.js";
import { bodyReply, type BodyReplyNeeds } from "../reply/body-reply.js";
import { longReply } from "../reply/long-json.js";
import { createReply, immutable, type Reply, type ReplyFacts } from "../reply/reply.js";
import type { BodyAnswer, Route, Scope } from "../route.js";
import type { Step } from "./climb.js";
import type { Endpoint } from "./endpoint.js";
import { watchLeaving } from "./in-flight.js";
import type { ParsedRequest } from "./parsed-request.js";
import type { RequestContext } from "./request-context.js";

interface AnswerNeeds<State extends Scope> {
  cache: ResponseCache<ParsedRequest<State>>;
  /** `at`: the block as of which it is to be, by height or id; undefined: the tip. `readsNone`: whether one without a tip will do. */
  openState(at?: string, readsNone?: boolean): MaybePromise<State>;
  tipId: (() => string | undefined) | undefined;
  /** Lets go of a state. */
  release(state: State): void;
  /** Bytes from which on replies are available compressed. */
  threshold: number;
}

const cacheControlOf = ({ authenticated, hasHostParts }: Route, isFinal: boolean): ReplyFacts["cacheControl"] => {
  if (authenticated === true) return "no-store";
  // The host may have other settings after a restart.
  return isFinal && hasHostParts !== true ? immutable : "no-cache";
};

/** `isKept`: whether the reply may be kept, by this request or an equal one. */
const createWriter =
  <State extends Scope>(threshold: number) =>
  ({ endpoint, input, asked }: ParsedRequest<State>, answer: unknown, state: State, isKept: boolean): Reply => {
    const { status, json } = endpoint.write(answer, input, asked);
    const facts: Omit<ReplyFacts, "json"> = {
      status,
      height: state.height ?? state.tip?.height,
      validated: endpoint.cached,
      cacheControl: cacheControlOf(endpoint.route, state.isFinal === true),
      lasting: isKept && endpoint.cached,
    };
    // What is spread comes last: the other way round, V8 keeps a hidden class of each until a full collection (`npm run test:long -- garbage`).
    return typeof json === "string" ? createReply({ json, ...facts }, threshold) : longReply(facts, json);
  };

/** The tip for which a reply is kept. One that reads no state is the same where none is open. */
const heldFor = <State extends Scope>({ route }: Endpoint<State>, { tip }: State): string | undefined => tip?.id ?? (route.stateless === true ? "" : undefined);

/** The steps that look a reply up in the cache: before a state is opened, if the tip is known, and for the tip of the state. */
export const createLookUps = <State extends Scope>({ cache, tipId }: Pick<AnswerNeeds<State>, "cache" | "tipId">) => {
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
    const id = heldFor(endpoint, state);
    if (id === undefined) return;
    if (entry !== undefined) context.reply = cache.replyAt(entry, id);
    context.isHit = context.reply !== undefined;
    if (context.isHit) return;
    return cache.pending(key, id)?.then((reply) => {
      context.reply = reply;
      if (entry === undefined) return;
      entry.slow = true;
      cache.keep(entry, id, reply);
    });
  };

  return { lookUp, lookUpAtState };
};

/**
 * For a route that may wait, and has nobody to wait for once its client has left. No state is held meanwhile: the store could not use pages again that
 * it has replaced since. The reply, also where it is an error, has the height of when it is made.
 */
const createAskWaiting =
  <State extends Scope>(openOne: Step<State>, release: (state: State) => void) =>
  async (context: RequestContext<State>, { endpoint, input }: ParsedRequest<State>, state: State): Promise<unknown> => {
    const { body, transport } = context;
    const { params, query, page, prefix, versioned, at } = input;
    const leaving = watchLeaving(transport.response);
    context.state = undefined;
    release(state);
    try {
      return await endpoint.ask({ params, query, page, body, prefix, versioned, at, headers: transport.request.headers, left: leaving.signal, waited: (milliseconds) => (context.waited += milliseconds) }, state);
    } finally {
      leaving.forget();
      await openOne(context);
    }
  };

/** The steps that compute a reply from a state. */
export const createAnswers = <State extends Scope>({ cache, openState, release, threshold }: Omit<AnswerNeeds<State>, "tipId">) => {
  const writeReply = createWriter<State>(threshold);

  const openOne: Step<State> = (context) => {
    const at = context.parsed?.input.at;
    // Nobody waits for a state that was: it is the same at the next tip.
    if (at !== undefined && context.entry !== undefined) context.entry.slow = true;
    const isStateless = context.endpoint?.route.stateless === true;
    return andThen(openState(at, isStateless), (state) => {
      context.state = state;
      context.height = state.height ?? state.tip?.height;
      if (state.tip === undefined && !isStateless) throw new PorticoError("NOT_READY");
    });
  };

  const reply = (context: RequestContext<State>, parsed: ParsedRequest<State>, state: State, answer: unknown): Reply => {
    const { entry } = context;
    const made = writeReply(parsed, answer, state, entry !== undefined);
    const id = entry === undefined || !parsed.endpoint.cached ? undefined : heldFor(parsed.endpoint, state);
    if (entry !== undefined && id !== undefined) cache.keep(entry, id, made);
    return (context.reply = made);
  };

  /** For a route that makes its body itself. */
  const askBody = (context: RequestContext<State>, { endpoint, input }: ParsedRequest<State>, state: State): MaybePromise<void> => {
    const { body, height, transport } = context;
    const { headers, method } = transport.request;
    // Ranges are for GET alone (RFC 9110, 14.2).
    const asked = method === "GET" ? headers : { ...headers, range: undefined };
    const needs: BodyReplyNeeds = { asked, height: endpoint.route.stateless === true ? undefined : height, threshold, addHeaders: (pairs) => context.addHeaders(pairs) };
    return andThen(endpoint.ask({ headers, ...input, body }, state), (answer) =>
      andThen(bodyReply(answer as BodyAnswer, needs), (made) => {
        context.reply = made;
      }),
    );
  };

  const askWaiting = createAskWaiting(openOne, release);

  const ask: Step<State> = (context) => {
    const { parsed, state, body, key, entry, transport } = context;
    if (parsed === undefined || state === undefined) return;
    const { endpoint } = parsed;
    if (endpoint.route.kind === "body") return askBody(context, parsed, state);
    const isWaiting = endpoint.route.kind === "item" && endpoint.route.waits === true;
    const answer = isWaiting ? askWaiting(context, parsed, state) : endpoint.ask(body === undefined ? parsed.input : { ...parsed.input, body, headers: transport.request.headers }, state);
    if (!isPromised(answer)) {
      context.answer = answer;
      return;
    }
    const made = Promise.resolve(answer).then((late) => reply(context, parsed, context.state ?? state, late));
    if (entry !== undefined) entry.slow = true;
    if (key !== undefined && state.tip !== undefined && endpoint.cached) cache.share(key, state.tip.id, made);
    return made.then(() => undefined);
  };

  const write: Step<State> = (context) => {
    const { parsed, state, answer } = context;
    if (parsed !== undefined && state !== undefined) reply(context, parsed, state, answer);
  };

  return { openState: openOne, ask, write, writeReply };
};
