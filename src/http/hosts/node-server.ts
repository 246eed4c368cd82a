import { createServer, IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { ErrorCode } from "../../errors.js";
import { addressOf, createNetworks } from "../../net/addresses.js";
import type { EdgeOptions } from "../../options/options.js";
import { countedBy } from "../pipeline/rate-limit.js";
import { refusals, type Replied, repliedOfRefused, type RequestId } from "../pipeline/request-context.js";
import { reasonOf, refusal } from "../reply/error-reply.js";
import { underWay } from "./pipelining.js";

type ConnectionBounds = Pick<EdgeOptions, "maxConnections" | "rateLimit" | "trustedProxies">;

/** Connections that one address may have open, unless it is exempt. */
const mostOfAddress = 256;

/** Closes connections beyond the bounds as they come: each holds memory, whatever is sent on it. */
const boundConnections = (server: Server, bounds: ConnectionBounds): void => {
  const { maxConnections, rateLimit, trustedProxies } = bounds;
  server.maxConnections = maxConnections;
  const isExempt = createNetworks([...trustedProxies, ...(rateLimit === false ? [] : rateLimit.exempt)]);
  const open = new Map<string, number>();

  server.on("connection", (socket: Socket) => {
    const address = addressOf(socket.remoteAddress ?? "");
    if (address === undefined || isExempt(address)) return;
    const key = countedBy(address);
    const count = (open.get(key) ?? 0) + 1;
    if (count > mostOfAddress) {
      socket.destroy();
      return;
    }
    open.set(key, count);
    socket.once("close", () => {
      const left = (open.get(key) ?? 0) - 1;
      if (left > 0) open.set(key, left);
      else open.delete(key);
    });
  });
};

const seconds = 1000;

/** Longer than the pauses of clients that poll once per block, and than proxies usually keep idle connections open. */
const keepAliveTimeout = 75 * seconds;

/** For a request with its body to arrive. */
const requestTimeout = 60 * seconds;

/** Without anything sent or received, as by a client that has stopped reading. Longer than a host's pool should need for an answer. */
const idleTimeout = 120 * seconds;

const codeOf: Partial<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: "HEADERS_TOO_LARGE",
  ERR_HTTP_REQUEST_TIMEOUT: "REQUEST_TIMEOUT",
};

const lastReply = { Connection: "close" };

const textOf = ({ status, headers, json }: ReturnType<typeof refusal>): string => {
  const lines = Object.entries({ ...headers, ...lastReply }).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${reasonOf(status)}`, ...lines, "", json].join("\r\n");
};

/** Responses after which a request is going to be refused: what else is wrong with the connection meanwhile says nothing new. */
const refusedAfter = new WeakSet<ServerResponse>();

/**
 * Whether a connection is still sending the body of a request that has its reply. Node.js has no public name for the request that it reads.
 */
const isAnswered = (socket: Socket, earlier: ServerResponse | undefined): boolean => {
  const { parser } = socket as { parser?: { incoming?: IncomingMessage | null } | null };
  return parser?.incoming?.complete === false && (earlier === undefined || earlier.writableEnded);
};

/** What is refused: there may be no request yet. */
interface Refused {
  request?: IncomingMessage;
  requestId: RequestId;
  refused: ((replied: Replied) => void) | undefined;
}

/** Answers malformed, oversized or overdue requests in JSON, like all others. */
const refuse = (error: NodeJS.ErrnoException, socket: Socket, about: Refused): void => {
  // What seems overdue may have come long ago: it has not been read, as requests before it wait for their turn.
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT" && socket.isPaused()) return;
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const earlier = underWay(socket);
  if (isAnswered(socket, earlier)) {
    // One more reply would be taken for that to the next request.
    socket.end();
    return;
  }
  // Where that is the answer to a request that breaks off, there will be none.
  if (earlier?.req.complete === true) {
    // What was asked before on the connection is answered first.
    if (!refusedAfter.has(earlier)) earlier.once("finish", () => refuse(error, socket, about));
    refusedAfter.add(earlier);
    return;
  }
  const id = about.requestId((about.request ?? earlier?.req)?.headers ?? {});
  const made = refusal(codeOf[error.code ?? ""] ?? "BAD_REQUEST", id);
  socket.end(textOf(made));
  const told = { id, status: made.status, bytes: made.bytes };
  if (earlier === undefined) about.refused?.(repliedOfRefused(about.request ?? new IncomingMessage(socket), told));
  // Its own steps end with it, and tell of it. A client that ends its side in the middle of a request has left.
  else if (error.code !== "HPE_INVALID_EOF_STATE") refusals.set(earlier.req, told);
};

interface ServerNeeds {
  requestId: RequestId;
  bounds: ConnectionBounds;
  /** Is told of each request that is refused before the listener has it. */
  refused?: ((replied: Replied) => void) | undefined;
}

/** Makes a server for a listener, not yet listening. */
export const createJsonServer = (listener: RequestListener, { requestId, bounds, refused }: ServerNeeds): Server => {
  const server = createServer({ keepAliveTimeout, requestTimeout, requireHostHeader: false }, listener);
  boundConnections(server, bounds);
  server.setTimeout(idleTimeout);
  // A client that sends no more still waits for replies: Node.js would drop those that are not ready by then. It has no public name for
  // this.
  (server as { httpAllowHalfOpen?: boolean }).httpAllowHalfOpen = true;
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => refuse(error, socket, { requestId, refused }));
  // `Expect` names anything but `100-continue`.
  server.on("checkExpectation", (request, response) => {
    const id = requestId(request.headers);
    const { status, headers, json, bytes } = refusal("EXPECTATION_FAILED", id);
    response.writeHead(status, { ...headers, ...lastReply }).end(json);
    refused?.(repliedOfRefused(request, { id, status, bytes: request.method === "HEAD" ? 0 : bytes }));
  });
  server.on("connect", (request, socket: Socket) => {
    // Node.js has let go of it: neither the time limits nor the end of the server would close it.
    const close = (): void => void socket.destroy();
    socket.on("error", close).on("timeout", close).on("finish", close).resume();
    refuse(new Error("this is no proxy"), socket, { request, requestId, refused });
  });
  return server;
};
