import { type BenchLedger, flags } from "./ledger.js";
import { below, type Chance } from "./mixing.js";
import type { Deed } from "./planned.js";
import { activeDelegates, type ChainSize } from "./sizes.js";

/** Numbers of the wallets that have a role in every chain. */
export const origin = 0;
export const busiest = 1;
export const firstDelegate = 2;

export interface DeedNeeds {
  ledger: BenchLedger;
  chance: Chance;
  size: ChainSize;
}

/** What a transaction does, and what it pays beside the fee. */
export interface Payable {
  deed: Deed;
  amount: number;
}

/** Shares of a chain's transactions; the rest are transfers. Wallets appear, and delegates register, as the chain goes on. */
const share = { votes: 0.05, payments: 0.03, ipfs: 0.01, locks: 0.006, secondSignatures: 0.003, resignations: 0.0001 };
/** All delegates have registered after this part of the chain. */
const registrationsUntil = 0.3;

/** Older wallets are the busier ones. */
export const pickWallet = ({ ledger, chance }: DeedNeeds): number => {
  const part = chance();
  return firstDelegate + Math.floor(part * part * (ledger.wallets - firstDelegate));
};

/** A new wallet where one is due, else one that is there. */
const pickRecipient = (needs: DeedNeeds): number => {
  const { ledger, size } = needs;
  const due = Math.min(size.wallets, Math.ceil((size.wallets * (ledger.transactions + 1)) / size.transactions));
  return ledger.wallets < due ? ledger.wallets++ : pickWallet(needs);
};

const balanceOf = (ledger: BenchLedger, wallet: number): number => ledger.balances[wallet] ?? 0;

/** Most amounts are small against what their sender has after the fee. */
const pickAmount = ({ ledger, chance }: DeedNeeds, sender: number, fee: number): number => {
  const part = chance();
  return 1 + Math.floor((balanceOf(ledger, sender) - fee - 1) * part * part * 0.1);
};

export const transferBetween = (needs: DeedNeeds, sender: number, recipient: number, fee: number): Payable => ({
  deed: { kind: "transfer", recipient },
  amount: pickAmount(needs, sender, fee),
});

const payMany = (needs: DeedNeeds, sender: number, fee: number): Payable => {
  const count = 2 + below(needs.chance, 5);
  const all = pickAmount(needs, sender, fee + count) + count;
  const payments = Array.from({ length: count }, () => ({ recipient: pickRecipient(needs), amount: Math.floor(all / count) }));
  return { deed: { kind: "payments", payments }, amount: 0 };
};

/** Most votes are for those who forge. */
const castVote = ({ ledger, chance }: DeedNeeds, sender: number): Payable => {
  const from = ledger.votes[sender] ?? -1;
  const part = chance();
  const to = Math.floor(part * part * ledger.delegates.length);
  const numberOf = (place: number): number => ledger.delegates[place] ?? -1;
  if (from === -1) return { deed: { kind: "vote", from: -1, to: numberOf(to) }, amount: 0 };
  return { deed: { kind: "vote", from: numberOf(from), to: from === to || chance() < 0.3 ? -1 : numberOf(to) }, amount: 0 };
};

/** A lock, or the end of the oldest where enough are open. */
const lockOrEnd = (needs: DeedNeeds, sender: number, fee: number, height: number): Payable => {
  const { ledger, chance, size } = needs;
  if (ledger.locks.length < size.openLocks) {
    const amount = pickAmount(needs, sender, fee) + fee * 10;
    if (amount < balanceOf(ledger, sender) - fee) {
      return { deed: { kind: "lock", recipient: pickWallet(needs), expiresAt: height + 1 + below(chance, 100_000) }, amount };
    }
  }
  const lock = ledger.locks[0];
  if (lock === undefined || lock.amount < fee) return transferBetween(needs, sender, pickRecipient(needs), fee);
  return { deed: { kind: chance() < 0.7 ? "claim" : "refund", lock }, amount: 0 };
};

/** What a sender who can pay the fee does. */
export const pickDeed = (needs: DeedNeeds, sender: number, fee: number, height: number, version: 1 | 2): Payable => {
  const { ledger, chance, size } = needs;
  const flag = ledger.flags[sender] ?? 0;
  const delegatesDue = activeDelegates + Math.ceil((size.delegates - activeDelegates) * (ledger.transactions / (size.transactions * registrationsUntil)));
  if (ledger.delegates.length < Math.min(size.delegates, delegatesDue) && (flag & flags.isDelegate) === 0) {
    return { deed: { kind: "registration" }, amount: 0 };
  }
  let left = chance();
  const falls = (part: number): boolean => (left -= part) < 0;
  if (falls(share.votes)) return castVote(needs, sender);
  if (falls(share.secondSignatures) && (flag & flags.signsTwice) === 0) return { deed: { kind: "secondSignature" }, amount: 0 };
  if (version === 2) {
    if (falls(share.payments)) return payMany(needs, sender, fee);
    if (falls(share.ipfs)) return { deed: { kind: "ipfs" }, amount: 0 };
    if (falls(share.locks)) return lockOrEnd(needs, sender, fee, height);
    if (falls(share.resignations) && (flag & (flags.isDelegate | flags.resigned)) === flags.isDelegate && sender >= firstDelegate + activeDelegates) {
      return { deed: { kind: "resignation" }, amount: 0 };
    }
  }
  return transferBetween(needs, sender, pickRecipient(needs), fee);
};
