import type { Tip } from "./chain.js";

/** A whole number of 1e-8 of the token in whatever form a host holds it: bigint, decimal string, safe integer or a big-number object. */
export type AmountLike = bigint | number | string | { toString(): string };

/** A transaction as hosts, block sources and chain files carry it: the wire form of both versions. */
export interface TransactionData {
  id: string;
  type: number;
  amount: AmountLike;
  fee: AmountLike;
  senderPublicKey: string;
  version?: number | undefined;
  network?: number | undefined;
  typeGroup?: number | undefined;
  /** Epoch time; version 1. */
  timestamp?: number | undefined;
  /** Version 2. */
  nonce?: AmountLike | undefined;
  recipientId?: string | undefined;
  vendorField?: string | undefined;
  asset?: object | undefined;
  signature?: string | undefined;
  secondSignature?: string | undefined;
  signSignature?: string | undefined;
  signatures?: string[] | undefined;
  expiration?: number | undefined;
}

/** A block as hosts, block sources and chain files carry it. */
export interface BlockData {
  id: string;
  height: number;
  timestamp: number;
  /** Null, absent or "0" for genesis. */
  previousBlock?: string | null | undefined;
  generatorPublicKey: string;
  version?: number | undefined;
  numberOfTransactions: number;
  totalAmount: AmountLike;
  totalFee: AmountLike;
  reward: AmountLike;
  payloadLength: number;
  payloadHash: string;
  blockSignature?: string | undefined;
  /** Absent in what most hosts emit: then the block source is asked for the whole block. */
  transactions?: TransactionData[] | undefined;
}

/**
 * Event name -> payload, as hosts emit them. Portico reads the chain from `block.applied` and `block.reverted`;
 * every other event only feeds webhooks, which take any JSON payload.
 */
export interface HostEventPayloads {
  "block.applied": BlockData;
  "block.reverted": BlockData;
  "block.forged": BlockData;
  "block.received": BlockData;
  "block.disregarded": BlockData;
  "transaction.applied": TransactionData;
  "transaction.reverted": TransactionData;
  "transaction.forged": TransactionData;
  "transaction.expired": TransactionData;
  "transaction.pool.added": TransactionData | TransactionData[];
  "transaction.pool.rejected": TransactionData | TransactionData[];
  "transaction.pool.removed": TransactionData | string;
  "delegate.registered": unknown;
  "delegate.resigned": unknown;
  "wallet.vote": { delegate: string; transaction: TransactionData };
  "wallet.unvote": { delegate: string; transaction: TransactionData };
  "wallet.saved": unknown;
  "wallet.created.cold": unknown;
  "round.created": unknown;
  "round.applied": unknown;
  "forger.failed": unknown;
  "forger.missing": unknown;
  "forger.started": unknown;
  "peer.added": unknown;
  "peer.removed": unknown;
  "state:started": unknown;
  "state.started": unknown;
}

export type HostEvent = keyof HostEventPayloads;

/** The host's emitter: eventemitter3, node's EventEmitter, or anything else with these two. */
export interface HostEvents {
  on(event: string, listener: (payload?: unknown) => void): unknown;
  off(event: string, listener: (payload?: unknown) => void): unknown;
}

/** Where the default store reads the chain from when it is behind: at first start all of it, later what it missed. */
export interface BlockSource {
  /**
   * Whole blocks (with their transactions) of the host's present chain, ascending from `fromHeight`, at most `limit`;
   * fewer, or none, at the end of the chain.
   */
  read(fromHeight: number, limit: number): Promise<BlockData[]> | BlockData[];
  /** Height of the last block there, where that is cheap to know: progress is told by it. */
  height?(): Promise<number> | number;
}

/** What the follower tells of its work. */
export interface IndexingProgress {
  tip: Tip;
  /** Height of the end of the block source, where known. */
  target?: number;
  blocksPerSecond: number;
  /** Seconds, where a target is known. */
  secondsLeft?: number;
}
