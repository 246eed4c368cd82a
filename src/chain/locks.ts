import type { Lock, Tip } from "../../types/chain.js";

/** What `Lock.expiration.type` says its value is. */
export const lockExpirationTypes = { epochTime: 1, height: 2 } as const;

/** Whether a lock may be refunded at a tip: its time has come once the tip reaches the value, the value included. */
export const isExpired = ({ expiration: { type, value } }: Pick<Lock, "expiration">, tip: Tip): boolean =>
  type === lockExpirationTypes.epochTime ? value <= tip.timestamp : value <= tip.height;
