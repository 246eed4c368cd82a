import type { Lock, MultiSignature, Transaction } from "./chain.js";

/** A wallet while a block is being applied. What is written here is what the block does. */
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

/** The state that a transaction changes. A wallet that is asked for exists from then on. */
export interface Ledger {
  wallet(address: string): WalletDraft;
  walletOf(publicKey: string): WalletDraft;
  /** The open lock of a lock transaction. */
  lock(id: string): Lock | undefined;
  openLock(lock: Lock): void;
  closeLock(id: string): void;
}

/** What a kind of transaction does, and what it is called. A fork adds its own kinds by handing these in. */
export interface TransactionType {
  /** 1 is the core group. */
  typeGroup: number;
  type: number;
  /** Wire versions it is meant for; missing: all. */
  versions?: number[];
  /** Key in `staticFees` and in fee statistics: `transfer`, `delegateRegistration`. */
  key: string;
  /** Name in `transactions/types`: `Transfer`. */
  name: string;
  /** Whether the sender pays amount + fee (default), or nothing. */
  senderPays?: boolean;
  /** The effect beyond what the sender pays. Nonce and keys of the sender are taken care of. */
  apply?(transaction: Transaction, ledger: Ledger): void;
  /** Every address that receives by it, repeats allowed. Default: `recipientId`, where there is one. */
  recipients?(transaction: Transaction): string[];
}
