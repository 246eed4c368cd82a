import type { Tip } from "./chain.js";

/** A whole number of 1e-8 of the token in any form a host may use: bigint, decimal string, safe integer or big-number object. */
export type AmountLike = bigint | number | string | { toString(): string };

/** A transaction as hosts, block sources and chain files represent it: the wire form of both versions. */
export interface TransactionData {
  id: string;
  type: number;
  amount: AmountLike;
  fee: AmountLike;
  senderPublicKey: string;
  version?: number | undefined;
  network?: number | undefined;
  typeGroup?: number | undefined;
  /** Epoch time; version 1 only. */
  timestamp?: number | undefined;
  /** Version 2 only. */
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

/** A block as hosts, block sources and chain files represent it. */
export interface BlockData {
  id: string;
  height: number;
  timestamp: number;
  /** Ignored for genesis, where hosts have null, "0" or nothing. */
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
  /** Most hosts leave them out of their events; the whole block is then read from the block source. */
  transactions?: TransactionData[] | undefined;
}

/**
 * Event name -> payload, as hosts emit them. Portico reads the chain from `block.applied` and `block.reverted`;
 * all other events only feed webhooks, which take any JSON payload.
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

/** The host's emitter: eventemitter3, Node.js's EventEmitter, or anything else with these two methods. */
export interface HostEvents {
  on(event: string, listener: (payload?: unknown) => void): unknown;
  off(event: string, listener: (payload?: unknown) => void): unknown;
}

/**
 * Where the LMDB store reads blocks from when it is behind: the whole chain on first start, later whatever it missed, and the whole chain
 * again if the host goes back further than `undoBlocks`. Every few seconds it is asked for the block at the store's tip, to see whether
 * the host's chain still has that.
 */
export interface BlockSource {
  /**
   * Returns at most `limit` whole blocks (with their transactions) of the host's current chain, ascending from `fromHeight`; fewer, or
   * none, at the end of the chain. The store compares their ids with its own. The source may lag behind the host's events, but not for
   * long. If it ends below the store's tip, for instance because the host went back before a start, the store keeps its blocks at first. It
   * reverts them with the next block that the host applies or reverts, even if the store has that block.
   */
  read(fromHeight: number, limit: number): Promise<BlockData[]> | BlockData[];
  /** Height of the last block there, for progress reports; leave it out if it is expensive to find. */
  height?(): Promise<number> | number;
}

/** Progress of indexing the block source. */
export interface IndexingProgress {
  tip: Tip;
  /** Height of the last block of the source, if known. */
  target?: number;
  blocksPerSecond: number;
  /** Present if `target` is known. */
  secondsLeft?: number;
}
