import type { Lock, MultiSignature, Transaction } from "../../../types/chain.js";
import type { Ledger, WalletDraft } from "../../../types/transaction-type.js";
import { emptyWallet } from "../../chain/blocks/apply.js";
import type { ChainRules } from "../../chain/rules.js";
import { isCoreType } from "../../chain/blocks/transaction-types.js";

/** What a transaction brings a wallet, takes from it, and costs it; 0 where there is nothing. */
export interface Effect {
  in: bigint;
  out: bigint;
  fee: bigint;
}

/**
 * A wallet that notes how its balance is changed, apart by direction. A class: of an object whose accessors are its own, V8 would keep a
 * description for each, until the next full collection.
 */
class ObservedWallet implements WalletDraft {
  readonly address: string;
  publicKey: string | null = null;
  secondPublicKey: string | null = null;
  username: string | null = null;
  lockedBalance = 0n;
  nonce = 0n;
  vote: string | null = null;
  multiSignature: MultiSignature | null = null;
  resigned = false;
  readonly seen = { in: 0n, out: 0n, isTouched: false };
  private now = 0n;

  constructor(address: string) {
    this.address = address;
  }

  get balance(): bigint {
    return this.now;
  }

  set balance(after: bigint) {
    this.seen.isTouched = true;
    if (after > this.now) this.seen.in += after - this.now;
    else this.seen.out += this.now - after;
    this.now = after;
  }
}

/** A ledger in which one wallet is observed, and others are empty; `lock` is the one that the transaction ends. */
const observingLedger = (observed: WalletDraft, lock: Lock | undefined, rules: ChainRules): Ledger => {
  const others = new Map<string, WalletDraft>();
  const wallet = (address: string): WalletDraft => {
    if (address === observed.address) return observed;
    const found = others.get(address) ?? emptyWallet(address);
    others.set(address, found);
    return found;
  };
  const ignore = (): void => undefined;
  return {
    wallet,
    walletOf: (publicKey) => {
      const found = wallet(rules.addressOf(publicKey));
      found.publicKey ??= publicKey;
      return found;
    },
    lock: () => lock,
    openLock: ignore,
    closeLock: ignore,
  };
};

/**
 * By the rules of its type. A claim's or refund's fee is paid from the lock: it stands in `fee`, of whom the lock is paid to. A fork's type
 * whose effect depends on what a wallet has is not known from here: then the whole does not come out at the wallet's balance.
 */
export const effectOn = (address: string, transaction: Transaction, lock: Lock | undefined, rules: ChainRules): Effect => {
  const type = rules.types.of(transaction);
  const pays = (type.senderPays ?? true) && transaction.senderId === address;
  const wallet = new ObservedWallet(address);
  const { seen } = wallet;
  try {
    type.apply?.(transaction, observingLedger(wallet, lock, rules));
  } catch {
    return { in: 0n, out: pays ? transaction.amount : 0n, fee: pays ? transaction.fee : 0n };
  }
  const ofLock = lock !== undefined && seen.isTouched && type.senderPays === false && isCoreType(type) ? transaction.fee : 0n;
  const paidByLock = ofLock > 0n ? { in: seen.in - seen.out + ofLock, out: 0n } : { in: seen.in, out: seen.out };
  return { in: paidByLock.in, out: paidByLock.out + (pays ? transaction.amount : 0n), fee: ofLock + (pays ? transaction.fee : 0n) };
};
