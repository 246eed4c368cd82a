import type { ServerResponse } from "node:http";
import { createOpenCount, type OpenCount } from "../../async/open-count.js";

/** Counts the requests being answered. */
export interface InFlight extends OpenCount {
  /** Leaves when the response has been sent, or its connection closed. To listen to each would cost a third as much again as a ready reply. */
  leaveOnceClosed(response: ServerResponse): void;
}

/** Whether the event `close` has been emitted and will not come any more. A response of HTTP/2 has no `closed`. */
export const isClosed = (response: ServerResponse & { stream?: { destroyed?: boolean } }): boolean =>
  response.closed || response.stream?.destroyed === true;

/** Calls `then` when the response has closed: at once if the client has left already. */
export const onceClosed = (response: ServerResponse, then: () => void): void => {
  if (isClosed(response)) then();
  else response.once("close", then);
};

/** Calls `then` when the client ends its side of the connection, which may stay open all the same. Returns what ends the watch. */
export const onceEnded = ({ socket }: ServerResponse, then: () => void): (() => void) => {
  if (socket?.readableEnded !== false) return () => undefined;
  socket.once("end", then);
  return () => socket.off("end", then);
};

/** A signal that aborts when the client has left, or ends its side of the connection: most that do have left. `forget` ends the watch. */
export const watchLeaving = (response: ServerResponse): { signal: AbortSignal; forget(): void } => {
  const leaving = new AbortController();
  const left = (): void => leaving.abort();
  const forget = onceEnded(response, left);
  if (response.socket?.readableEnded === true) left();
  onceClosed(response, left);
  return {
    signal: leaving.signal,
    forget: () => {
      forget();
      response.off("close", left);
    },
  };
};

export const createInFlight = (): InFlight => {
  const open = createOpenCount();
  return Object.assign(open, { leaveOnceClosed: (response: ServerResponse) => onceClosed(response, open.leave) });
};
