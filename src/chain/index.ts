/** The chain's rules, for whoever keeps chain state in a store of its own: `portico/chain`. Pure; no I/O. */
export { addressOf, isAddress } from "./address.js";
export { approvalOf, averageOf, parseAmount } from "./amount.js";
export { applyBlock, type BlockChanges, emptyWallet, type LedgerSource, type WalletChange } from "./apply.js";
export type { FullBlock } from "./block.js";
export { isExpired } from "./locks.js";
export type { Constants, Milestones } from "./milestones.js";
export { endsRound, forgerOf, forgingOrder, rankDelegates, type Round, roundOf, slotOf } from "./rounds.js";
export { type ChainRules, createChainRules } from "./rules.js";
export { coreTransactionTypes } from "./transaction-types.js";
