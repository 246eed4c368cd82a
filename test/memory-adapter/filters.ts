import type { Block, Delegate, Lock, Tip, Transaction, Wallet } from "../../types/chain.js";
import type {
  BlockFilter,
  DelegateFilter,
  LockFilter,
  Range,
  TransactionFilter,
  WalletFilter,
} from "../../types/chain-queries.js";

/** The meaning of each filter, one line each. */
export type Tests<Row, Filter> = { [Key in keyof Required<Filter>]: (row: Row, value: Required<Filter>[Key]) => boolean };

const within = <T extends bigint | number>(value: T, { from, to }: Range<T>): boolean =>
  (from === undefined || value >= from) && (to === undefined || value <= to);

export const walletTests: Tests<Wallet, WalletFilter> = {
  address: (wallet, address) => wallet.address === address,
  addresses: (wallet, addresses) => addresses.includes(wallet.address),
  publicKey: (wallet, publicKey) => wallet.publicKey === publicKey,
  secondPublicKey: (wallet, secondPublicKey) => wallet.secondPublicKey === secondPublicKey,
  vote: (wallet, vote) => wallet.vote === vote,
  username: (wallet, username) => wallet.username === username,
  balance: (wallet, range) => within(wallet.balance, range),
  voteBalance: (wallet, range) => within(wallet.voteBalance, range),
  producedBlocks: (wallet, range) => within(wallet.producedBlocks, range),
};

/** Only its wallet has a delegate's second public key, so a function for it is passed in. */
export const createDelegateTests = (
  secondPublicKeyOf: (delegate: Delegate) => string | null,
): Tests<Delegate, DelegateFilter> => ({
  address: (delegate, address) => delegate.address === address,
  publicKey: (delegate, publicKey) => delegate.publicKey === publicKey,
  username: (delegate, part) => delegate.username.includes(part),
  usernames: (delegate, usernames) => usernames.includes(delegate.username),
  secondPublicKey: (delegate, secondPublicKey) => secondPublicKeyOf(delegate) === secondPublicKey,
  vote: (delegate, vote) => delegate.vote === vote,
  balance: (delegate, range) => within(delegate.balance, range),
  approval: (delegate, range) => within(delegate.approval, range),
  forgedFees: (delegate, range) => within(delegate.forgedFees, range),
  forgedRewards: (delegate, range) => within(delegate.forgedRewards, range),
  forgedTotal: (delegate, range) => within(delegate.forgedTotal, range),
  producedBlocks: (delegate, range) => within(delegate.producedBlocks, range),
  voteBalance: (delegate, range) => within(delegate.voteBalance, range),
  resigned: (delegate, resigned) => delegate.resigned === resigned,
});

export const blockTests: Tests<Block, BlockFilter> = {
  id: (block, id) => block.id === id,
  version: (block, version) => block.version === version,
  previousBlock: (block, previousBlock) => block.previousBlock === previousBlock,
  payloadHash: (block, payloadHash) => block.payloadHash === payloadHash,
  generatorPublicKey: (block, generatorPublicKey) => block.generatorPublicKey === generatorPublicKey,
  blockSignature: (block, blockSignature) => block.blockSignature === blockSignature,
  timestamp: (block, range) => within(block.timestamp, range),
  height: (block, range) => within(block.height, range),
  numberOfTransactions: (block, range) => within(block.numberOfTransactions, range),
  totalAmount: (block, range) => within(block.totalAmount, range),
  totalFee: (block, range) => within(block.totalFee, range),
  reward: (block, range) => within(block.reward, range),
  payloadLength: (block, range) => within(block.payloadLength, range),
};

/** Who receives a transaction is a rule of the network, so a function for it is passed in. */
export const createTransactionTests = (
  recipientsOf: (transaction: Transaction) => string[],
): Tests<Transaction, TransactionFilter> => {
  const isOwner = (transaction: Transaction, address: string): boolean =>
    transaction.senderId === address || recipientsOf(transaction).includes(address);
  return {
    id: (transaction, id) => transaction.id === id,
    blockId: (transaction, blockId) => transaction.blockId === blockId,
    version: (transaction, version) => transaction.version === version,
    typeGroup: (transaction, typeGroup) => transaction.typeGroup === typeGroup,
    type: (transaction, type) => transaction.type === type,
    senderPublicKey: (transaction, senderPublicKey) => transaction.senderPublicKey === senderPublicKey,
    senderId: (transaction, senderId) => transaction.senderId === senderId,
    recipientId: (transaction, recipientId) => recipientsOf(transaction).includes(recipientId),
    ownerId: isOwner,
    addresses: (transaction, addresses) => addresses.some((address) => isOwner(transaction, address)),
    vendorField: (transaction, vendorField) => transaction.vendorField === vendorField,
    vendorFieldHex: ({ vendorField }, hex) =>
      vendorField !== undefined && Buffer.from(vendorField, "utf8").toString("hex").includes(hex),
    timestamp: (transaction, range) => within(transaction.timestamp, range),
    amount: (transaction, range) => within(transaction.amount, range),
    fee: (transaction, range) => within(transaction.fee, range),
    nonce: (transaction, nonce) => transaction.nonce === nonce,
  };
};

export const createLockTests = (tip: Tip): Tests<Lock, LockFilter> => ({
  lockId: (lock, lockId) => lock.lockId === lockId,
  senderPublicKey: (lock, senderPublicKey) => lock.senderPublicKey === senderPublicKey,
  senderId: (lock, senderId) => lock.senderId === senderId,
  recipientId: (lock, recipientId) => lock.recipientId === recipientId,
  secretHash: (lock, secretHash) => lock.secretHash === secretHash,
  vendorField: (lock, vendorField) => lock.vendorField === vendorField,
  expirationType: (lock, type) => lock.expiration.type === type,
  amount: (lock, range) => within(lock.amount, range),
  expirationValue: (lock, range) => within(lock.expiration.value, range),
  timestamp: (lock, range) => within(lock.timestamp, range),
  isExpired: (lock, expired) => lock.expiration.value <= (lock.expiration.type === 1 ? tip.timestamp : tip.height) === expired,
});
