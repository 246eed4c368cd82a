import type { ServerResponse } from "node:http";
import type { MaybePromise } from "../../../types/chain-adapter.js";
import { andThen, isPromised } from "../../async/maybe-promise.js";
import { PorticoError } from "../../errors.js";
import { withOwn } from "../reply/body-reply.js";
import { clientHas, createNegotiation, headersOf304 } from "../reply/conditional-get.js";
import type { DefaultHeaders, HeaderPairs } from "../reply/default-headers.js";
import type { Encoding, Reply, Variant } from "../reply/reply.js";
import type { Scope } from "../route.js";
import { type InFlight, isClosed, onceClosed } from "./in-flight.js";
import { clientLeft } from "./replied.js";
import type { RequestContext } from "./request-context.js";
import type { BodyStream, Streams } from "./streams.js";

interface SendNeeds<State extends Scope> {
  defaultHeaders: DefaultHeaders;
  /** Version headers. */
  headersOf(context: RequestContext<State>): HeaderPairs;
  /** Makes the reply of a request that failed. */
  fail(context: RequestContext<State>, error: unknown): void;
  inFlight: InFlight;
  streams: Streams;
  /** Endless streams that may be open at a time. */
  maxStreams: number;
  /** Releases the state of a request, if it is still open. */
  release(context: RequestContext<State>): void;
  isStopping(): boolean;
  /** Is told of a request when its reply has been handed to the connection; of one whose body is a stream, when the response has closed. */
  answered: ((context: RequestContext<State>) => void) | undefined;
}

/** Tells a client that the connection is about to end, so that it sends no further request on it that would be lost. */
const lastReply: HeaderPairs = ["Connection", "close"];

const variantOf = (reply: Reply, encoding: Encoding | undefined): MaybePromise<Variant> =>
  encoding === undefined || reply.encoded === undefined ? reply.plain : (reply.ready?.(encoding) ?? reply.encoded(encoding));

/** Whether a reply reaches nobody: the client has left, or was refused what it was still sending, after which nothing is written any more. */
const isLost = (response: ServerResponse): boolean => isClosed(response) || response.socket?.writableEnded === true;

/** Hands status, headers and body to the transport. */
const createDispatch = <State extends Scope>({ defaultHeaders, headersOf, streams, maxStreams, release, isStopping, answered }: SendNeeds<State>) => {
  /** The body of a stream, which is not begun if nobody would see it. */
  const openStream = (context: RequestContext<State>, { stream }: Reply, headers: string[], isHad: boolean): BodyStream | undefined => {
    const { transport } = context;
    if (stream === undefined || isHad) return undefined;
    // Here, and not before: several requests may be on their way at once. HEAD is answered as GET would be.
    if (stream.endless && streams.endless >= maxStreams) throw new PorticoError("STREAMS_FULL");
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
    if (isStopping()) headers.push(...lastReply);
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
export const createSend = <State extends Scope>(needs: SendNeeds<State>) => {
  const { fail, inFlight, release, answered } = needs;
  const encodingOf = createNegotiation();
  const dispatch = createDispatch(needs);

  /** Of a large reply, some may still have to be sent, at the pace of its client; in a Koa app, all of it, when other middleware is done. */
  const finish = (context: RequestContext<State>): void => {
    const { response } = context.transport;
    if (!context.isStreamed) answered?.(context);
    const isSent = response.writableEnded && (response.socket?.writableLength ?? 0) === 0;
    if (isSent) inFlight.leave();
    else inFlight.leaveOnceClosed(response);
  };

  const sendReply = (context: RequestContext<State>): MaybePromise<void> => {
    const { reply, transport } = context;
    if (reply === undefined) throw new Error("No step made a reply.");
    const encoding = reply.encoded === undefined ? undefined : encodingOf(transport.request);
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
