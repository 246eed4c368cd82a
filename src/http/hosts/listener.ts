import Koa from "koa";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "../../../types/node-context.js";
import { andThen } from "../../async/maybe-promise.js";
import { messageOf, PorticoError } from "../../errors.js";
import type { BodyBounds, ReadBody } from "../input/body.js";
import type { Transport } from "../pipeline/request-context.js";
import type { BodyStream } from "../pipeline/streams.js";
import type { RequestId } from "../pipeline/request-id.js";
import { failureOf } from "../reply/error-reply.js";
import type { Chunk } from "../route.js";
import { isBelow, localTarget } from "../routing/resolve.js";
import { turnOf } from "./pipelining.js";

export type Listener = (request: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void) => void;

interface ListenerNeeds {
  basePath: string;
  handle(transport: Transport): void;
  readBody: ReadBody;
  requestId: RequestId;
  logger: Logger;
}

/** Answers a request outside the base path. */
const writeNotFound = (response: ServerResponse, id: string): void => {
  const { status, body } = failureOf(new PorticoError("NOT_FOUND"), { generation: undefined, failsAs: undefined });
  const json = JSON.stringify(body);
  const headers = { "Content-Type": "application/json; charset=utf-8", "Content-Length": Buffer.byteLength(json), "X-Request-Id": id };
  response.writeHead(status, headers).end(json);
};

/** The request's URL, and its `originalUrl` if there is one: frameworks that mount a listener at a prefix cut it off `url`. */
const targetsOf = ({ url = "", originalUrl }: IncomingMessage & { originalUrl?: unknown }): string[] =>
  [url, ...(typeof originalUrl === "string" ? [originalUrl] : [])].map(localTarget);

/**
 * Has the connection write what it was given at once. Node.js does so in its next tick, where it would be in nobody's share of the event loop. Up to version 24
 * it is the connection that holds it back. In 26 it is the response: if the connection alone is told to go on, the response's "drain" may never come (as in nodejs/node#60432).
 */
const handOver = (response: ServerResponse): void => {
  if (response.writableCorked > 0) response.uncork();
  else response.socket?.uncork();
};

/**
 * Makes a listener for `http.createServer` or a framework: requests outside the base path go to `next`, or get 404 without one. Replies
 * are written to the response at once.
 */
export const createListener = ({ basePath, handle, readBody, requestId, logger }: ListenerNeeds): Listener => {
  // What reads bodies is made for Koa.
  const koa = new Koa();

  class ListenerTransport implements Transport {
    readonly request: IncomingMessage;
    readonly response: ServerResponse;

    constructor(request: IncomingMessage, response: ServerResponse) {
      this.request = request;
      this.response = response;
    }

    readBody(bounds?: BodyBounds): Promise<unknown> {
      return readBody(koa.createContext(this.request, this.response), bounds);
    }

    send(status: number, headers: string[], body: Buffer | BodyStream | undefined): void {
      if (body !== undefined && !Buffer.isBuffer(body)) {
        const { response } = this;
        // Clients wait for the head before there is anything to tell them.
        response.writeHead(status, headers).flushHeaders();
        let drained = false;
        response.on("drain", () => {
          drained = true;
          body.resume();
        });
        const write = (chunk: Chunk): boolean => {
          drained = false;
          const hasRoom = response.write(chunk);
          handOver(response);
          // What `write` said does not hold where "drain" has been told meanwhile: by Node.js 26, in this very call.
          return hasRoom || drained;
        };
        body.to({ write, end: () => void response.end() });
        return;
      }
      if (body !== undefined) headers.push("Content-Length", String(body.length));
      this.response.writeHead(status, headers).end(this.request.method === "HEAD" ? undefined : body);
    }

    abandon(error: unknown): void {
      logger.debug(`A reply could not be sent: ${messageOf(error)}`);
      // A reply of the host's own is sent to its end.
      if (!this.response.headersSent) this.response.destroy();
    }
  }

  return (request, response, next) => {
    const target = targetsOf(request).find((candidate) => isBelow(candidate, basePath));
    if (target !== undefined) {
      request.url = target;
      void andThen(turnOf(request, response), (isTurn) => {
        if (isTurn) handle(new ListenerTransport(request, response));
      });
    } else if (next !== undefined) {
      next();
    } else {
      writeNotFound(response, requestId(request.headers));
    }
  };
};
