import type { ChainCrypto, SignedTransaction } from "./crypto.js";
import type { ChainState, Ledger, OpenLock, WalletState } from "./ledger-state.js";
import { applyEffect, checkKind } from "./transaction-rules.js";

const emptyWallet = (address: string): WalletState => ({
  address,
  publicKey: null,
  secondPublicKey: null,
  username: null,
  balance: 0n,
  nonce: 0n,
  vote: null,
  multiSignature: null,
  resigned: false,
});

/** Kinds whose sender pays nothing: HTLC claim and refund. */
const isFree = (type: number): boolean => type === 9 || type === 10;

export const createLedger = (crypto: ChainCrypto, chain: ChainState): Ledger => {
  const wallets = new Map<string, WalletState>();
  const locks = new Map<string, OpenLock | undefined>();
  const usernames = new Set<string>();

  const wallet = async (address: string): Promise<WalletState> => {
    const known = wallets.get(address);
    if (known !== undefined) return known;
    const stored = await chain.wallet(address);
    const read: WalletState = stored === undefined ? emptyWallet(address) : { ...emptyWallet(address), ...pickState(stored) };
    // Another caller may have read it while this one was waiting.
    const present = wallets.get(address) ?? read;
    wallets.set(address, present);
    return present;
  };

  const lock = async (id: string): Promise<OpenLock | undefined> => {
    if (!locks.has(id)) locks.set(id, await chain.lock(id));
    return locks.get(id);
  };

  const delegateOf = async (publicKey: string): Promise<WalletState | undefined> => {
    const found = await wallet(crypto.addressOf(publicKey));
    return found.username === null ? undefined : found;
  };

  /** Checks what every kind requires: the nonce, the expiration, the signatures and the balance. */
  const checkSender = async (transaction: SignedTransaction): Promise<string | undefined> => {
    const { data } = transaction;
    const sender = await self.walletOf(data.senderPublicKey ?? "");
    const expected = sender.nonce + 1n;
    const nonce = data.nonce?.toBigInt() ?? 0n;
    if (nonce !== expected) return `Nonce ${nonce} is not the sender's next one, ${expected}.`;
    const height = chain.tip.height;
    if (data.expiration !== undefined && data.expiration > 0 && data.expiration <= height + 1) return `It expired at height ${data.expiration}.`;
    if (sender.multiSignature !== null) {
      if (data.signatures === undefined || !crypto.verifyParticipants(transaction, sender.multiSignature, height)) {
        return `The sender's wallet needs ${sender.multiSignature.min} valid signatures of its participants.`;
      }
    } else {
      if (!transaction.verified) return "Its signature is not valid.";
      if (data.signatures !== undefined && data.type !== 4) return "The sender's wallet is not a multisignature wallet.";
    }
    const second = data.secondSignature ?? data.signSignature;
    if (sender.secondPublicKey !== null && !crypto.verifySecondSignature(transaction, sender.secondPublicKey, height)) {
      return "Its second signature is missing or not valid.";
    }
    if (sender.secondPublicKey === null && second !== undefined) return "The sender's wallet has no second signature.";
    const cost = costOf(transaction);
    return sender.balance < cost ? `The sender's balance of ${sender.balance} does not cover ${cost}.` : undefined;
  };

  const apply = async (transaction: SignedTransaction): Promise<void> => {
    const { data } = transaction;
    const sender = await self.walletOf(data.senderPublicKey ?? "");
    sender.publicKey = data.senderPublicKey ?? null;
    sender.nonce += 1n;
    sender.balance -= costOf(transaction);
    await applyEffect(transaction, self);
  };

  const self: Ledger = {
    crypto,
    chain,
    wallet,
    walletOf: (publicKey) => wallet(crypto.addressOf(publicKey)),
    delegateOf,
    isTaken: async (username) => usernames.has(username) || (await chain.delegate(username))?.username === username,
    takeUsername: (username) => void usernames.add(username),
    lock,
    openLock: (opened) => void locks.set(opened.lockId, opened),
    closeLock: (id) => void locks.set(id, undefined),
    admit: async (transaction) => {
      const wrong = (await checkSender(transaction)) ?? (await checkKind(transaction, self));
      if (wrong === undefined) await apply(transaction);
      return wrong;
    },
  };
  return self;
};

const pickState = ({ publicKey, secondPublicKey, username, balance, nonce, vote, multiSignature, resigned }: Omit<WalletState, "address">) => ({
  publicKey,
  secondPublicKey,
  username,
  balance,
  nonce,
  vote,
  multiSignature,
  resigned,
});

/** What the sender pays, including the amounts of a multipayment. */
const costOf = ({ data }: SignedTransaction): bigint => {
  if (isFree(data.type)) return 0n;
  const payments = (data.asset?.payments ?? []).reduce((sum, payment) => sum + payment.amount.toBigInt(), 0n);
  return data.amount.toBigInt() + data.fee.toBigInt() + payments;
};
