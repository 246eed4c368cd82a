import type { Lock, MultiSignature, Transaction } from "../../../types/chain.js";
import type { Ledger, TransactionType, WalletDraft } from "../../../types/transaction-type.js";
import { messageOf, PorticoError } from "../../errors.js";
import { multiSignaturePublicKey } from "../address.js";
import { parseAmount } from "../amount.js";

/** The core's kinds of transaction that lists and rules name: type group and type. What each kind does: transaction-types.ts. */
export const voteKind = { typeGroup: 1, type: 3 } as const;
export const htlcLockKind = { typeGroup: 1, type: 8 } as const;
export const htlcClaimKind = { typeGroup: 1, type: 9 } as const;
export const htlcRefundKind = { typeGroup: 1, type: 10 } as const;

export const isVote = ({ typeGroup, type }: Pick<Transaction, "typeGroup" | "type">): boolean =>
  typeGroup === voteKind.typeGroup && type === voteKind.type;

// What each kind of transaction does: one row per kind. A fork's rows are added, and override the core's.
// Every sender pays amount + fee, except for HTLC claims and refunds; the rows define what happens beyond that.

interface Payment {
  recipientId: string;
  amount: bigint;
}

/** The assets of the core's kinds. */
interface Assets {
  signature: { publicKey: string };
  delegate: { username: string };
  votes: string[];
  multiSignature: MultiSignature;
  payments: { recipientId: string; amount: string }[];
  lock: Pick<Lock, "secretHash" | "expiration">;
  claim: { lockTransactionId: string };
  refund: { lockTransactionId: string };
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

/** Checks that an asset has what its effect depends on. The network accepted the block, so nothing else is checked. */
const isWhole: { readonly [Member in keyof Assets]: (part: Partial<Assets[Member]>) => boolean } = {
  signature: ({ publicKey }) => isText(publicKey),
  delegate: ({ username }) => isText(username),
  votes: (items) => Array.isArray(items) && items.every(isText),
  multiSignature: ({ min, publicKeys }) => Number.isInteger(min) && Array.isArray(publicKeys) && publicKeys.every(isText),
  payments: (items) => Array.isArray(items) && items.every((item) => isText(item?.recipientId) && isText(item.amount)),
  lock: ({ secretHash, expiration }) => isText(secretHash) && Number.isInteger(expiration?.type) && Number.isInteger(expiration?.value),
  claim: ({ lockTransactionId }) => isText(lockTransactionId),
  refund: ({ lockTransactionId }) => isText(lockTransactionId),
};

/** The asset of a kind. @throws RangeError if it is missing or incomplete */
const assetOf = <Member extends keyof Assets>(transaction: Transaction, member: Member): Assets[Member] => {
  const part = transaction.asset?.[member];
  if (typeof part !== "object" || part === null) throw new RangeError(`transaction ${transaction.id} has no asset.${member}`);
  if (!isWhole[member](part)) throw new RangeError(`asset.${member} of transaction ${transaction.id} is incomplete or malformed`);
  return part as Assets[Member];
};

export const paymentsOf = (transaction: Transaction): Payment[] =>
  assetOf(transaction, "payments").map(({ recipientId, amount }) => ({
    recipientId,
    amount: parseAmount(amount),
  }));

const transfer: NonNullable<TransactionType["apply"]> = (transaction, ledger) => {
  if (transaction.recipientId !== undefined) ledger.wallet(transaction.recipientId).balance += transaction.amount;
};

const registerSecondSignature = (transaction: Transaction, ledger: Ledger): void => {
  const { publicKey } = assetOf(transaction, "signature");
  ledger.walletOf(transaction.senderPublicKey).secondPublicKey = publicKey;
};

const registerDelegate = (transaction: Transaction, ledger: Ledger): void => {
  const { username } = assetOf(transaction, "delegate");
  ledger.walletOf(transaction.senderPublicKey).username = username;
};

const vote = (transaction: Transaction, ledger: Ledger): void => {
  const wallet = ledger.walletOf(transaction.senderPublicKey);
  for (const item of assetOf(transaction, "votes")) wallet.vote = item.startsWith("+") ? item.slice(1) : null;
};

/** In version 1, a multisignature registration creates no wallet of its own: it only makes the sender sign together with others. */
const registerMultiSignature = (transaction: Transaction, ledger: Ledger): void => {
  if (transaction.version < 2) return;
  const asset = assetOf(transaction, "multiSignature");
  const wallet = ledger.walletOf(multiSignaturePublicKey(asset));
  wallet.multiSignature = { min: asset.min, publicKeys: [...asset.publicKeys] };
};

const payMany = (transaction: Transaction, ledger: Ledger): void => {
  const sender = ledger.walletOf(transaction.senderPublicKey);
  for (const { recipientId, amount } of paymentsOf(transaction)) {
    sender.balance -= amount;
    ledger.wallet(recipientId).balance += amount;
  }
};

const resign = (transaction: Transaction, ledger: Ledger): void => {
  ledger.walletOf(transaction.senderPublicKey).resigned = true;
};

const openLock = (transaction: Transaction, ledger: Ledger): void => {
  const { secretHash, expiration } = assetOf(transaction, "lock");
  const recipientId = transaction.recipientId ?? transaction.senderId;
  ledger.wallet(recipientId);
  ledger.openLock({
    lockId: transaction.id,
    senderPublicKey: transaction.senderPublicKey,
    senderId: transaction.senderId,
    recipientId,
    amount: transaction.amount,
    secretHash,
    timestamp: transaction.timestamp,
    expiration: { type: expiration.type, value: expiration.value },
    ...(transaction.vendorField === undefined ? {} : { vendorField: transaction.vendorField }),
  });
};

/** Ends a lock: its amount minus the fee goes to the lock's recipient (claim) or sender (refund), whoever sent the transaction. */
const closeLock =
  (member: "claim" | "refund", to: "recipientId" | "senderId") =>
  (transaction: Transaction, ledger: Ledger): void => {
    const { lockTransactionId } = assetOf(transaction, member);
    const lock = ledger.lock(lockTransactionId);
    if (lock === undefined)
      throw new RangeError(`transaction ${transaction.id} claims or refunds lock ${lockTransactionId}, which is not open`);
    ledger.wallet(lock[to]).balance += lock.amount - transaction.fee;
    ledger.closeLock(lockTransactionId);
  };

const paymentRecipients = (transaction: Transaction): string[] => paymentsOf(transaction).map(({ recipientId }) => recipientId);

const core = (
  type: number,
  name: string,
  key: string,
  rest: Omit<TransactionType, "typeGroup" | "type" | "name" | "key"> = {},
): TransactionType => ({ typeGroup: 1, type, name, key, ...rest });

const multiPayment = { apply: payMany, recipients: paymentRecipients };

/** The core's kinds. Types 6 to 8 have different meanings in versions 1 and 2. */
export const coreTransactionTypes: readonly TransactionType[] = [
  core(0, "Transfer", "transfer", { apply: transfer }),
  core(1, "SecondSignature", "secondSignature", { apply: registerSecondSignature }),
  core(2, "DelegateRegistration", "delegateRegistration", { apply: registerDelegate }),
  core(3, "Vote", "vote", { apply: vote }),
  core(4, "MultiSignature", "multiSignature", { apply: registerMultiSignature }),
  core(5, "Ipfs", "ipfs"),
  core(6, "TimelockTransfer", "timelockTransfer", { versions: [1], apply: transfer }),
  core(6, "MultiPayment", "multiPayment", { versions: [2], ...multiPayment }),
  core(7, "MultiPayment", "multiPayment", { versions: [1], ...multiPayment }),
  core(7, "DelegateResignation", "delegateResignation", { versions: [2], apply: resign }),
  core(8, "DelegateResignation", "delegateResignation", { versions: [1], apply: resign }),
  core(8, "HtlcLock", "htlcLock", { versions: [2], apply: openLock }),
  core(9, "HtlcClaim", "htlcClaim", { versions: [2], senderPays: false, apply: closeLock("claim", "recipientId") }),
  core(10, "HtlcRefund", "htlcRefund", { versions: [2], senderPays: false, apply: closeLock("refund", "senderId") }),
];

const coreRows: ReadonlySet<TransactionType> = new Set(coreTransactionTypes);

/** Whether a row is the core's, not a fork's own. */
export const isCoreType = (row: TransactionType): boolean => coreRows.has(row);

/** The transaction types of a network. */
export interface TransactionTypes {
  /** The row of a kind. An unknown kind gets one by which the sender pays amount + fee, and nothing else happens. */
  of(transaction: Pick<Transaction, "typeGroup" | "type" | "version">): TransactionType;
  /** Every row that is not replaced in all its versions, the core's first. */
  readonly all: readonly TransactionType[];
}

/** The wire versions that a row is for. */
export const versionsOf = ({ versions = [1, 2] }: Pick<TransactionType, "versions">): readonly number[] => versions;

export const createTransactionTypes = (added: readonly TransactionType[] = []): TransactionTypes => {
  const rows = new Map<string, TransactionType>();
  const given = [...coreTransactionTypes, ...added];
  for (const row of given) {
    for (const version of versionsOf(row)) rows.set(`${row.typeGroup}/${row.type}/${version}`, row);
  }
  const inForce = new Set(rows.values());
  const unknown = new Map<string, TransactionType>();
  return {
    all: given.filter((row) => inForce.has(row)),
    of: ({ typeGroup, type, version }) => {
      const found = rows.get(`${typeGroup}/${type}/${version}`) ?? rows.get(`${typeGroup}/${type}/${Math.min(version, 2)}`);
      if (found !== undefined) return found;
      const key = `${typeGroup}/${type}`;
      let row = unknown.get(key);
      if (row === undefined) {
        row = { typeGroup, type, key, name: key };
        unknown.set(key, row);
      }
      return row;
    },
  };
};

/** What went wrong with a transaction: its name, which the core's own errors tell already, and the error. */
export const faultIn = ({ id }: Transaction, error: unknown): string => {
  const [name, message] = [`transaction ${id}`, messageOf(error)];
  return message.includes(name) ? message : `${name}: ${message}`;
};

const recipientsBy = (recipients: NonNullable<TransactionType["recipients"]>, row: TransactionType, transaction: Transaction): string[] => {
  try {
    const named = recipients.call(row, transaction);
    return isCoreType(row) ? named : requireAddresses(named, row);
  } catch (error) {
    throw new PorticoError("BLOCK_INVALID", faultIn(transaction, error), { cause: error });
  }
};

/**
 * Addresses that a transaction names as recipients, each once: its `recipientId`, then those that its type knows. A vote that names none
 * goes to its sender. @throws PorticoError BLOCK_INVALID
 */
export const recipientsOf = (transaction: Transaction, types: TransactionTypes): string[] => {
  const row = types.of(transaction);
  const { recipientId = isVote(transaction) ? transaction.senderId : undefined } = transaction;
  const named = recipientId === undefined ? [] : [recipientId];
  return row.recipients === undefined ? named : [...new Set([...named, ...recipientsBy(row.recipients, row, transaction)])];
};

// What a fork's own transaction types do is checked as it happens: the types that hold it to the contract do not exist at run time, and
// what is wrong in a store only shows when it is too late.

const isTextOrNull = (value: unknown): boolean => value === null || typeof value === "string";
const isAmount = (value: unknown): boolean => typeof value === "bigint";

const sound: { readonly [Member in Exclude<keyof WalletDraft, "address">]: [rule: string, fits: (value: unknown) => boolean] } = {
  balance: ["a bigint", isAmount],
  lockedBalance: ["a bigint", isAmount],
  nonce: ["a bigint", isAmount],
  publicKey: ["a string or null", isTextOrNull],
  secondPublicKey: ["a string or null", isTextOrNull],
  username: ["a string or null", isTextOrNull],
  vote: ["a string or null", isTextOrNull],
  multiSignature: ["an object or null", (value) => typeof value === "object"],
  resigned: ["true or false", (value) => typeof value === "boolean"],
};

const members = Object.entries(sound) as [keyof typeof sound, (typeof sound)["balance"]][];

/** Checks what `apply` returned, and the wallets that it asked for. @throws TypeError */
export const requireSoundEffect = ({ key }: TransactionType, returned: unknown, wallets: readonly WalletDraft[]): void => {
  if (typeof returned === "object" && returned !== null && "then" in returned) {
    throw new TypeError(`\`apply\` of ${key} returned a promise, but its effects must be complete when it returns`);
  }
  for (const wallet of wallets) {
    const wrong = members.find(([name, [, fits]]) => !fits(wallet[name]));
    if (wrong === undefined) continue;
    const [name, [rule]] = wrong;
    throw new TypeError(`after \`apply\` of ${key}, \`${name}\` of wallet ${wallet.address} is ${typeof wallet[name]}, not ${rule}`);
  }
};

/** Checks what `recipients` returned. @throws TypeError */
const requireAddresses = (recipients: unknown, { key }: TransactionType): string[] => {
  if (Array.isArray(recipients) && recipients.every((address) => typeof address === "string" && address !== ""))
    return recipients as string[];
  throw new TypeError(`\`recipients\` of ${key} must return a list of addresses`);
};
