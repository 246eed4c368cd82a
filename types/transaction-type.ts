import type { Lock, MultiSignature, Transaction } from "./chain.js";
import type { TransactionData } from "./events.js";

/** A wallet while a block is being applied. Writing to its members is how a transaction changes it. */
export interface WalletDraft {
  readonly address: string;
  publicKey: string | null;
  secondPublicKey: string | null;
  username: string | null;
  balance: bigint;
  lockedBalance: bigint;
  nonce: bigint;
  vote: string | null;
  multiSignature: MultiSignature | null;
  resigned: boolean;
}

/** The state that a transaction changes. Asking for a wallet creates it if it does not exist. */
export interface Ledger {
  wallet(address: string): WalletDraft;
  walletOf(publicKey: string): WalletDraft;
  /** The open lock made by the lock transaction `id`. */
  lock(id: string): Lock | undefined;
  openLock(lock: Lock): void;
  closeLock(id: string): void;
}

/** How the members of a type are serialized in version 2 (AIP-11). All types share the other members. */
export interface TransactionForm {
  /** The bytes between vendor field and signatures. */
  serialize(transaction: TransactionData): Uint8Array;
  /** Whether a vendor field is written. Default false: its length is written as 0. */
  hasVendorField?: boolean;
}

/** The names and the effect of one kind of transaction. Forks pass their own kinds as `transactionTypes`. */
export interface TransactionType {
  /** 1 is the core group. */
  typeGroup: number;
  type: number;
  /** Wire versions it applies to. Default: all. */
  versions?: number[];
  /** Key in `staticFees` and `addonBytes`, such as `transfer` or `delegateRegistration`. */
  key: string;
  /** Name in `transactions/types`, such as `Transfer`. */
  name: string;
  /** Whether the sender pays amount + fee. Default true; if false, it pays nothing. */
  senderPays?: boolean;
  /**
   * Applies the effect beyond what the sender pays. Without it, nobody gets the amount. The sender's nonce and public key are already
   * updated. Must be synchronous.
   */
  apply?(transaction: Transaction, ledger: Ledger): void;
  /**
   * Returns every address that receives something, besides `recipientId`. An address may occur more than once. If it throws, the store
   * refuses the block. With a host's own chain, events of the transaction then have no `addresses`.
   */
  recipients?(transaction: Transaction): string[];
  /** How it is serialized, for proofs. Without it, `/transactions/{id}/proof` replies 501 for a type that is not the core's. */
  form?: TransactionForm;
}
