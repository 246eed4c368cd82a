import type { OpenLock } from "./ledger.js";

/** What a transaction does, by numbers of wallets. */
export type Deed =
  | { kind: "transfer"; recipient: number }
  | { kind: "payments"; payments: readonly { recipient: number; amount: number }[] }
  /** Numbers of the delegates' wallets; -1 for none. */
  | { kind: "vote"; from: number; to: number }
  | { kind: "registration" }
  | { kind: "resignation" }
  | { kind: "secondSignature" }
  | { kind: "ipfs" }
  | { kind: "lock"; recipient: number; expiresAt: number }
  | { kind: "claim"; lock: OpenLock }
  | { kind: "refund"; lock: OpenLock };

/** A transaction before it has ids, keys and addresses. */
export interface PlannedTransaction {
  /** In the chain, from 0. */
  readonly number: number;
  readonly version: 1 | 2;
  readonly sender: number;
  /** Of the sender, this transaction included. */
  readonly nonce: number;
  readonly amount: number;
  readonly fee: number;
  readonly signsTwice: boolean;
  /** Picks the vendor field; 0 for none. */
  readonly note: number;
  readonly deed: Deed;
}

export interface PlannedBlock {
  readonly height: number;
  /** Wallet number. */
  readonly generator: number;
  readonly transactions: readonly PlannedTransaction[];
}
