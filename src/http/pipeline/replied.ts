import type { IncomingMessage } from "node:http";
import type { Logger } from "../../../types/node-context.js";
import { messageOf } from "../../errors.js";
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
  /** Milliseconds of those that it waited for what its client asked to wait for. */
  readonly waited: number;
  /** Whether its body was a stream. */
  readonly isStreamed: boolean;
  /** Milliseconds for which it held the event loop. */
  readonly work: number;
  /** Whether its reply came from the cache; undefined for replies that are not kept. */
  readonly isHit: boolean | undefined;
}

/** Of a request whose client has left before the reply: nginx's status for it. No reply has it. */
export const clientLeft = 499;

/** What a client got instead, where the server has refused what it was still sending. */
export type Refusal = Pick<Replied, "id" | "status" | "bytes">;

/** By requests that have been begun. */
export const refusals = new WeakMap<IncomingMessage, Refusal>();

export const repliedOf = <State extends Scope>(context: RequestContext<State>): Replied => {
  const { transport, id, endpoint, status, bytes, since, waited, isStreamed, worked, isHit } = context;
  const ms = performance.now() - since;
  const route = endpoint?.route;
  const replied = { request: transport.request, id, route, status, bytes, ms, waited, isStreamed, work: worked, isHit: endpoint?.cached === true ? isHit : undefined };
  return status === clientLeft ? { ...replied, ...refusals.get(transport.request) } : replied;
};

/** A request that was refused before it was one, and so has no route and took no time that could be told. */
export const repliedOfRefused = (request: IncomingMessage, refusal: Refusal): Replied => ({ request, ...refusal, route: undefined, ms: 0, waited: 0, isStreamed: false, work: 0, isHit: undefined });

/** What observes requests must not keep one from ending. */
export const guardedObserver = (onReply: ((replied: Replied) => void) | undefined, logger: Logger): ((replied: Replied) => void) | undefined =>
  onReply && ((replied) => {
    try {
      onReply(replied);
    } catch (error) {
      logger.error(`a request could not be logged: ${messageOf(error)}`);
    }
  });
