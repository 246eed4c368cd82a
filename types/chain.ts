/**
 * The chain's nouns, as Portico holds them inside.
 *
 * Glossary
 * - amount       an integer number of the token's smallest unit, 1e-8 of the token; a bigint, always exact
 * - epoch time   whole seconds since the milestone's `epoch`; every `timestamp` here is one
 * - block        a batch of transactions that a delegate signed; a height is its distance from genesis, which has height 1
 * - transaction  a signed order of a wallet; `type` within `typeGroup` names its kind (group 1 is the core, others are forks')
 * - wallet       whatever holds, or once held, the token; cold while no public key of it is known
 * - delegate     a wallet that registered a username to forge blocks
 * - vote         the delegate that a wallet gives its whole weight (balance + locked balance) to
 * - round        as many blocks as there are active delegates; ranks are recomputed at its end
 * - lock         an amount that an HTLC lock transaction took out of a balance and that a claim or a refund ends
 */

/** A block without its transactions. */
export interface Block {
  id: string;
  version: number;
  height: number;
  /** Epoch time. */
  timestamp: number;
  /** Id of the block before; null for genesis. */
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

/** What names a state of the chain: the last block applied. */
export type Tip = Pick<Block, "id" | "height" | "timestamp">;

/** A transaction in its place in the chain. Optional members are absent when the transaction has none. */
export interface Transaction {
  id: string;
  version: number;
  network?: number;
  typeGroup: number;
  type: number;
  /** Epoch time: the transaction's own (version 1), else that of its block. */
  timestamp: number;
  /** Version 2. */
  nonce?: bigint;
  senderPublicKey: string;
  /** Address of the sender. */
  senderId: string;
  /** Address; for a vote the sender's, whether or not the block names it. */
  recipientId?: string;
  amount: bigint;
  fee: bigint;
  vendorField?: string;
  /** Verbatim, as the block carries it: amounts within are decimal strings. */
  asset?: Record<string, unknown>;
  signature?: string;
  secondSignature?: string;
  signatures?: string[];
  /** Height (version 2) after which an unforged transaction lapses; 0 for never. */
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
  /** Amount that its open HTLC locks hold. */
  lockedBalance: bigint;
  nonce: bigint;
  /** Public key of the delegate voted for, or null. */
  vote: string | null;
  multiSignature: MultiSignature | null;
  isDelegate: boolean;
  /** Whether the delegate resigned; false for a wallet that is no delegate. */
  resigned: boolean;
  /** Sum of its voters' weights; 0 unless the wallet is a delegate. */
  voteBalance: bigint;
  /** Blocks forged; 0 unless the wallet is a delegate. */
  producedBlocks: number;
}

export interface Delegate {
  username: string;
  address: string;
  publicKey: string;
  /** Sum over its voters of balance + locked balance. */
  voteBalance: bigint;
  /** Position at the end of the last round, from 1; null when that round did not rank it. */
  rank: number | null;
  /** Percent of the supply, two decimals. */
  approval: number;
  producedBlocks: number;
  /** Finished rounds in which it was active and forged no block. Absent where an adapter does not count them. */
  missedBlocks?: number;
  forgedFees: bigint;
  forgedRewards: bigint;
  /** forgedFees + forgedRewards. */
  forgedTotal: bigint;
  /** The last block it forged, or null. */
  lastBlock: Tip | null;
  resigned: boolean;
  /** What the delegate itself votes for. */
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
  /** type 1: value is an epoch time; type 2: value is a height. */
  expiration: { type: number; value: number };
  vendorField?: string;
}

export interface RoundDelegate {
  publicKey: string;
  username: string;
  /** Vote balance when the round before ended: what the delegate entered the round by. */
  voteBalance: bigint;
}

export interface FeeStatistics {
  typeGroup: number;
  type: number;
  /** Half rounded up: `averageOf` of src/chain/amount.ts. */
  avg: bigint;
  min: bigint;
  max: bigint;
  sum: bigint;
}

/** A node that this node knows. */
export interface Peer {
  ip: string;
  /** Port of the peer protocol. */
  port: number;
  /** Port by component name; null or below 1 where the component is off. */
  ports?: Record<string, number | null>;
  /** Version of the node software. */
  version: string;
  height: number;
  /** 200 for a peer that answers. */
  status: number;
  os?: string;
  /** Milliseconds. */
  latency: number;
  /** False when its public interface is off: such a peer is in no list. Default true. */
  isPublic?: boolean;
}
