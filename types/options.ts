import type { WebhookOptions } from "./webhook-options.js";

/** Final blocks in files that never change. */
export interface LakeOptions {
  /** Folder of the files; created if missing. Each node has one of its own. */
  dir: string;
  /** Blocks in a file. A folder keeps the number it began with. @default 10000 */
  blocksPerFile?: number;
  /** Blocks between two snapshots of the store; 0: none are taken. @default 100000 */
  snapshotEvery?: number;
  /** Snapshots that are kept. @default 2 */
  keepSnapshots?: number;
}

/** Every option of `createApiPlugin`. `defaultOptions` has the defaults. Times are in milliseconds. */
export interface PorticoOptions {
  /** Path at which the API is mounted. @default "/api" */
  basePath?: string;
  /** Version that answers requests that name none. @default 2 */
  defaultVersion?: 1 | 2;
  /**
   * How v2 writes amounts if the request does not say: as JSON numbers with all digits, or as decimal strings.
   * @default "number"
   */
  amounts?: "number" | "string";
  /** Largest accepted request body, in bytes. @default 1048576 (1 MiB) */
  bodyLimit?: number;
  /**
   * Limit for one client address; `false`: none. A request that holds the process longer than its share of 15 s a minute counts as several.
   * @default {"perMinute":300,"exempt":["127.0.0.0/8","::1"]}
   */
  rateLimit?:
    | false
    | {
        /** Requests per minute from one address. @default 300 */
        perMinute?: number;
        /** Addresses, and networks in CIDR notation, without a limit. @default ["127.0.0.0/8","::1"] */
        exempt?: string[];
      };
  /** Proxies (addresses or CIDR) whose `X-Forwarded-For` is trusted. A unix socket counts as 127.0.0.1. @default [] */
  trustedProxies?: string[];
  /** Pages that may read replies; `false`: no CORS. @default {"origins":"*"} */
  cors?:
    | false
    | {
        /** Origins of the pages, or `"*"` for any. @default "*" */
        origins?: "*" | string[];
      };
  /** Compression of replies; `false`: none. @default {"threshold":1024} */
  compression?:
    | false
    | {
        /** Smallest body that is compressed, in bytes. @default 1024 */
        threshold?: number;
      };
  /** Memory for repeated replies, in bytes. @default 67108864 (64 MiB) */
  cacheSize?: number;
  /**
   * Milliseconds that a request waits for the host's pool, peers, sync, and each call of its chain, before it gets 503.
   * @default 10000
   */
  hostTimeout?: number;
  /**
   * Open connections to servers made by `listen`; 256 from one address unless `rateLimit.exempt` or `trustedProxies` names it.
   * @default 5000
   */
  maxConnections?: number;
  /**
   * Milliseconds that `stop()` waits for open requests; then at most 2 s for calls of the host's chain.
   * @default 10000
   */
  stopTimeout?: number;
  /** Whether states at earlier heights (`at`) are kept and served. @default true */
  history?: boolean;
  /** Blocks by which the chain can be reverted; beyond that, the store is rebuilt from `blocks`. @default 1000 */
  undoBlocks?: number;
  /** Blocks behind the tip at which a block is final. @default none: twice the number of active delegates at the tip */
  finality?: number;
  /** Milliseconds that reverted blocks are kept for readers that come back. @default 2592000000 (30 days) */
  followOrphans?: number;
  /** Milliseconds that host events are kept, up to 1 GiB of them. @default 604800000 (7 days) */
  followHostEvents?: number;
  /** Open event and change streams; more get 503. @default 1000 */
  maxStreams?: number;
  /** Whether the operator's page is served at `/console`. @default false */
  console?: boolean;
  /**
   * Whether `/metrics` is served to Prometheus; `{token}`: only to clients that send `Authorization: Bearer` with it.
   * @default false
   */
  metrics?:
    | boolean
    | {
        /** What clients send; 8 characters or more. */
        token: string;
      };
  /** Whether the access log has client addresses, as the rate limit counts them. @default false */
  logClients?: boolean;
  /** Block times without a block after which `/health/ready` says `stale`; `false`: never. @default 5 */
  staleAfter?: false | number;
  /**
   * A lake of final blocks for other nodes and replicas, served at `/lake`.
   * @default false
   */
  lake?: false | LakeOptions;
  /** Webhooks, by their own options; `false`: none. @default on, with the defaults of its members */
  webhooks?: false | WebhookOptions;
}
