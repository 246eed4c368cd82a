import type { IncomingMessage } from "node:http";
import type { ChainAdapter, MaybePromise } from "./chain-adapter.js";
import type { Peer } from "./chain.js";
import type { BlockData, BlockSource, HostEvents, IndexingProgress, TransactionData } from "./events.js";
import type { FollowedNode } from "./followed-node.js";
import type { PorticoOptions } from "./options.js";
import type { TransactionType } from "./transaction-type.js";

/** A change of the network's constants from `height` on; constants that it does not name keep the values of lower milestones. */
export interface Milestone {
  height: number;
  reward?: number | string;
  activeDelegates?: number;
  /** Seconds. */
  blocktime?: number;
  block?: { version?: number; maxTransactions?: number; maxPayload?: number; idFullSha256?: boolean };
  /** ISO 8601; UTC where it names no zone. Read of the first milestone. */
  epoch?: string;
  fees?: { staticFees?: Record<string, number | string> };
  vendorFieldLength?: number;
  [constant: string]: unknown;
}

/** The network's constants from height 1 on. */
export interface FirstMilestone extends Milestone {
  reward: number | string;
  activeDelegates: number;
  blocktime: number;
  epoch: string;
}

/** A network's "cryptography configuration": the content of the four files that fork operators keep. */
export interface Network {
  network: {
    name: string;
    messagePrefix: string;
    bip32: { public: number; private: number };
    /** Version byte of addresses. */
    pubKeyHash: number;
    nethash: string;
    wif: number;
    slip44?: number;
    aip20?: number;
    client: { token: string; symbol: string; explorer: string };
  };
  milestones: [FirstMilestone, ...Milestone[]];
  exceptions: Record<string, unknown>;
  genesisBlock: BlockData;
  /**
   * Which rewards blocks must have: those of the milestones at their height (default), or the blocks' own. The latter is for forks whose
   * rewards depend on more than the height, such as the rank of the forger.
   */
  rewards?: "milestones" | "blocks";
}

/** Peers known to the host. */
export interface PeerSource {
  list(): MaybePromise<Peer[]>;
  /** Peers temporarily refused, for `peers/suspended`. */
  suspended?(): MaybePromise<Peer[]>;
}

/** Whether the host has caught up with its network. */
export interface SyncState {
  /** Height of the network, as reported by the host's peers. */
  networkHeight(): MaybePromise<number>;
  /** Whether it has. Without it: whether the node's own height is at least the network's. */
  synced?(): MaybePromise<boolean>;
}

/** The outcome of one `POST /transactions`: ids by what became of the transaction. */
export interface PoolResult {
  accept: string[];
  broadcast: string[];
  excess: string[];
  invalid: string[];
  /** Id -> why it is under `invalid` or `excess`. */
  errors?: Record<string, { type: string; message: string }[]> | undefined;
}

/** The host's pool of unconfirmed transactions. */
export interface TransactionPool {
  /** In the order in which they would be forged. */
  list(): MaybePromise<TransactionData[]>;
  get?(id: string): MaybePromise<TransactionData | undefined>;
  submit?(transactions: TransactionData[]): MaybePromise<PoolResult>;
}

/** What the host reports about itself in `node/configuration`. Changes show from the next block on. */
export interface NodeInfo {
  /** Version of the node software. */
  version?: string;
  /** Port by component name; null if the component is off. */
  ports?: Record<string, number | null>;
  transactionPool?: {
    /** Members that a pool without dynamic fees leaves out are reported as 0. */
    dynamicFees: { enabled: boolean; minFeePool?: number; minFeeBroadcast?: number; addonBytes?: Record<string, number> };
    [setting: string]: unknown;
  };
  /** Public key of the delegate for which this node forges. */
  delegate?: string;
}

/** Satisfied by pino, winston, console and the like. */
export interface Logger {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** The metrics of one process. It can be sent as JSON. */
export type ProcessMetrics = readonly object[];

/** `growing`: only counters and histograms. A process may report them now and then, so that they are known after its end. */
export type WhichMetrics = "all" | "growing";

/** One answered request. It has neither the client nor the URL, which may be personal data; a host finds both in the request. */
export interface AccessLogEntry {
  /** When it was answered: ISO 8601. */
  time: string;
  /** The reply's `X-Request-Id`. */
  requestId: string;
  method: string;
  /** The route's pattern, such as `/wallets/{id}`; `(none)` where none was found. */
  route: string;
  /**
   * 499, with 0 bytes, if the connection was lost before the reply or ended within the body. It is not 499 merely because the client has
   * ended its side, since it may still read.
   */
  status: number;
  /** Milliseconds from its arrival until the reply was handed to the connection; of a stream, until it had ended. */
  ms: number;
  /** Bytes of the body as sent. */
  bytes: number;
  /** Milliseconds of processor time that the interface spent on it. */
  work: number;
  /** The client's address, with the option `logClients` only. */
  client?: string;
}

/** The wall clock, and a clock that measures durations. Both in milliseconds. */
export interface Clock {
  /** Since 1970, by a clock that may be set. */
  now(): number;
  /**
   * Since any fixed moment, by a clock that nobody sets and that never goes back. Waiting times are measured by it. Default: the system's,
   * which counts from the machine's start.
   */
  monotonic?(): number;
}

/** What `createApiPlugin` takes in the node's own process, which writes the store. */
export interface NodeContext {
  /** True makes the process a reader: see `ReaderContext`. @default false */
  reader?: false | undefined;
  /** Parameters, milestones, exceptions and genesis block. Amounts above 2^53 must be strings or bigints. */
  network: Network;
  /** The host's emitter: `block.applied` and `block.reverted` are read, other events are passed on. */
  events: HostEvents;
  /** The adapter through which the chain is read. @default the LMDB store in `dataDir`, fed by genesis, `blocks` and `events` */
  chain?: ChainAdapter | undefined;
  /** Folder of the store and the webhooks; created if missing. Required unless `chain` is given. @default none: webhooks are off */
  dataDir?: string | undefined;
  /**
   * Source of blocks that the store lacks: at first all, later those that were missed or emitted as headers only.
   * @default none: only blocks from `events` are indexed
   */
  blocks?: BlockSource | undefined;
  /** Peers that the host knows. @default none: there are no peers */
  peers?: PeerSource | undefined;
  /** Whether the host has caught up with its network. @default none: the network's height is the node's own */
  sync?: SyncState | undefined;
  /** The host's pool of unconfirmed transactions. @default none: there are none, and `POST /transactions` gets 501 */
  pool?: TransactionPool | undefined;
  /** What the host reports about itself in `/node/configuration`. @default none */
  node?: NodeInfo | undefined;
  /** A fork's own transaction types; one of the same group, type and version replaces the core's. @default [] */
  transactionTypes?: TransactionType[] | undefined;
  /** The node of which this process is a replica; part of what `followNode` returns. @default none */
  follows?: FollowedNode | undefined;
  /** Called about once a second while blocks are indexed from the source. @default none */
  onProgress?: ((progress: IndexingProgress) => void) | undefined;
  /** Where log lines go. @default the console, without debug lines */
  logger?: Logger | undefined;
  /**
   * Called for each request after its reply.
   * @default none
   */
  accessLog?: ((entry: AccessLogEntry, request: IncomingMessage) => void) | undefined;
  /**
   * Returns the `metrics()` of the other processes that serve the same port. `own` has those of this process.
   * @default none: this process alone
   */
  otherMetrics?: ((own: ProcessMetrics) => MaybePromise<readonly ProcessMetrics[]>) | undefined;
  /**
   * Returns a problem outside the node, which `health` shows, such as `problem()` of its NATS publisher.
   * @default none
   */
  warning?: (() => string | undefined) | undefined;
  /** Replaces the system's clock. @default the system's */
  clock?: Clock | undefined;
  /** Everything else, such as limits. @default `defaultOptions` */
  options?: PorticoOptions | undefined;
}

/**
 * What `createApiPlugin` takes in a reader: a process that serves the store written by the node's own process on the same machine.
 * A reader receives no events: each reply is computed from the last block committed when the request arrives. Webhooks can be created,
 * changed and read here as in the node's process, but only the node delivers. `network`, `transactionTypes` and `options` must be the
 * same as the node's; `pool`, `peers`, `sync` and `node` are supplied by the host in whatever way this process can reach them.
 */
export interface ReaderContext extends Omit<NodeContext, "reader" | "events" | "chain" | "blocks" | "dataDir" | "onProgress" | "follows"> {
  /** Tells a reader from the node's own process. */
  reader: true;
  /** The node's data folder. Until the store in it exists and is complete, requests are answered with 503. */
  dataDir: string;
  /** Returns why the node cannot follow the chain, if this process knows. `health` reports it. @default none */
  problem?: (() => string | undefined) | undefined;
}
