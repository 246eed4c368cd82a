import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FailureBody } from "./failure.js";

const seconds = 1000;

/** Longer than the pauses of clients that poll once per block, and than proxies usually keep idle connections open. */
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

/** Answers malformed, oversized or overdue requests in JSON, like all others. */
const refuse = (error: NodeJS.ErrnoException, socket: Socket): void => {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  socket.end(failureText(statusOf[error.code ?? ""] ?? 400));
};

/** Makes a server for a listener, not yet listening. */
export const createJsonServer = (listener: (request: IncomingMessage, response: ServerResponse) => void): Server => {
  const server = createServer({ keepAliveTimeout, requireHostHeader: false }, listener);
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => refuse(error, socket));
  return server;
};
