import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FailureBody } from "./failure.js";

const seconds = 1000;

/** Longer than the pauses of clients that ask once a block, and than what proxies in front usually keep theirs open. */
const keepAliveTimeout = 75 * seconds;

const statusOf: Partial<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

const failureText = (status: number): string => {
  const error = STATUS_CODES[status] ?? "Error";
  const body: FailureBody = { statusCode: status, error, message: error };
  const json = JSON.stringify(body);
  return [
    `HTTP/1.1 ${status} ${error}`,
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(json)}`,
    "Connection: close",
    "",
    json,
  ].join("\r\n");
};

/** What is no HTTP, or too much of it, is told so in JSON like everything else. */
const refuse = (error: NodeJS.ErrnoException, socket: Socket): void => {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  socket.end(failureText(statusOf[error.code ?? ""] ?? 400));
};

/** A server of a listener, not yet listening. */
export const createJsonServer = (listener: (request: IncomingMessage, response: ServerResponse) => void): Server => {
  const server = createServer({ keepAliveTimeout, requireHostHeader: false }, listener);
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => refuse(error, socket));
  return server;
};
