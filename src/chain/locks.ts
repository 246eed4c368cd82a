import type { Lock, Tip, Transaction } from "../../types/chain.js";

/** Values of `Lock.expiration.type`: what the expiration's value is. */
export const lockExpirationTypes = { epochTime: 1, height: 2 } as const;

/** Whether a lock has expired at a tip, and so may be refunded: the tip has reached or passed the expiration's value. */
export const isExpired = ({ expiration: { type, value } }: Pick<Lock, "expiration">, tip: Tip): boolean =>
  type === lockExpirationTypes.epochTime ? value <= tip.timestamp : value <= tip.height;

/** Id of the lock that a claim or a refund ends; undefined for any other transaction. */
export const lockEndedBy = ({ asset }: Pick<Transaction, "asset">): string | undefined =>
  ((asset?.claim ?? asset?.refund) as { lockTransactionId?: string } | undefined)?.lockTransactionId;

/** A lock, as a claim or refund needs it to say who is paid what. */
export type EndedLock = Pick<Lock, "lockId" | "senderId" | "recipientId" | "amount">;

/** The lock that a lock's own transaction opens. */
export const lockOpenedBy = ({ id, senderId, recipientId = senderId, amount }: Transaction): EndedLock => ({
  lockId: id,
  senderId,
  recipientId,
  amount,
});

/** The locks that the claims and refunds of a block end, for `KeptBlock.locks`. `find`: a transaction of the chain by its id. */
export const locksEndedBy = (transactions: readonly Transaction[], find: (id: string) => Transaction | undefined): EndedLock[] =>
  transactions.flatMap((transaction) => {
    const id = lockEndedBy(transaction);
    const opened = id === undefined ? undefined : find(id);
    return opened === undefined ? [] : [lockOpenedBy(opened)];
  });
