import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Router } from "@koa/router";
import type * as Koa from "koa";
import type { Peer } from "./chain.js";
import type { ChainAdapter, MaybePromise } from "./chain-adapter.js";
import type { BlockData, BlockSource, HostEvents, IndexingProgress, TransactionData } from "./events.js";
import type { DeliveryDispatch, WebhookOptions, Webhooks } from "./webhooks.js";
import type { TransactionType } from "./transaction-type.js";

/** A change of the network's constants from `height` on; constants that it does not name keep the values of lower milestones. */
export interface Milestone {
  height: number;
  reward?: number | string;
  activeDelegates?: number;
  /** Seconds. */
  blocktime?: number;
  block?: { version?: number; maxTransactions?: number; maxPayload?: number; idFullSha256?: boolean };
  /** ISO 8601. */
  epoch?: string;
  fees?: { staticFees?: Record<string, number | string> };
  vendorFieldLength?: number;
  [constant: string]: unknown;
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
    slip44: number;
    aip20: number;
    client: { token: string; symbol: string; explorer: string };
  };
  milestones: Milestone[];
  exceptions: Record<string, unknown>;
  genesisBlock: BlockData;
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
  /** Default: own height >= network height. */
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

/** What the host reports about itself in `node/configuration`. If it changes, that shows from the next block on. */
export interface NodeInfo {
  /** Version of the node software. */
  version?: string;
  /** Port by component name; null if the component is off. */
  ports?: Record<string, number | null>;
  transactionPool?: {
    /** What a pool without dynamic fees leaves out is reported as 0. */
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

/** One request, answered. It names neither the client nor the URL, whose values may be personal; a host finds both in the request. */
export interface AccessLogEntry {
  /** When it was answered: ISO 8601. */
  time: string;
  /** The reply's `X-Request-Id`. */
  requestId: string;
  method: string;
  /** The route's pattern, such as `/wallets/{id}`; `(none)` where none was found. */
  route: string;
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

/** What time it is, and how much of it passes. Both in milliseconds. */
export interface Clock {
  /** Since 1970, by a clock that may be set. */
  now(): number;
  /**
   * By a clock that nobody sets and that never goes back, from any moment: waiting times are measured by it. Default: the system's, which
   * counts from the machine's start.
   */
  monotonic?(): number;
}

/** Final blocks in files that never change (src/lake/README.md). */
export interface LakeOptions {
  /** Folder of the files; created if missing. Each node has one of its own. */
  dir: string;
  /** A folder keeps what it began with. Default: 10,000. */
  blocksPerFile?: number;
  /** Blocks between two snapshots of the store; 0: none are taken. Default: 100,000. */
  snapshotEvery?: number;
  /** Snapshots that are kept. Default: 2. */
  keepSnapshots?: number;
}

/** Every option. Defaults and units: `src/options/options.ts`. */
export interface PorticoOptions {
  /** Path at which the interface is mounted. */
  basePath?: string;
  /** API generation for requests that name none. */
  defaultVersion?: 1 | 2;
  /**
   * How the second generation writes amounts: JSON numbers with all their digits, or decimal strings. One request chooses the other
   * form by the header `API-Amounts: number|string`, or by its path: `/api/numbers/...`, `/api/strings/...`.
   */
  amounts?: "number" | "string";
  /** Largest request body, in bytes. */
  bodyLimit?: number;
  /** Requests and milliseconds of work per minute and client address, and who is exempt (addresses or CIDR); false switches the limit off. */
  rateLimit?: false | { perMinute?: number; workPerMinute?: number; exempt?: string[] };
  /** Proxies (addresses or CIDR) whose X-Forwarded-For is trusted. */
  trustedProxies?: string[];
  /** Origins allowed by CORS: "*" or a list; false switches CORS off. */
  cors?: false | { origins?: "*" | string[] };
  /** Reply bodies of at least this many bytes are compressed; false switches compression off. */
  compression?: false | { threshold?: number };
  /** Bytes of replies kept in memory; up to twice as many while a new tip is being prepared. */
  cacheSize?: number;
  /** Milliseconds that the host's pool, peers and sync may take to answer a request; after that it is answered with 503. */
  hostTimeout?: number;
  /** Connections that may be open at a time to servers that `listen` made. */
  maxConnections?: number;
  /** The same from one address, unless `rateLimit.exempt` or `trustedProxies` names it. */
  maxConnectionsPerAddress?: number;
  /** Milliseconds that `stop()` waits for open requests. */
  stopTimeout?: number;
  /** Rows of the store that one request may scan where no index has the answer; a request that needs more is refused with 400. */
  searchRows?: number;
  /** Whether the states at earlier heights are kept and served. Default true. */
  history?: boolean;
  /** Most blocks that can be reverted: the number of undo records kept. If the host goes back further, the store is rebuilt from `blocks`. */
  undoBlocks?: number;
  /** Blocks behind the tip at which a block counts as final. Default: twice the number of active delegates at the tip. */
  finality?: number;
  /** Milliseconds that blocks taken off the chain are kept, for readers that saw them. */
  followOrphans?: number;
  /** Milliseconds that the host's own events are kept, for readers that have not seen them. */
  followHostEvents?: number;
  /** Bytes that they may take in the store: beyond that, the oldest are removed. */
  followHostEventsSize?: number;
  /** Event streams and change streams that may be open at a time; one more is answered with 503. */
  maxStreams?: number;
  /** `GET {basePath}/console`: a page for those who run the node. */
  console?: boolean;
  /**
   * `GET {basePath}/metrics` for Prometheus; with a token, only for clients that send it as `Authorization: Bearer TOKEN`. Nothing is counted
   * while it is off.
   */
  metrics?: boolean | { token: string };
  /** Whether entries of the access log name the client's address, found by `trustedProxies`. Default: false. */
  logClients?: boolean;
  /** Block times without a block after which `GET {basePath}/health/ready` says `stale`; false for a node that is not meant to move. */
  staleAfter?: false | number;
  /** Writes final blocks into files for other nodes and replicas, and serves them at `/lake`. Default: false. */
  lake?: false | LakeOptions;
  /** The webhook engine; false switches it off. */
  webhooks?: false | WebhookOptions;
}

/** What `createApiPlugin` takes in the node's own process, which writes the store. */
export interface NodeContext {
  reader?: false;
  network: Network;
  events: HostEvents;
  /** Default: the LMDB store in `dataDir`, fed by genesis, `blocks` and `events`. */
  chain?: ChainAdapter;
  /** Folder of the LMDB store and of the webhooks; created if missing. Required unless `chain` is given. */
  dataDir?: string;
  blocks?: BlockSource;
  peers?: PeerSource;
  sync?: SyncState;
  pool?: TransactionPool;
  node?: NodeInfo;
  /** A fork's own transaction types; one of the same group, type and version replaces the core's. */
  transactionTypes?: TransactionType[];
  /** Has requests of webhooks sent by other processes: `natsDispatch` of `portico/nats`. */
  dispatch?: DeliveryDispatch;
  /** The node that this process is a replica of: part of what `followNode` gives. */
  follows?: FollowedNode;
  /** Called about once a second while blocks are indexed from the source. What it throws is logged. */
  onProgress?: (progress: IndexingProgress) => void;
  /** Default: the console, without debug lines. */
  logger?: Logger;
  /** Is told of every request when it has been answered. What it throws is logged. */
  accessLog?: (entry: AccessLogEntry, request: IncomingMessage) => void;
  /** What `metrics()` of the plugins in the other processes that serve the same port gives, so that one reply is for all of them. */
  otherMetrics?: () => MaybePromise<readonly ProcessMetrics[]>;
  clock?: Clock;
  options?: PorticoOptions;
}

/**
 * What `createApiPlugin` takes in a reader: a process that serves the store written by the node's own process on the same machine.
 * A reader receives no events: each reply is computed from the last block committed when the request arrives. Webhooks can be created,
 * changed and read here as in the node's process, but only the node delivers. `network`, `transactionTypes` and `options` must be the
 * same as the node's; `pool`, `peers`, `sync` and `node` are supplied by the host in whatever way this process can reach them.
 */
export interface ReaderContext extends Omit<NodeContext, "reader" | "events" | "chain" | "blocks" | "dataDir" | "onProgress" | "follows" | "dispatch"> {
  reader: true;
  /** The node's data folder. Until the store in it exists and is complete, requests are answered with 503. */
  dataDir: string;
  /** What keeps the node from following the chain, if this process knows; `health` reports it. */
  problem?: () => string | undefined;
}

/** A block by its height and id. */
export interface BlockMark {
  height: number;
  id: string;
}

/** What a replica tells of itself to what follows the node for it. */
export interface FollowingChain {
  /** The last block that the replica has. */
  tip(): BlockMark | undefined;
  /** Resolves when all blocks handed over so far are written. */
  settled(): Promise<void>;
}

/** A node that is followed over HTTP. `followNode` makes it, `createApiPlugin` uses it. */
export interface FollowedNode {
  /** Its interface, such as `http://10.0.0.5:4003/api`. */
  readonly url: string;
  /** Called when the plugin starts, before its store is opened: begins the store with a snapshot where there is none. */
  prepare(signal: AbortSignal): Promise<void>;
  /** Called when the store is open: blocks are handed over as the node applies and reverts them. */
  follow(chain: FollowingChain): void;
  /** Ends what `prepare` and `follow` began. */
  end(): Promise<void>;
  /** Digest of the node's state after a block; undefined where the node has not told it. */
  digestOf(block: BlockMark): string | undefined;
  /** When the node applied or reverted a block (milliseconds since 1970), and how often it had applied it before; undefined where it has not told. */
  timesOf(kind: "applied" | "reverted", id: string): { at: number; times: number } | undefined;
  /** Asks when the node reverted a block and its ancestors, for `timesOf`. Resolves when that is known, or cannot be had. */
  askReversals(block: BlockMark): Promise<void>;
  /** Calls `changed` when there is a new digest, and when the node is reached again or no longer. Returns what ends it. */
  watch(changed: () => void): () => void;
  /** Why the node cannot be reached, once that has lasted for some seconds. */
  problem(): string | undefined;
  /** Height of the node's tip; undefined while it is not known, as the node has not been heard yet or not for some seconds. */
  height(): number | undefined;
  /** How far a replica is behind the node, whose tip has this height. */
  distance(height: number): ReplicaDistance;
  /** Keeps that the store is not to be opened again: the next `prepare` begins with another. */
  discardStore(reason: string): void;
}

/** How far a replica is behind its node. */
export interface ReplicaDistance {
  /** Blocks. */
  behind: number;
  /** Milliseconds since it was last known to have all blocks of the node; 0 while it has them. */
  lag: number;
}

/** Why no requests should be sent to a node at present, in a word for machines: `problem` of `GET {basePath}/health/ready`. */
export type ReadyProblem =
  | "starting"
  | "catching up"
  | "behind the host"
  /** The host's chain is another than the one that is served; or a replica's state is another than its node's, and is not served. */
  | "diverged"
  /** No block for `staleAfter` block times. */
  | "stale"
  | "store cannot be written"
  | "full disk"
  | "stopping"
  /** A replica whose node has not answered for some seconds; what it has is still served. */
  | "node unreachable"
  /** Anything else; `detail` says what. */
  | "failing";

/** Health of the plugin, as `GET {basePath}/health` reports it. */
export interface Health {
  status: "ok" | "starting" | "failing" | "stopped";
  /** Height of the tip; 0 while there is none. For a host's own ChainAdapter: the height when it was last asked, at start or by a request. */
  height: number;
  /** What keeps a block from being indexed or the chain from being read, or how far a rebuild of the store is. Absent while nothing is wrong. */
  problem?: string;
  /** The last block; this and the next two are absent while there is no state to read. */
  tip?: BlockMark;
  /** The newest block that is taken to be final. */
  final?: BlockMark;
  /** The oldest block whose state can be asked for here (`at`): the tip where no history is kept. */
  oldest?: BlockMark;
  /** Of a replica: blocks to the node's tip. */
  behind?: number;
  /** Of a replica: milliseconds since it was last known to have all blocks of the node; 0 while it has them. */
  lag?: number;
}

/** Requests outside `basePath` go to `next`, or are answered with 404 if there is none. */
export type RequestListener = (request: IncomingMessage, response: ServerResponse, next?: () => void) => void;

/** What `createApiPlugin` returns. */
export interface ApiPlugin {
  /**
   * The Koa router of everything under `basePath`: `app.use(plugin.router.routes())`. Its `stack` lists the routes by path and name, the name
   * being the `operationId` of the OpenAPI document. After `next()`, `ctx._matchedRoute` and `ctx._matchedRouteName` tell which one answered,
   * `ctx.params` the parameters of its path; where no route was found, they are absent.
   */
  readonly router: Router;
  /** Where this plugin reads the chain: the host's adapter, or the LMDB store. */
  readonly chain: ChainAdapter;
  /** Set between `start` and `stop`; otherwise undefined, as it always is if webhooks are switched off or there is no `dataDir`. */
  readonly webhooks: Webhooks | undefined;
  health(): Health;
  /** The metrics of this process, for `otherMetrics` in another; none where they are off. */
  metrics(): Promise<ProcessMetrics>;
  /**
   * A listener for `http.createServer` or a framework that takes one, such as Express or Connect (`app.use(plugin.callback())`).
   * It must come before any body parser of the host. It reads the URL when the request's turn comes: a host that changes `request.url`
   * leaves it so until the reply, as frameworks do.
   */
  callback(): RequestListener;
  /** Adds the interface to a Koa app, beside whatever else it serves. */
  mount(app: Koa): void;
  /**
   * Opens a server of its own, by default on 127.0.0.1 (port 0: any that is free), and starts the plugin if it is not started. Can be
   * called again, for another address. `outside` answers requests outside `basePath`, which get a 404 otherwise. Rejects as `start` does, and with the system's error (such as EADDRINUSE). If `stop` is called
   * meanwhile, it resolves with a server that is closed.
   */
  listen(port: number, host?: string, outside?: (request: IncomingMessage, response: ServerResponse) => void): Promise<Server>;
  /**
   * Resolves when requests can be served, or when `stop` is called meanwhile.
   * @throws PorticoError STORE_IN_USE, STORE_FOREIGN, STORE_DAMAGED, OPTION_INVALID (the file of the webhook token); BLOCK_INVALID or
   * BLOCK_DOES_NOT_CHAIN for what `blocks` supplies; or what `blocks.read` rejects with.
   */
  start(): Promise<void>;
  /** Resolves when everything that the host has emitted so far can be read, and the webhook deliveries for it are stored. */
  settled(): Promise<void>;
  /**
   * Gives a store that was made without history (option `history`) that of all its blocks, from those blocks, while it is served and grows;
   * a store of some hundred bytes for each wallet is made beside it meanwhile. To be called when the plugin has started. Resolves with
   * whether the whole history is there: at once if it already is, with false if it was ended by `signal` or `stop`.
   * @throws PorticoError NOT_SUPPORTED for a chain of the host's own, in a reader, and where `history` is false
   */
  reindexHistory(during?: { signal?: AbortSignal | undefined; onProgress?: ((height: number, of: number) => void) | undefined }): Promise<boolean>;
  /** Refuses new requests, finishes open ones, closes the store. Rejects if that cannot be closed. */
  stop(): Promise<void>;
}
