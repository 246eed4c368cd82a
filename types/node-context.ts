import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Router } from "@koa/router";
import type * as Koa from "koa";
import type { Peer } from "./chain.js";
import type { ChainAdapter, MaybePromise } from "./chain-adapter.js";
import type { BlockData, BlockSource, HostEvents, IndexingProgress, TransactionData } from "./events.js";
import type { WebhookOptions, Webhooks } from "./webhooks.js";
import type { TransactionType } from "./transaction-type.js";

/** One change of the network's constants; what it does not name stays as the milestones below it set it. */
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

/** A network's "cryptography configuration", in the form in which fork operators keep it: four files. */
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
  /** Peers refused for a time (`peers/suspended`). */
  suspended?(): MaybePromise<Peer[]>;
}

/** How the host stands to its network. */
export interface SyncState {
  /** Height of the network, as the host's peers report it. */
  networkHeight(): MaybePromise<number>;
  /** Default: own height >= network height. */
  synced?(): MaybePromise<boolean>;
}

/** What became of the transactions of one `POST /transactions`, by id. */
export interface PoolResult {
  accept: string[];
  broadcast: string[];
  excess: string[];
  invalid: string[];
  /** Id -> why it is under `invalid`. */
  errors?: Record<string, { type: string; message: string }[]> | undefined;
}

/** The host's pool of unconfirmed transactions. */
export interface TransactionPool {
  /** In the order in which they would be forged. */
  list(): MaybePromise<TransactionData[]>;
  get?(id: string): MaybePromise<TransactionData | undefined>;
  submit?(transactions: TransactionData[]): MaybePromise<PoolResult>;
}

/** What the host says of itself in `node/configuration`. */
export interface NodeInfo {
  /** Version of the node software. */
  version?: string;
  /** Port by component name; null where a component is off. */
  ports?: Record<string, number | null>;
  transactionPool?: {
    dynamicFees: { enabled: boolean; minFeePool: number; minFeeBroadcast: number; addonBytes: Record<string, number> };
    [setting: string]: unknown;
  };
  /** Public key of the delegate that this node forges for. */
  delegate?: string;
}

/** Any of pino, winston, console and the like. */
export interface Logger {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** Milliseconds since 1970. */
export interface Clock {
  now(): number;
}

/** Everything that can be set. Defaults and units: `src/options.ts`. */
export interface PorticoOptions {
  /** Where the interface is mounted. */
  basePath?: string;
  /** Generation of requests that name none. */
  defaultVersion?: 1 | 2;
  /** How the second generation writes amounts: JSON numbers with all their digits, or decimal strings. */
  amounts?: "number" | "string";
  /** Largest request body, in bytes. */
  bodyLimit?: number;
  /** Requests per minute and address, and who is exempt (addresses or CIDR); false switches the limit off. */
  rateLimit?: false | { perMinute?: number; exempt?: string[] };
  /** Proxies (addresses or CIDR) whose X-Forwarded-For is believed. */
  trustedProxies?: string[];
  /** Origins allowed by CORS: "*" or a list; false switches CORS off. */
  cors?: false | { origins?: "*" | string[] };
  /** Bodies from this many bytes on are compressed; false switches compression off. */
  compression?: false | { threshold?: number };
  /** Bytes of replies kept in memory; up to twice as many while a new tip is made ready. */
  cacheSize?: number;
  /** Milliseconds that `stop()` waits for open requests. */
  stopTimeout?: number;
  /** Rows of the store that one request may have looked at, where no index has the answer. */
  searchRows?: number;
  /** Blocks that can be reverted at the most: so many undo records are kept. */
  undoBlocks?: number;
  /** The webhook engine; false switches it off. */
  webhooks?: false | WebhookOptions;
}

/** All that `createApiPlugin` takes in the process of the node, the one that writes the store. */
export interface NodeContext {
  reader?: false;
  network: Network;
  events: HostEvents;
  /** Not given: the LMDB store in `dataDir`, fed by genesis, `blocks` and `events`. */
  chain?: ChainAdapter;
  /** Folder of the LMDB store and of the webhooks; made when it is missing. */
  dataDir?: string;
  blocks?: BlockSource;
  peers?: PeerSource;
  sync?: SyncState;
  pool?: TransactionPool;
  node?: NodeInfo;
  /** Transaction types that a fork adds to the core's, or puts in their place. */
  transactionTypes?: TransactionType[];
  /** Told while blocks are indexed from the source, about once a second. */
  onProgress?: (progress: IndexingProgress) => void;
  /** Default: the console, without debug. */
  logger?: Logger;
  clock?: Clock;
  options?: PorticoOptions;
}

/**
 * What `createApiPlugin` takes in a process that serves the store which the node's own process writes on the same machine. It hears
 * no events: every reply is of the block that is committed when the request comes. Webhooks are made, changed and read here as there;
 * the node alone delivers. `network`, `transactionTypes` and `options` are to be the node's own; `pool`, `peers`, `sync` and `node` are
 * handed in by the host here too, as it reaches them from here.
 */
export interface ReaderContext extends Omit<NodeContext, "reader" | "events" | "chain" | "blocks" | "dataDir" | "onProgress"> {
  reader: true;
  /** The node's. A store that is not there or not complete yet is waited for: until then, 503. */
  dataDir: string;
  /** What keeps the node from following the chain, where that is known here: `health` reports it. */
  problem?: () => string | undefined;
}

/** Health of the plugin, as `GET {basePath}/health` reports it. */
export interface Health {
  status: "ok" | "starting" | "failing" | "stopped";
  /** Of the tip. A ChainAdapter of the host's is asked at the start and with each request; 0 while it has no tip. */
  height: number;
  /** What keeps a block from being indexed, or the chain from being read, while something does. */
  problem?: string;
}

/** What is not under `basePath` goes to `next`; without it, it is answered with 404. */
export type RequestListener = (request: IncomingMessage, response: ServerResponse, next?: () => void) => void;

/** What `createApiPlugin` returns. */
export interface ApiPlugin {
  /** The Koa router of everything under `basePath`: `app.use(plugin.router.routes())`. */
  readonly router: Router;
  /** How this plugin reads the chain: the host's adapter, or the LMDB store. */
  readonly chain: ChainAdapter;
  /** The webhooks, between `start` and `stop`; undefined meanwhile, and where they are switched off or have no `dataDir`. */
  readonly webhooks: Webhooks | undefined;
  health(): Health;
  /**
   * A listener for `http.createServer`, or for a framework that takes one: Express (`app.use(plugin.callback())`), Connect and
   * their like. To be reached before the host reads request bodies.
   */
  callback(): RequestListener;
  /** Puts the interface into a Koa app, beside whatever else it serves. */
  mount(app: Koa): void;
  /** A server of its own. Starts the plugin when it is not started. */
  listen(port: number, host?: string): Promise<Server>;
  /** Resolves when requests can be served. */
  start(): Promise<void>;
  /** Resolves when all that the host has emitted so far can be read, and what webhooks are to be told of it is written down. */
  settled(): Promise<void>;
  /** Refuses new requests, finishes open ones, closes the store. */
  stop(): Promise<void>;
}
