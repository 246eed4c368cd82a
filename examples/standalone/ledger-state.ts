import type { Lock } from "../../types/chain.js";
import type { ChainSnapshot } from "../../types/chain-adapter.js";
import type { ChainCrypto, MultiSignatureAsset, SignedTransaction } from "./crypto.js";

/** What the host reads of the chain to judge and make transactions. */
export type ChainState = Pick<ChainSnapshot, "tip" | "wallet" | "delegate" | "delegates" | "transaction" | "lock" | "locks" | "round">;

export interface WalletState {
  readonly address: string;
  publicKey: string | null;
  secondPublicKey: string | null;
  username: string | null;
  balance: bigint;
  nonce: bigint;
  vote: string | null;
  multiSignature: MultiSignatureAsset | null;
  resigned: boolean;
}

export interface OpenLock extends Pick<Lock, "lockId" | "senderId" | "recipientId" | "amount" | "secretHash" | "expiration"> {
  senderPublicKey: string;
}

/**
 * The state of the chain's tip plus transactions that the next block might hold: each is judged by what those before it
 * leave behind. Read through the chain's snapshot, written to nowhere.
 */
export interface Ledger {
  readonly crypto: ChainCrypto;
  readonly chain: ChainState;
  wallet(address: string): Promise<WalletState>;
  walletOf(publicKey: string): Promise<WalletState>;
  /** The delegate of a public key, resigned ones included. */
  delegateOf(publicKey: string): Promise<WalletState | undefined>;
  isTaken(username: string): Promise<boolean>;
  takeUsername(username: string): void;
  lock(id: string): Promise<OpenLock | undefined>;
  openLock(lock: OpenLock): void;
  closeLock(id: string): void;
  /** Says what is wrong with a transaction, or applies it and says nothing. */
  admit(transaction: SignedTransaction): Promise<string | undefined>;
}
