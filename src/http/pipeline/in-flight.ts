import type { ServerResponse } from "node:http";

/** Counts the requests being answered, and tells when there are none. */
export interface InFlight {
  readonly count: number;
  /** Counts a request until its response has been sent or its connection closed. Repeated calls count once. */
  countUntilClosed(response: ServerResponse): void;
  has(response: ServerResponse): boolean;
  /**
   * Counts a request until `leave`, whatever becomes of its connection: for those that are answered soon. A listener for the end of each
   * would cost a third as much again as a ready reply.
   */
  enter(): void;
  leave(): void;
  /** Resolves as soon as no request is being answered. */
  none(): Promise<void>;
}

/** Whether the event `close` has been emitted and will not come any more. A response of HTTP/2 has no `closed`. */
const isClosed = (response: ServerResponse & { stream?: { destroyed?: boolean } }): boolean =>
  response.closed || response.stream?.destroyed === true;

export const createInFlight = (): InFlight => {
  const open = new Set<ServerResponse>();
  let entered = 0;
  let waiting: (() => void)[] = [];
  const count = (): number => open.size + entered;
  const tell = (): void => {
    if (count() === 0) {
      waiting.forEach((resolve) => resolve());
      waiting = [];
    }
  };
  return {
    get count() {
      return count();
    },
    countUntilClosed: (response) => {
      if (!isClosed(response) && !open.has(response)) {
        open.add(response);
        response.once("close", () => {
          open.delete(response);
          tell();
        });
      }
    },
    has: (response) => open.has(response),
    enter: () => {
      entered += 1;
    },
    leave: () => {
      entered -= 1;
      tell();
    },
    none: () => (count() === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
};
