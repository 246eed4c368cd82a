import { busiest, type DeedNeeds, firstDelegate, origin, type Payable, pickDeed, pickWallet, transferBetween } from "./deeds.js";
import { type BenchLedger, createLedger, flags } from "./ledger.js";
import { below, createChance } from "./mixing.js";
import { genesisAmount, reward, secondVersionFrom } from "./network.js";
import type { Deed, PlannedBlock, PlannedTransaction } from "./planned.js";
import { activeDelegates, type ChainSize, genesisTransactions, isSpread, transactionsAt } from "./sizes.js";

/**
 * Decides what is in each block of a chain, in numbers: nobody spends more than they have, nonces are consecutive, and the same size
 * gives the same chain. It keeps so little that going through ten million transactions takes some seconds.
 */
export interface Planner {
  readonly ledger: BenchLedger;
  /** Height of the next block. */
  readonly height: number;
  /** The next block, with as many transactions as the size has there, or as are asked for. */
  next(transactions?: number): PlannedBlock;
}

const seed = 20_170_321;
const largestFee = 20_000_000;
/** Whoever sends has to have more than this. */
const leastToSend = largestFee * 3;
const tries = 4;
const busiestGets = 2_500_000_000_000_000;

export const createPlanner = (size: ChainSize): Planner => {
  const ledger = createLedger(size);
  const needs: DeedNeeds = { ledger, chance: createChance(seed), size };
  const { chance } = needs;
  const secondFrom = secondVersionFrom(size);
  let height = 1;

  const add = (wallet: number, amount: number): void => {
    ledger.balances[wallet] = (ledger.balances[wallet] ?? 0) + amount;
  };

  const take = (sender: number, { deed, amount }: Payable, fee: number, version: 1 | 2, note: number): PlannedTransaction => {
    const signsTwice = ((ledger.flags[sender] ?? 0) & flags.signsTwice) !== 0;
    const nonce = (ledger.nonces[sender] ?? 0) + 1;
    ledger.nonces[sender] = nonce;
    if (sender !== origin && deed.kind !== "claim" && deed.kind !== "refund") add(sender, -amount - fee);
    const transaction = { number: ledger.transactions++, version, sender, nonce, amount, fee, signsTwice, note, deed };
    perform(transaction);
    return transaction;
  };

  const raise = (wallet: number, flag: number): void => {
    ledger.flags[wallet] = (ledger.flags[wallet] ?? 0) | flag;
  };

  const endLock = (deed: Deed & { kind: "claim" | "refund" }, fee: number): void => {
    ledger.locks.shift();
    add(deed.kind === "claim" ? deed.lock.recipient : deed.lock.sender, deed.lock.amount - fee);
  };

  const perform = ({ number, sender, amount, fee, deed }: PlannedTransaction): void => {
    switch (deed.kind) {
      case "transfer":
        return add(deed.recipient, amount);
      case "payments":
        for (const payment of deed.payments) {
          add(sender, -payment.amount);
          add(payment.recipient, payment.amount);
        }
        return;
      case "vote":
        ledger.votes[sender] = deed.to === -1 ? -1 : ledger.delegates.indexOf(deed.to);
        return;
      case "registration":
        ledger.delegates.push(sender);
        return raise(sender, flags.isDelegate);
      case "resignation":
        return raise(sender, flags.resigned);
      case "secondSignature":
        return raise(sender, flags.signsTwice);
      case "ipfs":
        return;
      case "lock":
        ledger.locks.push({ transaction: number, sender, recipient: deed.recipient, amount });
        return;
      case "claim":
      case "refund":
        return endLock(deed, fee);
    }
  };

  const canPay = (wallet: number): boolean => (ledger.balances[wallet] ?? 0) > leastToSend;

  /** A wallet that was drawn has to have enough; some of those that forge always have. */
  const pickSender = (): number => {
    for (let tried = 0; tried < tries; tried++) {
      const sender = pickWallet(needs);
      if (canPay(sender)) return sender;
    }
    const first = below(chance, activeDelegates);
    for (let next = 0; next < activeDelegates; next++) {
      const sender = firstDelegate + ((first + next) % activeDelegates);
      if (canPay(sender)) return sender;
    }
    throw new Error(`nobody can pay at height ${height}`);
  };

  const plan = (version: 1 | 2): PlannedTransaction => {
    const place = ledger.transactions - genesisTransactions;
    const fee = 1_000_000 + below(chance, largestFee - 1_000_000);
    const note = chance() < 0.2 ? 1 + below(chance, 100) * (chance() < 0.5 ? 1 : 100_003) : 0;
    if (isSpread(place, size.busiest - 1, size.transactions - genesisTransactions)) {
      const other = pickSender();
      const [sender, recipient] = place % 2 === 0 && canPay(busiest) ? [busiest, other] : [other, busiest];
      return take(sender, transferBetween(needs, sender, recipient, fee), fee, version, note);
    }
    const sender = pickSender();
    return take(sender, pickDeed(needs, sender, fee, height, version), fee, version, note);
  };

  const genesis = (): PlannedBlock => {
    ledger.wallets = firstDelegate + activeDelegates;
    const founders = Array.from({ length: activeDelegates }, (_, index) => firstDelegate + index);
    const each = Math.floor((genesisAmount - busiestGets) / activeDelegates);
    const last = genesisAmount - busiestGets - each * (activeDelegates - 1);
    const hand = (recipient: number, amount: number): PlannedTransaction => take(origin, { deed: { kind: "transfer", recipient }, amount }, 0, 1, 0);
    const transactions = [
      hand(busiest, busiestGets),
      ...founders.map((founder, index) => hand(founder, index === activeDelegates - 1 ? last : each)),
      ...founders.map((founder) => take(founder, { deed: { kind: "registration" }, amount: 0 }, 0, 1, 0)),
      ...founders.map((founder) => take(founder, { deed: { kind: "vote", from: -1, to: founder }, amount: 0 }, 0, 1, 0)),
    ];
    return { height: height++, generator: origin, transactions };
  };

  return {
    ledger,
    get height() {
      return height;
    },
    next: (count = transactionsAt(height, size)) => {
      if (height === 1) return genesis();
      const version = height < secondFrom ? 1 : 2;
      const transactions = Array.from({ length: count }, () => plan(version));
      const generator = ledger.delegates[(height - 2) % activeDelegates] ?? firstDelegate;
      add(generator, reward + transactions.reduce((sum, { fee }) => sum + fee, 0));
      return { height: height++, generator, transactions };
    },
  };
};
