import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { randomBytes } from "node:crypto";
import type { MaybePromise } from "../../../types/chain-adapter.js";
import type { Logger } from "../../../types/node-context.js";
import type { OpenCount } from "../../async/open-count.js";
import type { WorkMeter } from "../../async/loop-share.js";
import { messageOf } from "../../errors.js";
import type { EdgeOptions } from "../../options/options.js";
import type { BodyBounds } from "../input/body.js";
import type { DefaultHeaders, HeaderPairs, Reply, VersionHeaders } from "../reply/reply.js";
import type { CacheEntry, ResponseCache } from "../response-cache.js";
import type { Route, Scope } from "../route.js";
import type { Locate, Whereabouts } from "../routing/router.js";
import { formInHeaders, type Generation, versionInHeaders } from "../routing/version.js";
import type { Asked, Endpoint, RouteInput } from "./endpoint.js";
import type { Allowance, RateLimit } from "./rate-limit.js";
import type { BodyStream, Streams } from "./streams.js";

/** A request, and the way its reply goes out: at a listener or in a Koa app (http/hosts). */
export interface Transport {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Reads the JSON body; undefined if there is none. @throws PorticoError if it cannot be read */
  readBody(bounds?: BodyBounds): Promise<unknown>;
  /** Tells the host which route was found, with the parameters of its path. */
  matched?(route: Route, params: Readonly<Record<string, string>>): void;
  /** Sends the reply. `headers` may be changed. Throws only if the host has sent a reply of its own. */
  send(status: number, headers: string[], body: Buffer | BodyStream | undefined): void;
  /** Called instead of `send` if there is nothing to be sent any more. */
  abandon(error: unknown): void;
}

/** One request on its way through the ladder: what each step has found out. */
export class RequestContext<State extends Scope> implements WorkMeter {
  /** Milliseconds for which it has held the event loop so far. */
  worked = 0;
  /** What the rate limit has counted it as; undefined where it does not count. */
  allowance: Allowance | undefined;
  readonly transport: Transport;
  readonly id: string;
  /** Headers of this reply alone, besides those that the reply has for everybody. */
  readonly ownHeaders: string[] = [];
  /** Where the request leads; undefined until it has been matched, and for those whose parsed form is in the cache. */
  where: Whereabouts<Endpoint<State>> | undefined;
  endpoint: Endpoint<State> | undefined;
  /** What identifies the request in the cache; undefined for all but GET and HEAD. */
  key: string | undefined;
  entry: CacheEntry<ParsedRequest<State>> | undefined;
  parsed: ParsedRequest<State> | undefined;
  body: unknown;
  /** Open until the reply has been computed. */
  state: State | undefined;
  /** Height of the state that was opened. */
  height: number | undefined;
  answer: unknown;
  /** What is sent. Once it is there, no further step is taken. */
  reply: Reply | undefined;
  /** Milliseconds of `performance.now()` when it came. */
  readonly since = performance.now();
  /** Milliseconds that it has waited for what its client asked to wait for. */
  waited = 0;
  /** Whether the reply came from the cache. */
  isHit = false;
  /** As sent. */
  status = 0;
  bytes = 0;
  /** Whether the body goes on after the reply was begun. */
  isStreamed = false;

  constructor(transport: Transport, id: string) {
    this.transport = transport;
    this.id = id;
  }

  /** Counts the work as requests, and corrects what the headers say is left. To be called once, when the reply is about to be sent. */
  charge(): void {
    const charged = this.allowance?.charge(this.worked) ?? 0;
    const place = charged === 0 ? -1 : this.ownHeaders.indexOf("X-RateLimit-Remaining");
    if (place >= 0) this.ownHeaders[place + 1] = String(Math.max(0, Number(this.ownHeaders[place + 1]) - charged));
  }

  addHeaders(pairs: HeaderPairs): void {
    if (pairs.length > 0) this.ownHeaders.push(...pairs);
  }
}

/** What is safe to put into a header and a log line unchanged. */
const sane = /^[\w.:+/=-]{1,128}$/;

/** Gives a request its id: the one in its `X-Request-Id` if that is safe, otherwise the next one of this process. */
export type RequestId = (headers: IncomingHttpHeaders) => string;

export const createRequestIds = (): RequestId => {
  const process = randomBytes(6).toString("hex");
  let count = 0;
  return (headers) => {
    const given = headers["x-request-id"];
    if (typeof given === "string" && sane.test(given)) {
      return given;
    }
    count += 1;
    return `${process}-${count.toString(36)}`;
  };
};

/** A request matched, checked and parsed: all that its reply depends on besides the body and the state. Equal requests share it. */
export interface ParsedRequest<State extends Scope> {
  readonly endpoint: Endpoint<State>;
  readonly generation: Generation;
  readonly asked: Asked;
  readonly input: RouteInput;
  /** Version headers of every reply to it. */
  readonly headers: HeaderPairs;
}

export const isRead = ({ method }: IncomingMessage): boolean => method === "GET" || method === "HEAD";

/** Identifies a GET or HEAD request: the literal URL, and what the headers say of version and amounts, if anything. */
export const cacheKeyOf = ({ url = "", headers }: IncomingMessage): string => {
  const version = versionInHeaders(headers);
  const form = formInHeaders(headers);
  return version === 0 && form === undefined ? url : `${version} ${form ?? ""} ${url}`;
};

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
type Refusal = Pick<Replied, "id" | "status" | "bytes">;

/** By requests that have been begun. */
export const refusals = new WeakMap<IncomingMessage, Refusal>();

export const repliedOf = <State extends Scope>(context: RequestContext<State>): Replied => {
  const { transport, id, endpoint, status, bytes, since, waited, isStreamed, worked, isHit } = context;
  const ms = performance.now() - since;
  const route = endpoint?.route;
  const hit = endpoint?.cached === true ? isHit : undefined;
  const replied = { request: transport.request, id, route, status, bytes, ms, waited, isStreamed, work: worked, isHit: hit };
  return status === clientLeft ? { ...replied, ...refusals.get(transport.request) } : replied;
};

/** A request that was refused before it was one, and so has no route and took no time that could be told. */
export const repliedOfRefused = (request: IncomingMessage, refusal: Refusal): Replied => ({
  request,
  ...refusal,
  route: undefined,
  ms: 0,
  waited: 0,
  isStreamed: false,
  work: 0,
  isHit: undefined,
});

/** What observes requests must not keep one from ending. */
export const guardedObserver = (onReply: LadderNeeds<Scope>["onReply"], logger: Logger): typeof onReply =>
  onReply && ((replied) => {
    try {
      onReply(replied);
    } catch (error) {
      logger.error(`a request could not be logged: ${messageOf(error)}`);
    }
  });

/** A rung of the ladder. It may make the reply, or throw: an error is a reply, too. */
export type Step<State extends Scope> = (context: RequestContext<State>) => MaybePromise<void>;

/** What the ladder asks of whoever makes the edge. */
export interface LadderNeeds<State extends Scope> {
  /**
   * Opens the state from which one request is answered: at the tip, or at the block of this height or id. The edge releases it when the
   * reply has been computed. `readsNone`: for a route that is `stateless`: it may get a state without a tip, and has no need to wait for
   * one.
   */
  openState(at?: string, readsNone?: boolean): MaybePromise<State>;
  /**
   * Id of the tip that `openState` would find now, if that is known without waiting; cached replies are then sent without opening a
   * state. Returns undefined if it is not known.
   */
  tipId?: (() => string | undefined) | undefined;
  /** Once this returns true, every new request is refused with 503. */
  isStopping(): boolean;
  /** Whether the value of `Authorization` admits a client to the routes that are `authenticated`. Default: nobody is admitted. */
  authorize?: ((authorization: string | undefined) => MaybePromise<boolean>) | undefined;
  /** Told of a request that met a damaged record. */
  damaged?: ((reason: string) => void) | undefined;
  logger: Logger;
  /** Is told of every request when it has been answered. */
  onReply?: ((replied: Replied) => void) | undefined;
}

/** What the steps of the ladder share. */
export interface Ladder<State extends Scope> {
  readonly needs: LadderNeeds<State>;
  readonly options: EdgeOptions;
  readonly routing: Locate<Endpoint<State>>;
  readonly cache: ResponseCache<ParsedRequest<State>>;
  readonly rateLimit: RateLimit;
  readonly defaultHeaders: DefaultHeaders;
  readonly versionHeaders: VersionHeaders;
  readonly inFlight: OpenCount;
  readonly streams: Streams;
  /** Bytes from which on replies are available compressed. */
  readonly threshold: number;
  /** Lets go of a state. */
  release(state: State | undefined): void;
}
