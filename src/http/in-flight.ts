import type { ServerResponse } from "node:http";

/** Counts the requests being answered, and tells when there are none. */
export interface InFlight {
  readonly count: number;
  /** Counts a request until its response has been sent or its connection closed. Repeated calls count once. */
  begin(response: ServerResponse): void;
  has(response: ServerResponse): boolean;
  /** Resolves as soon as no request is being answered. */
  none(): Promise<void>;
}

export const createInFlight = (): InFlight => {
  const open = new Set<ServerResponse>();
  let waiting: (() => void)[] = [];
  const end = (response: ServerResponse): void => {
    open.delete(response);
    if (open.size === 0) {
      waiting.forEach((resolve) => resolve());
      waiting = [];
    }
  };
  return {
    get count() {
      return open.size;
    },
    begin: (response) => {
      if (!response.closed && !open.has(response)) {
        open.add(response);
        response.once("close", () => end(response));
      }
    },
    has: (response) => open.has(response),
    none: () => (open.size === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
};
