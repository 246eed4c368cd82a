/**
 * The chain's entities, as Portico represents them internally.
 *
 * Glossary
 * - amount       a whole number of the token's smallest unit, 1e-8 of the token; a bigint, always exact
 * - epoch time   whole seconds since the milestone's `epoch`; every `timestamp` here is one
 * - block        a batch of transactions signed by a delegate; its height is its position in the chain, 1 for genesis
 * - transaction  a signed order of a wallet; `typeGroup` and `type` identify its kind (group 1 is the core's, others are forks')
 * - wallet       whatever holds, or once held, the token; cold while its public key is not known
 * - delegate     a wallet that registered a username to forge blocks
 * - vote         the delegate to which a wallet gives its whole weight (balance + locked balance)
 * - round        as many blocks as there are active delegates; ranks are recomputed at its end
 * - lock         an amount that an HTLC lock transaction sets aside until a claim or a refund releases it
 */

/** A block without its transactions. */
export interface Block {
  id: string;
  version: number;
  height: number;
  /** Epoch time. */
  timestamp: number;
  /** Id of the previous block; null for genesis. */
  previousBlock: string | null;
  numberOfTransactions: number;
  totalAmount: bigint;
  totalFee: bigint;
  reward: bigint;
  /** Bytes. */
  payloadLength: number;
  payloadHash: string;
  generatorPublicKey: string;
  blockSignature: string;
}

/** The last block applied, which identifies a state of the chain. */
export type Tip = Pick<Block, "id" | "height" | "timestamp">;

/** A transaction in a block. Optional members are absent, never undefined, when the transaction does not have them. */
export interface Transaction {
  id: string;
  version: number;
  network?: number;
  typeGroup: number;
  type: number;
  /** Epoch time: the transaction's own (version 1), otherwise its block's. */
  timestamp: number;
  /** Version 2 only. */
  nonce?: bigint;
  senderPublicKey: string;
  /** Address of the sender. */
  senderId: string;
  /** Address, where the transaction names one. */
  recipientId?: string;
  amount: bigint;
  fee: bigint;
  vendorField?: string;
  /** As in the block, except that the amounts of payments are always decimal strings. */
  asset?: Record<string, unknown>;
  signature?: string;
  secondSignature?: string;
  signatures?: string[];
  /** Of version 2: the height from which on no block can contain it; 0 for never. */
  expiration?: number;
  blockId: string;
  blockHeight: number;
  /** Position in the block, from 0. */
  sequence: number;
}

export interface MultiSignature {
  min: number;
  publicKeys: string[];
}

export interface Wallet {
  address: string;
  /** Null for a cold wallet. */
  publicKey: string | null;
  secondPublicKey: string | null;
  /** Null unless the wallet is a delegate. */
  username: string | null;
  balance: bigint;
  /** Amount in its open HTLC locks. */
  lockedBalance: bigint;
  nonce: bigint;
  /** Public key of the delegate voted for, or null. */
  vote: string | null;
  multiSignature: MultiSignature | null;
  isDelegate: boolean;
  /** Whether the delegate has resigned; false for a wallet that is not a delegate. */
  resigned: boolean;
  /** Sum of its voters' weights; 0 unless the wallet is a delegate. */
  voteBalance: bigint;
  /** Blocks forged; 0 unless the wallet is a delegate. */
  producedBlocks: number;
  /** Fees and rewards of these blocks; 0 unless the wallet is a delegate. */
  forgedFees: bigint;
  forgedRewards: bigint;
  /** Position as a delegate when the last round ended, from 1; null if it was not ranked then. */
  rank: number | null;
}

export interface Delegate {
  username: string;
  address: string;
  publicKey: string;
  /** Sum over its voters of balance + locked balance. */
  voteBalance: bigint;
  /** How many wallets vote for it. Absent without `supports.delegateFigures`, as are `missedBlocks` and `productivity`. */
  voters?: number;
  /** Position when the last round ended, from 1; null if it was not ranked then. */
  rank: number | null;
  /** Vote balance in percent of the supply, two decimals, as `approvalOf` of `portico/chain` gives it. */
  approval: number;
  producedBlocks: number;
  /**
   * Slots without a block between two blocks, from the second block on, in which it was the delegate's turn: `missedTurns` of
   * `portico/chain` counts them.
   */
  missedBlocks?: number;
  /** Produced blocks in percent of those and the missed ones, as `productivityOf` of `portico/chain` gives it; null before the first. */
  productivity?: number | null;
  /** Finished rounds in which it was active but forged no block. Absent if the adapter does not count them. */
  missedRounds?: number;
  forgedFees: bigint;
  forgedRewards: bigint;
  /** forgedFees + forgedRewards. */
  forgedTotal: bigint;
  /** The last block it forged, or null. */
  lastBlock: Tip | null;
  resigned: boolean;
  /** Public key of the delegate that this delegate itself votes for, or null. */
  vote: string | null;
  balance: bigint;
}

export interface Lock {
  /** Id of the lock transaction. */
  lockId: string;
  senderPublicKey: string;
  senderId: string;
  recipientId: string;
  amount: bigint;
  secretHash: string;
  /** Epoch time of the block that holds the lock transaction. */
  timestamp: number;
  /** Type 1: `value` is an epoch time; type 2: `value` is a height. */
  expiration: { type: number; value: number };
  vendorField?: string;
}

export interface RoundDelegate {
  publicKey: string;
  username: string;
  /** Vote balance at the end of the previous round, by which the delegate was ranked. */
  voteBalance: bigint;
}

export interface FeeStatistics {
  typeGroup: number;
  type: number;
  /** Mean, halves rounded up: `averageOf` of `portico/chain`. */
  avg: bigint;
  min: bigint;
  max: bigint;
  sum: bigint;
}

/** A node known to this node. */
export interface Peer {
  ip: string;
  /** Port of the peer protocol. */
  port: number;
  /** Port by component name; null or below 1 if the component is off. */
  ports?: Record<string, number | null>;
  /** Version of the node software. */
  version: string;
  height: number;
  /** 200 for a peer that answers. */
  status: number;
  os?: string;
  /** Milliseconds. */
  latency: number;
  /** False if its public interface is off: routes do not show such a peer. Default true. */
  isPublic?: boolean;
}
