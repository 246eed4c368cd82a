/** The names of the core types since HTLC locks were added. Numbers 6 to 8 are those of version 2. */
export const coreTypes = {
  Transfer: 0,
  SecondSignature: 1,
  DelegateRegistration: 2,
  Vote: 3,
  MultiSignature: 4,
  Ipfs: 5,
  TimelockTransfer: 6,
  MultiPayment: 6,
  DelegateResignation: 7,
  HtlcLock: 8,
  HtlcClaim: 9,
  HtlcRefund: 10,
};
