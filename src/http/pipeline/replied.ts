import type { IncomingMessage } from "node:http";
import type { Route, Scope } from "../route.js";
import type { RequestContext } from "./request-context.js";

/** A request that has been answered: for metrics and the access log. */
export interface Replied {
  readonly request: IncomingMessage;
  readonly id: string;
  /** Undefined if none was found. */
  readonly route: Route | undefined;
  readonly status: number;
  /** Bytes of the body as sent. */
  readonly bytes: number;
  /** Milliseconds from its arrival until its reply was handed to the connection, or until its stream had closed. */
  readonly ms: number;
  /** Whether its body was a stream. */
  readonly isStreamed: boolean;
  /** Milliseconds for which it held the event loop. */
  readonly work: number;
  /** Whether its reply came from the cache; undefined for replies that are not kept. */
  readonly isHit: boolean | undefined;
}

export const repliedOf = <State extends Scope>(context: RequestContext<State>): Replied => {
  const { transport, id, endpoint, status, bytes, since, isStreamed, worked, isHit } = context;
  const ms = performance.now() - since;
  const route = endpoint?.route;
  return { request: transport.request, id, route, status, bytes, ms, isStreamed, work: worked, isHit: endpoint?.cached === true ? isHit : undefined };
};
