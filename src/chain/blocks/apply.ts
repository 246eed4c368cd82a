import type { Lock, Transaction } from "../../../types/chain.js";
import type { Ledger, WalletDraft } from "../../../types/transaction-type.js";
import { PorticoError } from "../../errors.js";
import { atOnce, type Sliced } from "../../async/time-slicing.js";
import type { FullBlock } from "./block.js";
import { faultIn, isCoreType, requireSoundEffect } from "./transaction-types.js";
import type { ChainRules } from "../rules.js";

/** The state before a block. What it returns is never modified. */
export interface LedgerSource {
  wallet(address: string): Readonly<WalletDraft> | undefined;
  lock(id: string): Lock | undefined;
}

/** The change of one wallet; `before` is undefined for a wallet that the block created. */
export interface WalletChange {
  before: Readonly<WalletDraft> | undefined;
  after: WalletDraft;
}

/** Everything that a block changes in wallets, locks and vote balances. */
export interface BlockChanges {
  wallets: Map<string, WalletChange>;
  /** Lock id -> the lock before and after the block, undefined if it is not open then. */
  locks: Map<string, { before: Lock | undefined; after: Lock | undefined }>;
  /** Public key of a delegate -> the change of its vote balance. Changes of 0 are left out. */
  votes: Map<string, bigint>;
  /** Public key of a delegate -> the change of the number of its voters. Changes of 0 are left out. */
  voters: Map<string, number>;
}

export const emptyWallet = (address: string): WalletDraft => ({
  address,
  publicKey: null,
  secondPublicKey: null,
  username: null,
  balance: 0n,
  lockedBalance: 0n,
  nonce: 0n,
  vote: null,
  multiSignature: null,
  resigned: false,
});

const createDraft = (source: LedgerSource, addressOf: (publicKey: string) => string) => {
  const wallets: BlockChanges["wallets"] = new Map();
  const locks: BlockChanges["locks"] = new Map();
  /** Wallets that the present transaction has asked for. */
  const touched: WalletDraft[] = [];

  const wallet = (address: string): WalletDraft => {
    if (typeof address !== "string" || address === "") throw new TypeError("a wallet is asked for without its address");
    let change = wallets.get(address);
    if (change === undefined) {
      const before = source.wallet(address);
      change = { before, after: before === undefined ? emptyWallet(address) : { ...before } };
      wallets.set(address, change);
    }
    touched.push(change.after);
    return change.after;
  };

  const lockChange = (id: string) => {
    let change = locks.get(id);
    if (change === undefined) {
      const before = source.lock(id);
      change = { before, after: before };
      locks.set(id, change);
    }
    return change;
  };

  const ledger: Ledger = {
    wallet,
    walletOf: (publicKey) => {
      const found = wallet(addressOf(publicKey));
      found.publicKey ??= publicKey;
      return found;
    },
    lock: (id) => lockChange(id).after,
    openLock: (lock) => {
      wallet(lock.senderId).lockedBalance += lock.amount;
      lockChange(lock.lockId).after = lock;
    },
    closeLock: (id) => {
      const change = lockChange(id);
      if (change.after !== undefined) wallet(change.after.senderId).lockedBalance -= change.after.amount;
      change.after = undefined;
    },
  };
  return { ledger, wallets, locks, touched };
};

const applyTransaction = (transaction: Transaction, { ledger, touched }: ReturnType<typeof createDraft>, rules: ChainRules): void => {
  touched.length = 0;
  const type = rules.types.of(transaction);
  const sender = ledger.walletOf(transaction.senderPublicKey);
  if (type.senderPays ?? true) sender.balance -= transaction.amount + transaction.fee;
  sender.nonce = transaction.nonce ?? sender.nonce + 1n;
  if (type.apply === undefined) return;
  const returned: unknown = type.apply(transaction, ledger);
  if (!isCoreType(type)) requireSoundEffect(type, returned, touched);
};

const weight = (wallet: Readonly<WalletDraft> | undefined): bigint => (wallet === undefined ? 0n : wallet.balance + wallet.lockedBalance);

/**
 * The changes of vote balances and numbers of voters. Both are sums over voters, so the changes of the voters are enough to compute them.
 */
const movedVotes = (wallets: BlockChanges["wallets"]): Pick<BlockChanges, "votes" | "voters"> => {
  const votes = new Map<string, bigint>();
  const voters = new Map<string, number>();
  const move = (delegate: string | null | undefined, by: bigint, voter: 1 | -1): void => {
    if (delegate === null || delegate === undefined) return;
    votes.set(delegate, (votes.get(delegate) ?? 0n) + by);
    voters.set(delegate, (voters.get(delegate) ?? 0) + voter);
  };
  for (const { before, after } of wallets.values()) {
    move(before?.vote, -weight(before), -1);
    move(after.vote, weight(after), 1);
  }
  for (const [delegate, by] of votes) if (by === 0n) votes.delete(delegate);
  for (const [delegate, by] of voters) if (by === 0) voters.delete(delegate);
  return { votes, voters };
};

/** As `applyBlock`, in steps of one transaction, since reading from `source` may be slow. */
export const applySliced = function* (
  { block, transactions }: FullBlock,
  source: LedgerSource,
  rules: ChainRules,
): Sliced<BlockChanges> {
  const draft = createDraft(source, rules.addressOf);
  const { ledger, wallets, locks } = draft;
  for (const transaction of transactions) {
    try {
      applyTransaction(transaction, draft, rules);
    } catch (error) {
      if (error instanceof PorticoError) throw error;
      throw new PorticoError("BLOCK_INVALID", `block ${block.height}: ${faultIn(transaction, error)}`, { cause: error });
    }
    yield;
  }
  ledger.walletOf(block.generatorPublicKey).balance += block.reward + block.totalFee;
  return { wallets, locks, ...movedVotes(wallets) };
};

/**
 * Computes what a block changes in the state before it. Pure: neither `source` nor the block is modified.
 * @throws PorticoError BLOCK_INVALID if a transaction cannot be applied
 */
export const applyBlock = (full: FullBlock, source: LedgerSource, rules: ChainRules): BlockChanges =>
  atOnce(applySliced(full, source, rules));
