/** `portico/chain`: the chain's rules, for hosts that keep chain state in their own store. Pure, without I/O. */
export { addressOf, isAddress } from "./address.js";
export { approvalOf, averageOf, parseAmount, productivityOf } from "./amount.js";
export { applyBlock, type BlockChanges, emptyWallet, type LedgerSource, type WalletChange } from "./blocks/apply.js";
export type { FullBlock } from "./blocks/block.js";
export { finalHeightAt, finalityAt } from "./milestones.js";
export { type Booking, bookingsOf, forgingOf } from "./bookings.js";
export { createDigest, delegatePart, type DelegateFigures, type Digest, digestOf, lockPart, ranksPart, type StateParts, supplyPart, walletPart } from "./digest.js";
export { blockList, delegateList, type List, type ListFilter, lockList, transactionList, walletList } from "./lists.js";
export { type EndedLock, isExpired, locksEndedBy } from "./locks.js";
export type { Constants, Milestones } from "./milestones.js";
export { endsRound, forgingOrder, rankDelegates, type Round, roundOf } from "./rounds.js";
export { type ChainRules, createChainRules } from "./rules.js";
export { missedTurns, slotHeights, type Slots, slotsAt, type Turns, turnsAfter } from "./rounds.js";
export { createTester } from "./tester.js";
export { coreTransactionTypes } from "./blocks/transaction-types.js";
