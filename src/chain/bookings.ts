import type { Lock, MultiSignature, Transaction } from "../../types/chain.js";
import type { Ledger, WalletDraft } from "../../types/transaction-type.js";
import type { FullBlock } from "./blocks/block.js";
import { isCoreType } from "./blocks/transaction-types.js";
import { type EndedLock, lockEndedBy } from "./locks.js";
import type { ChainRules } from "./rules.js";

/** What a transaction, or a forged block, does to the money of one wallet. Amounts are whole numbers of 1e-8; 0 where there is nothing. */
export interface Booking {
  address: string;
  /** Key of the transaction's type, or `forged` for a block. */
  kind: string;
  /** Id of the transaction or the block. */
  id: string;
  /** Address of the other side; empty where there is none, or several. */
  counterparty: string;
  /** The transaction's vendor field. */
  memo: string;
  in: bigint;
  out: bigint;
  /** The fee of a claim or refund is paid by the wallet that gets the lock's amount, from that amount. */
  fee: bigint;
}

/** An amount of a booking as text, empty where there is nothing. */
export const amountText = (amount: bigint): string => (amount === 0n ? "" : amount.toString());

/** Finds the lock that a claim or refund ends; undefined where it is not known. */
type LockOf = (lockId: string) => EndedLock | undefined;

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
  in = 0n;
  out = 0n;
  isPaid = false;
  private now = 0n;

  constructor(address: string) {
    this.address = address;
  }

  get balance(): bigint {
    return this.now;
  }

  set balance(after: bigint) {
    this.isPaid = true;
    if (after > this.now) this.in += after - this.now;
    else this.out += this.now - after;
    this.now = after;
  }
}

/** Applies a transaction to empty wallets, and returns those that it asked for. */
const observe = (transaction: Transaction, lock: EndedLock | undefined, rules: ChainRules): Map<string, ObservedWallet> => {
  const wallets = new Map<string, ObservedWallet>();
  const wallet = (address: string): ObservedWallet => {
    const found = wallets.get(address) ?? new ObservedWallet(address);
    wallets.set(address, found);
    return found;
  };
  const ignore = (): void => undefined;
  const ledger: Ledger = {
    wallet,
    walletOf: (publicKey) => {
      const found = wallet(rules.addressOf(publicKey));
      found.publicKey ??= publicKey;
      return found;
    },
    lock: () => lock as Lock | undefined,
    openLock: ignore,
    closeLock: ignore,
  };
  try {
    rules.types.of(transaction).apply?.(transaction, ledger);
    return wallets;
  } catch {
    // A claim whose lock is not known, or a fork's type that needs more of a wallet than is known here.
    return new Map();
  }
};

/** Empty where a fork's `recipients` throws: the store refuses such blocks, a host's own chain may have them. */
const recipientsOf = (transaction: Transaction, rules: ChainRules): string[] => {
  try {
    return rules.recipientsOf(transaction);
  } catch {
    return [];
  }
};

const counterpartyOf = (address: string, transaction: Transaction, recipients: readonly string[], lock: EndedLock | undefined): string => {
  const { senderId } = transaction;
  if (lock !== undefined) return address === lock.senderId ? lock.recipientId : lock.senderId;
  if (address !== senderId) return senderId;
  const others = recipients.filter((recipient) => recipient !== address);
  return others.length > 1 ? "" : (others[0] ?? recipients[0] ?? "");
};

/**
 * The bookings of a transaction, by the rules of its type: the sender's, then the recipients' in the order in which the transaction names
 * them, then that of the wallet that a lock is paid to. Wallets that are named get one, even without an amount. The effect of a fork's type
 * may depend on the state of wallets, which is not known here; its bookings may then be incomplete.
 */
export const bookingsOf = (transaction: Transaction, lockOf: LockOf, rules: ChainRules): Booking[] => {
  const type = rules.types.of(transaction);
  const lockId = lockEndedBy(transaction);
  const lock = lockId === undefined ? undefined : lockOf(lockId);
  const observed = observe(transaction, lock, rules);
  const { id, senderId, amount, fee, vendorField: memo = "" } = transaction;
  const isPaidByLock = lock !== undefined && type.senderPays === false && isCoreType(type);
  const recipients = recipientsOf(transaction, rules);
  const paid = [...observed.values()].filter((wallet) => wallet.in > 0n || wallet.out > 0n || (isPaidByLock && wallet.isPaid));
  return [...new Set([senderId, ...recipients, ...paid.map(({ address }) => address)])].map((address) => {
    const wallet = observed.get(address) ?? new ObservedWallet(address);
    const counterparty = counterpartyOf(address, transaction, recipients, lock);
    const booking = { address, kind: type.key, id, counterparty, memo };
    if (isPaidByLock && wallet.isPaid) return { ...booking, in: wallet.in - wallet.out + fee, out: 0n, fee };
    const pays = (type.senderPays ?? true) && address === senderId;
    return { ...booking, in: wallet.in, out: wallet.out + (pays ? amount : 0n), fee: pays ? fee : 0n };
  });
};

/** The bookings of a block itself: what it earns its forger; none where that is nothing. */
export const forgingOf = ({ block }: Pick<FullBlock, "block">, rules: ChainRules): Booking[] => {
  const { id, reward, totalFee, generatorPublicKey } = block;
  const forged = reward + totalFee;
  if (forged === 0n) return [];
  const address = rules.addressOf(generatorPublicKey);
  return [{ address, kind: "forged", id, counterparty: "", memo: "", in: forged, out: 0n, fee: 0n }];
};
