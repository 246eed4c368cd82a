import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** The response that a connection is waiting for or sending; undefined if there is none. Node.js has no public name for it. */
export const underWay = (socket: Socket): ServerResponse | undefined => (socket as { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;

/** By connection: how many of its requests wait for the ones before them. */
const waiting = new WeakMap<Socket, number>();

/** Node.js resumes a connection by itself when a reply has been sent. */
const keepPaused = function (this: Socket): void {
  this.pause();
};

const join = (socket: Socket): void => {
  const others = waiting.get(socket) ?? 0;
  waiting.set(socket, others + 1);
  if (others > 0) return;
  socket.on("resume", keepPaused);
  socket.pause();
};

const leave = (socket: Socket): void => {
  const others = (waiting.get(socket) ?? 1) - 1;
  waiting.set(socket, others);
  if (others > 0) return;
  socket.off("resume", keepPaused);
  socket.resume();
};

/**
 * Undefined if a request can be answered at once. If it came in behind others on its connection (pipelining), a promise for its turn,
 * which stays pending if the connection is closed before. Thousands of requests may come in at once: answered at once, they would hold
 * up all other clients, and their replies would be kept until they can be sent. So no more is read meanwhile, either.
 */
export const turnOf = ({ socket }: IncomingMessage, response: ServerResponse): Promise<void> | undefined => {
  // Frameworks that call a listener without a connection never give the response one, and one that a host has sent itself gets none again.
  if (response.socket !== null || response.writableEnded || underWay(socket) === undefined) return undefined;
  join(socket);
  return new Promise((resolve) => {
    response.once("socket", () => {
      // After what other clients have asked: replies that can be sent without waiting would otherwise follow one another.
      setImmediate(() => {
        resolve();
        leave(socket);
      });
    });
  });
};
