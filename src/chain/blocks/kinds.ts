import type { Transaction } from "../../../types/chain.js";

/** The core's kinds of transaction that lists and rules name: type group and type. What each kind does: transaction-types.ts. */
export const voteKind = { typeGroup: 1, type: 3 } as const;
export const htlcLockKind = { typeGroup: 1, type: 8 } as const;
export const htlcClaimKind = { typeGroup: 1, type: 9 } as const;
export const htlcRefundKind = { typeGroup: 1, type: 10 } as const;

export const isVote = ({ typeGroup, type }: Pick<Transaction, "typeGroup" | "type">): boolean =>
  typeGroup === voteKind.typeGroup && type === voteKind.type;
