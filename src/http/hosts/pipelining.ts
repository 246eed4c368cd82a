import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { MaybePromise } from "../../../types/chain-adapter.js";

/** The response that a connection is waiting for or sending; undefined if there is none. Node.js has no public name for it. */
export const underWay = (socket: Socket | null): ServerResponse | undefined =>
  (socket as { _httpMessage?: ServerResponse | null } | null)?._httpMessage ?? undefined;

/** By connection: how to give up each of its requests that wait for the ones before them. */
const waiting = new WeakMap<Socket, Set<() => void>>();

/**
 * Requests behind others on their connections that go on in one round of the event loop: a thousand at a time would hold up all other
 * clients. Counted, not timed in the loop's share: they are answered once the promise of their turn has come true, which is after it could
 * be timed.
 */
const atATime = 16;
const goingOn: (() => void)[] = [];

const goOn = (): void => {
  const some = goingOn.splice(0, atATime);
  if (goingOn.length > 0) setImmediate(goOn);
  some.forEach((next) => next());
};

/** After what other clients have asked: replies that can be sent without waiting would otherwise follow one another. */
const afterOthers = (next: () => void): void => {
  if (goingOn.push(next) === 1) setImmediate(goOn);
};

/** Node.js resumes a connection by itself when a reply has been sent. */
const keepPaused = function (this: Socket): void {
  this.pause();
};

const giveUpAll = function (this: Socket): void {
  for (const giveUp of waiting.get(this) ?? []) giveUp();
};

const join = (socket: Socket, giveUp: () => void): void => {
  const others = waiting.get(socket) ?? new Set();
  waiting.set(socket, others.add(giveUp));
  if (others.size > 1) return;
  socket.on("resume", keepPaused).on("close", giveUpAll);
  socket.pause();
};

const leave = (socket: Socket, giveUp: () => void): void => {
  const others = waiting.get(socket);
  others?.delete(giveUp);
  if (others === undefined || others.size > 0) return;
  socket.off("resume", keepPaused).off("close", giveUpAll);
  socket.resume();
  // For a connection that has been upgraded meanwhile, which Node.js reads on only after a read that has ended.
  socket.push("");
};

/**
 * Whether a request is to be answered: true at once, unless it came in behind others on its connection (pipelining). Then it is a promise
 * that comes true when it is its turn, or false if the connection is closed before. Thousands of requests may come in at once: answered
 * at once, they would hold up all other clients, and their replies would be kept until they can be sent. So no more is read meanwhile,
 * either.
 */
export const turnOf = ({ socket }: IncomingMessage, response: ServerResponse): MaybePromise<boolean> => {
  // Frameworks that call a listener without a connection never give the response one, and one that a host has sent itself gets none again.
  if (response.socket !== null || response.writableEnded || underWay(socket) === undefined) return true;
  if (socket.destroyed) return false;
  return new Promise((resolve) => {
    const giveUp = (): void => resolve(false);
    join(socket, giveUp);
    response.once("socket", () => {
      afterOthers(() => {
        resolve(true);
        leave(socket, giveUp);
      });
    });
  });
};
