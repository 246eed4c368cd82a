import type { NodeInfo } from "../../../types/node-context.js";

/** Least fees in 1e-8 of the token per byte; `addonBytes` are added to the size of a transaction of each kind. */
export const dynamicFees = {
  enabled: true,
  minFeePool: 3_000,
  minFeeBroadcast: 3_000,
  addonBytes: {
    transfer: 100,
    secondSignature: 250,
    delegateRegistration: 400_000,
    vote: 100,
    multiSignature: 500,
    ipfs: 250,
    timelockTransfer: 500,
    multiPayment: 500,
    delegateResignation: 100,
    htlcLock: 100,
    htlcClaim: 0,
    htlcRefund: 0,
  },
} satisfies NonNullable<NodeInfo["transactionPool"]>["dynamicFees"];
