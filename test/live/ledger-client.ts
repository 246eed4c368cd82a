import { followLedger } from "../../examples/follow/ledger.js";

/** The example client, followed until it is stopped. */
export const startLedger = (api: string, onCursor: (cursor: string) => void) => {
  const ending = new AbortController();
  const balances = new Map<string, bigint>();
  const run = async (): Promise<void> => {
    for await (const cursor of followLedger(api, balances, ending.signal)) onCursor(cursor);
  };
  const ended = run();
  return {
    balances,
    stop: async (): Promise<void> => {
      ending.abort();
      await ended;
    },
  };
};
