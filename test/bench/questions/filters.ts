import type { BlockFilter, DelegateFilter, LockFilter, TransactionFilter, WalletFilter } from "../../../types/chain-queries.js";
import * as names from "../chain/names.js";
import { blocktime } from "../chain/network.js";
import type { ChainSize } from "../chain/sizes.js";
import { busiestAddress, busiestPublicKey, forger, walletAddress } from "./parties.js";

/** Each filter of each list by itself, with a value that chains of every size have. If a filter is missing, this does not compile. */

type Values<Filter> = { readonly [Name in keyof Filter]-?: NonNullable<Filter[Name]> };

const token = 100_000_000n;
/** The middle half of the chain. */
const middle = ({ blocks }: ChainSize) => ({ from: Math.floor(blocks / 4), to: Math.floor((blocks * 3) / 4) });
const middleTime = (size: ChainSize) => ({ from: middle(size).from * blocktime, to: middle(size).to * blocktime });

const transactionFilters = (size: ChainSize): Values<TransactionFilter> => ({
  id: names.transactionId(Math.floor(size.transactions / 2)),
  blockId: names.blockId(Math.floor(size.blocks / 2)),
  version: 2,
  typeGroup: 1,
  type: 3,
  senderPublicKey: busiestPublicKey,
  senderId: busiestAddress,
  recipientId: busiestAddress,
  ownerId: busiestAddress,
  addresses: [busiestAddress, forger.address],
  vendorField: "Payout 7",
  vendorFieldHex: Buffer.from("Payout 7").toString("hex"),
  timestamp: middleTime(size),
  amount: { from: token, to: token * 1_000n },
  fee: { from: 1_000_000n, to: 10_000_000n },
  nonce: 3n,
});

const blockFilters = (size: ChainSize): Values<BlockFilter> => ({
  id: names.blockId(Math.floor(size.blocks / 2)),
  version: 0,
  previousBlock: names.blockId(Math.floor(size.blocks / 2)),
  payloadHash: names.payloadHash(Math.floor(size.blocks / 2)),
  generatorPublicKey: forger.publicKey,
  blockSignature: names.blockSignature(Math.floor(size.blocks / 2)),
  timestamp: middleTime(size),
  height: middle(size),
  numberOfTransactions: { from: 1, to: 1_000 },
  totalAmount: { from: 1n },
  totalFee: { from: 1n },
  reward: { from: 1n },
  payloadLength: { from: 1 },
});

const walletFilters = (): Values<WalletFilter> => ({
  address: busiestAddress,
  addresses: [busiestAddress, forger.address],
  publicKey: busiestPublicKey,
  secondPublicKey: names.secondPublicKeyOf(60),
  vote: forger.publicKey,
  username: forger.username,
  balance: { from: token, to: token * 1_000n },
  voteBalance: { from: 1n },
  producedBlocks: { from: 1 },
});

const delegateFilters = (): Values<DelegateFilter> => ({
  address: forger.address,
  publicKey: forger.publicKey,
  username: "forger_1",
  usernames: [forger.username],
  secondPublicKey: names.secondPublicKeyOf(60),
  vote: forger.publicKey,
  balance: { from: token },
  approval: { from: 0.1 },
  forgedFees: { from: 1n },
  forgedRewards: { from: 1n },
  forgedTotal: { from: 1n },
  producedBlocks: { from: 1 },
  voteBalance: { from: token },
  resigned: false,
});

const lockFilters = (size: ChainSize): Values<LockFilter> => ({
  lockId: names.transactionId(Math.floor(size.transactions / 2)),
  senderPublicKey: forger.publicKey,
  senderId: forger.address,
  recipientId: walletAddress(70),
  secretHash: names.secretHash(Math.floor(size.transactions / 2)),
  vendorField: "Payout 7",
  expirationType: 2,
  amount: { from: token },
  expirationValue: middle(size),
  timestamp: middleTime(size),
  isExpired: false,
});

export const filters = { transactions: transactionFilters, blocks: blockFilters, wallets: walletFilters, delegates: delegateFilters, locks: lockFilters };

export type ListKind = keyof typeof filters;
export const listKinds = Object.keys(filters) as ListKind[];
