import type { ServerResponse } from "node:http";

/** Counts the requests being answered, and tells when there are none. */
export interface InFlight {
  readonly count: number;
  enter(): void;
  /** Ends what `enter` began. */
  leave(): void;
  /** Leaves when the response has been sent, or its connection closed. To listen to each would cost a third as much again as a ready reply. */
  leaveOnceClosed(response: ServerResponse): void;
  /** Resolves as soon as no request is being answered. */
  none(): Promise<void>;
}

/** Whether the event `close` has been emitted and will not come any more. A response of HTTP/2 has no `closed`. */
const isClosed = (response: ServerResponse & { stream?: { destroyed?: boolean } }): boolean =>
  response.closed || response.stream?.destroyed === true;

/** Calls `then` when the response has closed: at once if the client has left already. */
export const onceClosed = (response: ServerResponse, then: () => void): void => {
  if (isClosed(response)) then();
  else response.once("close", then);
};

export const createInFlight = (): InFlight => {
  let count = 0;
  let waiting: (() => void)[] = [];
  const leave = (): void => {
    count -= 1;
    if (count > 0) return;
    waiting.forEach((resolve) => resolve());
    waiting = [];
  };
  return {
    get count() {
      return count;
    },
    enter: () => {
      count += 1;
    },
    leave,
    leaveOnceClosed: (response) => onceClosed(response, leave),
    none: () => (count === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
};
