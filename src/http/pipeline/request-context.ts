import type { IncomingMessage, ServerResponse } from "node:http";
import type { WorkMeter } from "../../async/work-meter.js";
import type { CacheEntry } from "../cache/response-cache.js";
import type { BodyBounds } from "../input/body.js";
import type { HeaderPairs } from "../reply/default-headers.js";
import type { Reply } from "../reply/reply.js";
import type { Route, Scope } from "../route.js";
import type { Whereabouts } from "../routing/resolve.js";
import type { Endpoint } from "./endpoint.js";
import type { Allowance } from "./rate-limit.js";
import type { ParsedRequest } from "./parsed-request.js";
import type { BodyStream } from "./streams.js";

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
