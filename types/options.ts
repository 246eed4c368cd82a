import type { WebhookOptions } from "./webhook-options.js";

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
  /** Requests per minute and client address, and who is exempt (addresses or CIDR); false switches the limit off. */
  rateLimit?: false | { perMinute?: number; exempt?: string[] };
  /** Proxies (addresses or CIDR) whose X-Forwarded-For is trusted. One that asks over a unix socket counts as 127.0.0.1. */
  trustedProxies?: string[];
  /** Origins allowed by CORS: "*" or a list; false switches CORS off. */
  cors?: false | { origins?: "*" | string[] };
  /** Reply bodies of at least this many bytes are compressed; false switches compression off. */
  compression?: false | { threshold?: number };
  /** Bytes of replies kept in memory; up to twice as many while a new tip is being prepared. */
  cacheSize?: number;
  /** Milliseconds that the host's pool, peers and sync, and each answer of its own chain, may take while a request waits; after that it is answered with 503. */
  hostTimeout?: number;
  /** Connections that may be open at a time to servers that `listen` made. */
  maxConnections?: number;
  /** Milliseconds that `stop()` waits for open requests; and then, but no longer than 2 s, for calls that the host's own chain has not answered. */
  stopTimeout?: number;
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
