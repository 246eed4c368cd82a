import type { ServerResponse } from "node:http";

/** Counts requests that are being answered, and tells when there is none. */
export interface InFlight {
  readonly count: number;
  /** Counts a request until its response has gone out, or its connection away. */
  begin(response: ServerResponse): void;
  /** Resolves as soon as no request is being answered. */
  none(): Promise<void>;
}

export const createInFlight = (): InFlight => {
  let count = 0;
  let waiting: (() => void)[] = [];
  const end = (): void => {
    count -= 1;
    if (count === 0) {
      waiting.forEach((resolve) => resolve());
      waiting = [];
    }
  };
  return {
    get count() {
      return count;
    },
    begin: (response) => {
      count += 1;
      response.once("close", end);
    },
    none: () => (count === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
};
