import { createHash } from "node:crypto";
import { idOf, type SignedTransaction } from "./crypto.js";
import type { Ledger, OpenLock, WalletState } from "./ledger-state.js";

/**
 * What the network requires of one kind of transaction beyond what it requires of all, and what the kind does beyond the sender's
 * payment. There is one for each of the core's eleven kinds in version 2.
 */
interface Rule {
  /** Says in a sentence what is wrong; undefined if nothing is. */
  check?(transaction: SignedTransaction, ledger: Ledger, sender: WalletState): Promise<string | undefined> | string | undefined;
  apply?(transaction: SignedTransaction, ledger: Ledger, sender: WalletState): Promise<void> | void;
}

const sha256 = (hex: string): string => createHash("sha256").update(Buffer.from(hex, "hex")).digest("hex");

const credit = async (ledger: Ledger, address: string, amount: bigint): Promise<void> => {
  const wallet = await ledger.wallet(address);
  wallet.balance += amount;
};

/** Whether a lock has lapsed: it does when the tip's time (type 1) or height (type 2) reaches its value. */
const hasLapsed = ({ expiration }: Pick<OpenLock, "expiration">, ledger: Ledger): boolean => {
  const { tip } = ledger.chain;
  return expiration.value <= (expiration.type === 1 ? tip.timestamp : tip.height);
};

const transfer: Rule = {
  apply: ({ data }, ledger) => credit(ledger, data.recipientId ?? "", data.amount.toBigInt()),
};

const secondSignature: Rule = {
  // A wallet with a second key is refused before: this kind cannot carry the second signature that such a wallet requires.
  check: (_, _ledger, sender) => (sender.multiSignature === null ? undefined : "A multisignature wallet cannot have a second signature."),
  apply: ({ data }, _, sender) => {
    sender.secondPublicKey = data.asset?.signature?.publicKey ?? null;
  },
};

const delegateRegistration: Rule = {
  check: async ({ data }, ledger, sender) => {
    const username = data.asset?.delegate?.username ?? "";
    if (sender.multiSignature !== null) return "A multisignature wallet cannot be a delegate.";
    if (sender.username !== null) return `The sender is already delegate ${sender.username}.`;
    return (await ledger.isTaken(username)) ? `The username ${username} is taken.` : undefined;
  },
  apply: ({ data }, ledger, sender) => {
    sender.username = data.asset?.delegate?.username ?? null;
    if (sender.username !== null) ledger.takeUsername(sender.username);
  },
};

/** Votes are applied one after another: a switch is an unvote followed by a vote. */
const vote: Rule = {
  check: async ({ data }, ledger, sender) => {
    let present = sender.vote;
    for (const item of data.asset?.votes ?? []) {
      const publicKey = item.slice(1);
      const delegate = await ledger.delegateOf(publicKey);
      if (delegate === undefined) return `There is no delegate ${publicKey}.`;
      if (item.startsWith("-")) {
        if (present !== publicKey) return `The sender does not vote for ${publicKey}.`;
        present = null;
      } else {
        if (present !== null) return "The sender already votes for a delegate; it must unvote first.";
        if (delegate.resigned) return `Delegate ${String(delegate.username)} has resigned.`;
        present = publicKey;
      }
    }
    return undefined;
  },
  apply: ({ data }, _, sender) => {
    for (const item of data.asset?.votes ?? []) sender.vote = item.startsWith("+") ? item.slice(1) : null;
  },
};

const multiSignature: Rule = {
  check: async (transaction, ledger, sender) => {
    const asset = transaction.data.asset?.multiSignature;
    if (asset === undefined) return "It names no participants.";
    if (sender.multiSignature !== null) return "A multisignature wallet cannot register another.";
    const wallet = await ledger.walletOf(ledger.crypto.multiSignatureKey(asset));
    if (wallet.multiSignature !== null) return "That multisignature wallet is already registered.";
    if (transaction.data.signatures?.length !== asset.publicKeys.length) return "Every participant must sign.";
    const everyone = { min: asset.publicKeys.length, publicKeys: asset.publicKeys };
    return ledger.crypto.verifyParticipants(transaction, everyone, ledger.chain.tip.height) ? undefined : "A participant's signature is not valid.";
  },
  apply: async ({ data }, ledger) => {
    const asset = data.asset?.multiSignature;
    if (asset === undefined) return;
    const publicKey = ledger.crypto.multiSignatureKey(asset);
    const wallet = await ledger.walletOf(publicKey);
    wallet.publicKey = publicKey;
    wallet.multiSignature = asset;
  },
};

const multiPayment: Rule = {
  apply: async ({ data }, ledger) => {
    for (const { recipientId, amount } of data.asset?.payments ?? []) await credit(ledger, recipientId, amount.toBigInt());
  },
};

/** Delegates that are read at a time. */
const pageOfDelegates = 100;

/** Whether there are more delegates that have not resigned than must be active. Reads only as many ranks as it takes to know. */
const canSpareOne = async (ledger: Ledger): Promise<boolean> => {
  const { activeDelegates } = ledger.crypto.constantsAt(ledger.chain.tip.height + 1);
  const order = { field: "rank", direction: "asc" } as const;
  let left = 0;
  for (let offset = 0; ; offset += pageOfDelegates) {
    const { rows } = await ledger.chain.delegates({ filter: {}, order, offset, limit: pageOfDelegates });
    const ranked = rows.filter(({ rank }) => rank !== null);
    const states = await Promise.all(ranked.map(({ address }) => ledger.wallet(address)));
    left += states.filter(({ resigned }) => !resigned).length;
    if (left > activeDelegates) return true;
    if (ranked.length < pageOfDelegates) return false;
  }
};

const delegateResignation: Rule = {
  check: async (_, ledger, sender) => {
    if (sender.username === null) return "The sender is not a delegate.";
    if (sender.resigned) return `Delegate ${sender.username} has already resigned.`;
    return (await canSpareOne(ledger)) ? undefined : "Too few delegates would be left.";
  },
  apply: (_, _ledger, sender) => {
    sender.resigned = true;
  },
};

const htlcLock: Rule = {
  check: ({ data }, ledger) => {
    const lock = data.asset?.lock;
    if (lock === undefined) return "It contains no lock.";
    return hasLapsed(lock, ledger) ? "The lock would expire before it is forged." : undefined;
  },
  apply: (transaction, ledger, sender) => {
    const { data } = transaction;
    if (data.asset?.lock === undefined) return;
    ledger.openLock({
      lockId: idOf(transaction),
      senderPublicKey: data.senderPublicKey ?? "",
      senderId: sender.address,
      recipientId: data.recipientId ?? "",
      amount: data.amount.toBigInt(),
      secretHash: data.asset.lock.secretHash,
      expiration: data.asset.lock.expiration,
    });
  },
};

const endLock = async (id: string | undefined, to: "recipientId" | "senderId", ledger: Ledger): Promise<void> => {
  const lock = id === undefined ? undefined : await ledger.lock(id);
  if (lock === undefined) return;
  await credit(ledger, lock[to], lock.amount);
  ledger.closeLock(lock.lockId);
};

const htlcClaim: Rule = {
  check: async ({ data }, ledger) => {
    const claim = data.asset?.claim;
    const lock = claim === undefined ? undefined : await ledger.lock(claim.lockTransactionId);
    if (claim === undefined || lock === undefined) return "There is no such open lock.";
    if (hasLapsed(lock, ledger)) return "The lock has expired: it can only be refunded.";
    return sha256(claim.unlockSecret) === lock.secretHash ? undefined : "The secret does not open the lock.";
  },
  apply: ({ data }, ledger) => endLock(data.asset?.claim?.lockTransactionId, "recipientId", ledger),
};

const htlcRefund: Rule = {
  check: async ({ data }, ledger) => {
    const id = data.asset?.refund?.lockTransactionId;
    const lock = id === undefined ? undefined : await ledger.lock(id);
    if (lock === undefined) return "There is no such open lock.";
    return hasLapsed(lock, ledger) ? undefined : "The lock has not expired yet.";
  },
  apply: ({ data }, ledger) => endLock(data.asset?.refund?.lockTransactionId, "senderId", ledger),
};

const rules: readonly Rule[] = [
  transfer,
  secondSignature,
  delegateRegistration,
  vote,
  multiSignature,
  {}, // ipfs: costs its fee and does nothing else
  multiPayment,
  delegateResignation,
  htlcLock,
  htlcClaim,
  htlcRefund,
];

const ruleOf = ({ data }: SignedTransaction): Rule | undefined => ((data.typeGroup ?? 1) === 1 ? rules[data.type] : undefined);

export const checkKind = async (transaction: SignedTransaction, ledger: Ledger): Promise<string | undefined> => {
  const rule = ruleOf(transaction);
  if (rule === undefined) return `This node does not support transactions of type ${transaction.data.type} in group ${String(transaction.data.typeGroup)}.`;
  return rule.check?.(transaction, ledger, await ledger.walletOf(transaction.data.senderPublicKey ?? ""));
};

export const applyEffect = async (transaction: SignedTransaction, ledger: Ledger): Promise<void> => {
  await ruleOf(transaction)?.apply?.(transaction, ledger, await ledger.walletOf(transaction.data.senderPublicKey ?? ""));
};
