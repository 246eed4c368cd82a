import type { MaybePromise } from "../../../types/chain-adapter.js";
import { andThen, isPromised } from "../../async/maybe-promise.js";
import { clientHas, headersOf304 } from "../reply/conditional-get.js";
import type { DefaultHeaders, HeaderPairs } from "../reply/default-headers.js";
import { createNegotiation } from "../reply/negotiate.js";
import type { Encoding, Reply, Variant } from "../reply/reply.js";
import type { Scope } from "../route.js";
import type { InFlight } from "./in-flight.js";
import type { RequestContext } from "./request-context.js";

export interface SendNeeds<State extends Scope> {
  defaultHeaders: DefaultHeaders;
  /** Version headers. */
  headersOf(context: RequestContext<State>): HeaderPairs;
  /** Makes the reply of a request that failed. */
  fail(context: RequestContext<State>, error: unknown): void;
  inFlight: InFlight;
  isStopping(): boolean;
}

/** Tells a client that the connection is about to end, so that it sends no further request on it that would be lost. */
const lastReply: HeaderPairs = ["Connection", "close"];

const variantOf = (reply: Reply, encoding: Encoding | undefined): MaybePromise<Variant> =>
  encoding === undefined || reply.encoded === undefined ? reply.plain : (reply.ready?.(encoding) ?? reply.encoded(encoding));

/** The last step of the ladder: sends the reply in the encoding that the client prefers, or 304 if it has it already. */
export const createSend = <State extends Scope>({ defaultHeaders, headersOf, fail, inFlight, isStopping }: SendNeeds<State>) => {
  const encodingOf = createNegotiation();

  /** Of a large reply, some may still have to be sent, at the pace of its client; in a Koa app, all of it, when other middleware is done. */
  const finish = ({ transport: { response } }: RequestContext<State>): void => {
    const isSent = response.writableEnded && (response.socket?.writableLength ?? 0) === 0;
    if (isSent) inFlight.leave();
    else inFlight.leaveOnceClosed(response);
  };

  const dispatch = (context: RequestContext<State>, { status }: Reply, variant: Variant): void => {
    const { transport, ownHeaders, id } = context;
    const { headers: asked } = transport.request;
    const isHad = clientHas(asked, variant);
    const headers = [...defaultHeaders.of(asked.origin), ...headersOf(context), ...(isHad ? headersOf304(variant) : variant.headers), ...ownHeaders];
    headers.push("X-Request-Id", id);
    if (isStopping()) headers.push(...lastReply);
    transport.send(isHad ? 304 : status, headers, isHad || status === 204 ? undefined : variant.bytes);
  };

  const sendReply = (context: RequestContext<State>): MaybePromise<void> => {
    const { reply, transport } = context;
    if (reply === undefined) throw new Error("No step made a reply.");
    const encoding = reply.encoded === undefined ? undefined : encodingOf(transport.request);
    return andThen(variantOf(reply, encoding), (variant) => dispatch(context, reply, variant));
  };

  const sendFailure = (context: RequestContext<State>, error: unknown): void => {
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
