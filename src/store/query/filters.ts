import type { Block, Delegate, Lock, Transaction, Wallet } from "../../../types/chain.js";
import type { BlockFilter, DelegateFilter, LockFilter, Range, TransactionFilter, WalletFilter } from "../../../types/chain-queries.js";

/**
 * Whether a row passes a filter: one test for each member of the filter. Members that an index has answered are not tested again.
 */
type Tests<Filter, Row> = { [K in keyof Filter]-?: (wanted: NonNullable<Filter[K]>, row: Row) => boolean };

export const within = <T extends number | bigint>(range: Range<T>, value: T): boolean =>
  (range.from === undefined || value >= range.from) && (range.to === undefined || value <= range.to);

/** A test of every member given, except those in `answered`; undefined if none is left. */
const tester =
  <Filter extends object, Row>(tests: Tests<Filter, Row>) =>
  (filter: Filter, answered: ReadonlySet<keyof Filter> = new Set()): ((row: Row) => boolean) | undefined => {
    const asked = (Object.keys(filter) as (keyof Filter)[]).filter((name) => filter[name] !== undefined && !answered.has(name));
    if (asked.length === 0) return undefined;
    return (row) => asked.every((name) => tests[name](filter[name] as NonNullable<Filter[keyof Filter]>, row));
  };

export const walletTester = tester<WalletFilter, Wallet>({
  address: (wanted, { address }) => address === wanted,
  addresses: (wanted, { address }) => wanted.includes(address),
  publicKey: (wanted, { publicKey }) => publicKey === wanted,
  secondPublicKey: (wanted, { secondPublicKey }) => secondPublicKey === wanted,
  vote: (wanted, { vote }) => vote === wanted,
  username: (wanted, { username }) => username === wanted,
  balance: (wanted, { balance }) => within(wanted, balance),
  voteBalance: (wanted, { voteBalance }) => within(wanted, voteBalance),
  producedBlocks: (wanted, { producedBlocks }) => within(wanted, producedBlocks),
});

/** Delegates are tested with their second public key, which is their wallet's. */
export interface DelegateRow {
  delegate: Delegate;
  secondPublicKey: string | null;
}

export const delegateTester = tester<DelegateFilter, DelegateRow>({
  address: (wanted, { delegate }) => delegate.address === wanted,
  publicKey: (wanted, { delegate }) => delegate.publicKey === wanted,
  username: (wanted, { delegate }) => delegate.username.includes(wanted),
  usernames: (wanted, { delegate }) => wanted.includes(delegate.username),
  secondPublicKey: (wanted, { secondPublicKey }) => secondPublicKey === wanted,
  vote: (wanted, { delegate }) => delegate.vote === wanted,
  balance: (wanted, { delegate }) => within(wanted, delegate.balance),
  approval: (wanted, { delegate }) => within(wanted, delegate.approval),
  forgedFees: (wanted, { delegate }) => within(wanted, delegate.forgedFees),
  forgedRewards: (wanted, { delegate }) => within(wanted, delegate.forgedRewards),
  forgedTotal: (wanted, { delegate }) => within(wanted, delegate.forgedTotal),
  producedBlocks: (wanted, { delegate }) => within(wanted, delegate.producedBlocks),
  voteBalance: (wanted, { delegate }) => within(wanted, delegate.voteBalance),
  resigned: (wanted, { delegate }) => delegate.resigned === wanted,
});

export const blockTester = tester<BlockFilter, Block>({
  id: (wanted, { id }) => id === wanted,
  version: (wanted, { version }) => version === wanted,
  previousBlock: (wanted, { previousBlock }) => previousBlock === wanted,
  payloadHash: (wanted, { payloadHash }) => payloadHash === wanted,
  generatorPublicKey: (wanted, { generatorPublicKey }) => generatorPublicKey === wanted,
  blockSignature: (wanted, { blockSignature }) => blockSignature === wanted,
  timestamp: (wanted, { timestamp }) => within(wanted, timestamp),
  height: (wanted, { height }) => within(wanted, height),
  numberOfTransactions: (wanted, { numberOfTransactions }) => within(wanted, numberOfTransactions),
  totalAmount: (wanted, { totalAmount }) => within(wanted, totalAmount),
  totalFee: (wanted, { totalFee }) => within(wanted, totalFee),
  reward: (wanted, { reward }) => within(wanted, reward),
  payloadLength: (wanted, { payloadLength }) => within(wanted, payloadLength),
});

/** Transactions are tested with the addresses of their recipients, which their type knows. */
export interface TransactionRow {
  transaction: Transaction;
  recipients: readonly string[];
}

export const hasVendorPart = ({ vendorField }: Transaction, hex: string): boolean =>
  vendorField !== undefined && Buffer.from(vendorField, "utf8").toString("hex").includes(hex);

export const transactionTester = tester<TransactionFilter, TransactionRow>({
  id: (wanted, { transaction }) => transaction.id === wanted,
  blockId: (wanted, { transaction }) => transaction.blockId === wanted,
  version: (wanted, { transaction }) => transaction.version === wanted,
  typeGroup: (wanted, { transaction }) => transaction.typeGroup === wanted,
  type: (wanted, { transaction }) => transaction.type === wanted,
  senderPublicKey: (wanted, { transaction }) => transaction.senderPublicKey === wanted,
  senderId: (wanted, { transaction }) => transaction.senderId === wanted,
  recipientId: (wanted, { recipients }) => recipients.includes(wanted),
  ownerId: (wanted, { transaction, recipients }) => transaction.senderId === wanted || recipients.includes(wanted),
  addresses: (wanted, { transaction, recipients }) =>
    wanted.some((address) => transaction.senderId === address || recipients.includes(address)),
  vendorField: (wanted, { transaction }) => transaction.vendorField === wanted,
  vendorFieldHex: (wanted, { transaction }) => hasVendorPart(transaction, wanted),
  timestamp: (wanted, { transaction }) => within(wanted, transaction.timestamp),
  amount: (wanted, { transaction }) => within(wanted, transaction.amount),
  fee: (wanted, { transaction }) => within(wanted, transaction.fee),
  nonce: (wanted, { transaction }) => transaction.nonce === wanted,
});

/** Locks are tested together with whether they have expired at the tip. */
export interface LockRow {
  lock: Lock;
  expired: boolean;
}

export const lockTester = tester<LockFilter, LockRow>({
  lockId: (wanted, { lock }) => lock.lockId === wanted,
  senderPublicKey: (wanted, { lock }) => lock.senderPublicKey === wanted,
  senderId: (wanted, { lock }) => lock.senderId === wanted,
  recipientId: (wanted, { lock }) => lock.recipientId === wanted,
  secretHash: (wanted, { lock }) => lock.secretHash === wanted,
  vendorField: (wanted, { lock }) => lock.vendorField === wanted,
  expirationType: (wanted, { lock }) => lock.expiration.type === wanted,
  amount: (wanted, { lock }) => within(wanted, lock.amount),
  expirationValue: (wanted, { lock }) => within(wanted, lock.expiration.value),
  timestamp: (wanted, { lock }) => within(wanted, lock.timestamp),
  isExpired: (wanted, { expired }) => expired === wanted,
});
