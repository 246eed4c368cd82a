import type { Router } from "@koa/router";
import type * as Koa from "koa";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { ChainAdapter } from "./chain-adapter.js";
import type { BlockMark } from "./followed-node.js";
import type { ProcessMetrics, WhichMetrics } from "./node-context.js";
import type { Webhooks } from "./webhooks.js";

/** Why no requests should be sent to a node at present, in a word for machines: `problem` of `GET {basePath}/health/ready`. */
export type ReadyProblem =
  /** There is no state yet. */
  | "starting"
  /** The store reads missed blocks, or the host (`sync`) is behind its network. */
  | "catching up"
  /** The host has applied blocks that the store could not get. */
  | "behind the host"
  /** The host's chain or rewards differ. On a replica: its state differs from its node's and is not served. */
  | "diverged"
  /** No block for `staleAfter` block times. */
  | "stale"
  /** Blocks and webhooks are not written; the existing state is served. */
  | "store cannot be written"
  /** The same, because the disk is full. */
  | "full disk"
  /** `stop()` was called; both probes still answer on open connections. */
  | "stopping"
  /** A replica's node has not answered for 5 s; the existing state is served. */
  | "node unreachable"
  /** A replica's node has less of the same chain, as after a restore; the existing state is served. */
  | "node behind"
  /** Anything else; `detail` says what. */
  | "failing";

/** Health of the plugin, as `GET {basePath}/health` reports it. */
export interface Health {
  status: "ok" | "starting" | "failing" | "stopped";
  /** Height of the tip; 0 while there is none. For a host's own ChainAdapter: the height when it was last asked, at start or by a request. */
  height: number;
  /**
   * Why a block cannot be indexed or the chain cannot be read, the progress of a rebuild or a new index, or a problem outside the node
   * (`warning`). Absent while nothing is wrong.
   */
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
   * The Koa router of everything under `basePath`: `app.use(plugin.router.routes())`. Its `stack` lists the routes by path and name. The
   * name is the `operationId` of the OpenAPI document. After `next()`, `ctx._matchedRoute` and `ctx._matchedRouteName` are those of the
   * route that answered, and `ctx.params` has its path parameters. All three are absent if no route was found.
   */
  readonly router: Router;
  /** Where this plugin reads the chain: the host's adapter, or the LMDB store. */
  readonly chain: ChainAdapter;
  /** Set between `start` and `stop`, otherwise undefined. Always undefined if webhooks are switched off or there is no `dataDir`. */
  readonly webhooks: Webhooks | undefined;
  /** What `GET {basePath}/health` reports. */
  health(): Health;
  /** The metrics of this process (by default all), for `otherMetrics` in another process. Empty if metrics are off. */
  metrics(which?: WhichMetrics): Promise<ProcessMetrics>;
  /**
   * A listener for `http.createServer` or a framework that takes one, such as Express or Connect (`app.use(plugin.callback())`).
   * It must come before any body parser of the host. It reads the URL when the request's turn comes, so a host that changes `request.url`
   * must keep the new value until the reply, as frameworks do.
   */
  callback(): RequestListener;
  /** Adds the interface to a Koa app, beside whatever else it serves. */
  mount(app: Koa): void;
  /**
   * Opens a server, by default on 127.0.0.1, and starts the plugin if it is not started. Port 0 picks a free port. It can be called again
   * for another address. `outside` answers requests outside `basePath`; without it, they get 404. Rejects as `start` does, and with system
   * errors such as EADDRINUSE. If `stop` is called meanwhile, it resolves with a closed server.
   */
  listen(port: number, host?: string, outside?: (request: IncomingMessage, response: ServerResponse) => void): Promise<Server>;
  /**
   * Resolves when requests can be served, or when `stop` is called meanwhile.
   * @throws PorticoError STORE_IN_USE, STORE_FOREIGN, STORE_DAMAGED, OPTION_INVALID (`dataDir`, or the file of the webhook token);
   * BLOCK_INVALID or BLOCK_DOES_NOT_CHAIN for what `blocks` supplies; or what `blocks.read` rejects with.
   */
  start(): Promise<void>;
  /** Resolves when everything that the host has emitted so far can be read, and the webhook deliveries for it are stored. */
  settled(): Promise<void>;
  /** Refuses new requests, finishes open ones, closes the store. Rejects if that cannot be closed. */
  stop(): Promise<void>;
}
