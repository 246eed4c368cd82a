import type { Lock } from "../../../types/chain.js";
import type { ChainSnapshot } from "../../../types/chain-adapter.js";
import type { ChainCrypto, MultiSignatureAsset, SignedTransaction } from "./crypto.js";

/** What the host reads of the chain to check and make transactions. */
export type ChainState = Pick<ChainSnapshot, "tip" | "wallet" | "delegate" | "delegates" | "transaction" | "lock" | "locks" | "block" | "round">;

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
 * The state at the tip plus transactions for the next block, each checked against the state that those before it leave. It reads the
 * chain's snapshot, and keeps changes in memory only.
 */
export interface Ledger {
  readonly crypto: ChainCrypto;
  readonly chain: ChainState;
  wallet(address: string): Promise<WalletState>;
  walletOf(publicKey: string): Promise<WalletState>;
  /** The delegate with a public key, even if it has resigned. */
  delegateOf(publicKey: string): Promise<WalletState | undefined>;
  isTaken(username: string): Promise<boolean>;
  takeUsername(username: string): void;
  lock(id: string): Promise<OpenLock | undefined>;
  openLock(lock: OpenLock): void;
  closeLock(id: string): void;
  /** Applies a transaction and returns undefined, or returns what is wrong with it. */
  admit(transaction: SignedTransaction): Promise<string | undefined>;
}
