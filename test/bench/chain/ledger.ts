import type { ChainSize } from "./sizes.js";

/** All of the state that the next block depends on: some 15 bytes a wallet. Every amount here is below 2^53, so numbers are exact. */
export interface BenchLedger {
  /** Wallets there are so far: those with a lower number. */
  wallets: number;
  /** Transactions there are so far. */
  transactions: number;
  readonly balances: Float64Array;
  readonly nonces: Uint32Array;
  /** Index in `delegates` of the one voted for; -1 for none. */
  readonly votes: Int16Array;
  /** Whether a wallet signs twice, is a delegate, has resigned: see `flags`. */
  readonly flags: Uint8Array;
  /** Wallet numbers, in the order of registration. */
  readonly delegates: number[];
  /** The oldest first. */
  readonly locks: OpenLock[];
}

export interface OpenLock {
  /** Number of the lock transaction. */
  transaction: number;
  sender: number;
  recipient: number;
  amount: number;
}

export const flags = { signsTwice: 1, isDelegate: 2, resigned: 4 } as const;

export const createLedger = ({ wallets }: ChainSize): BenchLedger => ({
  wallets: 0,
  transactions: 0,
  balances: new Float64Array(wallets),
  nonces: new Uint32Array(wallets),
  votes: new Int16Array(wallets).fill(-1),
  flags: new Uint8Array(wallets),
  delegates: [],
  locks: [],
});
