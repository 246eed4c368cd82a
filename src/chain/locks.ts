import type { Lock, Tip, Transaction } from "../../types/chain.js";

/** What `Lock.expiration.type` says its value is. */
export const lockExpirationTypes = { epochTime: 1, height: 2 } as const;

/** Whether a lock may be refunded at a tip: its time has come once the tip reaches the value, the value included. */
export const isExpired = ({ expiration: { type, value } }: Pick<Lock, "expiration">, tip: Tip): boolean =>
  type === lockExpirationTypes.epochTime ? value <= tip.timestamp : value <= tip.height;

/** The kinds of transaction that end a lock. */
export const htlcClaim = { typeGroup: 1, type: 9 } as const;
export const htlcRefund = { typeGroup: 1, type: 10 } as const;

/** Id of the lock that a claim or a refund ends; undefined for any other transaction. */
export const lockEndedBy = ({ asset }: Pick<Transaction, "asset">): string | undefined =>
  ((asset?.claim ?? asset?.refund) as { lockTransactionId?: string } | undefined)?.lockTransactionId;
