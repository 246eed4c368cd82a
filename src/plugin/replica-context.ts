import { rmSync } from "node:fs";
import type { AccessLogEntry, Clock, Logger, NodeContext } from "../../types/node-context.js";
import type { PorticoOptions } from "../../types/options.js";
import type { TransactionType } from "../../types/transaction-type.js";
import type { IncomingMessage } from "node:http";
import { fullClock } from "../async/clock.js";
import { PorticoError } from "../errors.js";
import { consoleLogger, quietLogger } from "../options/guarded-logger.js";
import { createFollowedNode, interfaceMeant, type TipSource } from "../replica/index.js";
import { restoreFromLake } from "./restore.js";
import { storeFile } from "../store/lmdb/environment.js";
import { urlOf } from "../net/urls.js";

/** What `followNode` takes. What is not its own is passed on to `createApiPlugin`. */
export interface FollowNodeOptions {
  /** The node to follow: its origin, or the URL of its interface: `http://10.0.0.5:4003`, `http://10.0.0.5:4003/api`. */
  url: string;
  /** Folder of the replica's store, and of what the node has said of itself. */
  dataDir?: string | undefined;
  /** Folder or URL of a lake to begin with. Default: the node's own. */
  lake?: string | undefined;
  /** The key that must have signed the lake (base64). Default: the first one seen is remembered in the data folder. */
  lakeKey?: string | undefined;
  /** A fork's own transaction types: they are code, which the node cannot send. */
  transactionTypes?: TransactionType[] | undefined;
  /** Brings the node's changes by another way than its own stream: `natsTip` of `portico/nats`. */
  tip?: TipSource | undefined;
  /** Aborting ends the wait for a node that does not answer. */
  signal?: AbortSignal | undefined;
  logger?: Logger | undefined;
  clock?: Clock | undefined;
  accessLog?: ((entry: AccessLogEntry, request: IncomingMessage) => void) | undefined;
  onProgress?: NodeContext["onProgress"] | undefined;
  otherMetrics?: NodeContext["otherMetrics"] | undefined;
  options?: PorticoOptions | undefined;
}

const requireUrl = (url: unknown): string => {
  const parsed = typeof url === "string" ? urlOf(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) throw new PorticoError("OPTION_INVALID", "followNode needs `url`, such as http://10.0.0.5:4003");
  if (parsed.username !== "") throw new PorticoError("OPTION_INVALID", "followNode's `url` takes no user and password");
  const meant = interfaceMeant(parsed.href);
  if (meant !== undefined) throw new PorticoError("OPTION_INVALID", `followNode's \`url\` is the node's origin or the URL of its interface, without a version or a query: ${meant}`);
  return parsed.href;
};

const removeStore = (dataDir: string): void => {
  const file = storeFile(dataDir);
  for (const path of [file, `${file}-lock`]) rmSync(path, { force: true });
};

/** Members whose values are defined. */
const given = <T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: Exclude<T[K], undefined> };

/**
 * The node context of a replica: network, blocks, peers, sync and pool are those of another Portico, over HTTP.
 * `createApiPlugin(await followNode({ url, dataDir }))` serves the same as that one. Where the network is not known yet, it waits up to a
 * minute for the node. @throws PorticoError OPTION_INVALID; HOST_SILENT if the node cannot be asked; NOT_SUPPORTED if it
 * offers no changes
 */
export const followNode = async (options: FollowNodeOptions): Promise<NodeContext> => {
  const url = requireUrl(options.url);
  const { dataDir, lake, lakeKey, transactionTypes, accessLog, onProgress, otherMetrics, options: settings } = options;
  const logger = quietLogger(options.logger ?? consoleLogger);
  const undoBlocks = settings?.undoBlocks;
  const followed = await createFollowedNode(
    { url, dataDir, lake, lakeKey, signal: options.signal, tip: options.tip, logger, clock: fullClock(options.clock) },
    {
      removeStore,
      restore: async (files, network) => {
        if (dataDir === undefined) return;
        await restoreFromLake(files, { dataDir, network, logger, beyondBlocks: true, ...given({ transactionTypes, undoBlocks }) });
      },
    },
  );
  return { ...followed, ...given({ dataDir, transactionTypes, logger: options.logger, clock: options.clock, accessLog, onProgress, otherMetrics, options: settings }) };
};
