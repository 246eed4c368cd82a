import { existsSync, rmSync } from "node:fs";
import type { AccessLogEntry, Clock, Logger, Network, NodeContext } from "../../types/node-context.js";
import type { PorticoOptions } from "../../types/options.js";
import type { TransactionType } from "../../types/transaction-type.js";
import type { IncomingMessage } from "node:http";
import { fullClock } from "../async/clock.js";
import { messageOf, PorticoError } from "../errors.js";
import { consoleLogger, quietLogger } from "../options/checks.js";
import { createFollowedNode, interfaceMeant, type TipSource } from "../replica/index.js";
import { storeFile } from "../store/lmdb/environment.js";
import { urlOf } from "../net/addresses.js";
import { join } from "node:path";
import { createChainRules } from "../chain/rules.js";
import { type LakeFiles, unpackSnapshot } from "../lake/index.js";
import { makeFolder } from "../files/make-folder.js";
import { defaultOptions } from "../options/options.js";
import { layoutVersion } from "../store/layout/keys.js";
import { adoptStore } from "../store/copy/store-copy.js";

/** The options of `followNode`. Those of `createApiPlugin` are passed on to it. */
export interface FollowNodeOptions {
  /** The node to follow: its origin, or the URL of its interface: `http://10.0.0.5:4003`, `http://10.0.0.5:4003/api`. */
  url: string;
  /** Folder of the replica's store and of the node's answers about itself; `createApiPlugin` needs it. @default none */
  dataDir?: string | undefined;
  /** Folder or URL of a lake to begin with. @default the node's own */
  lake?: string | undefined;
  /** The key that must have signed the lake (base64). @default the first one seen, which the data folder remembers */
  lakeKey?: string | undefined;
  /** A fork's own transaction types: they are code, which the node cannot send. @default [] */
  transactionTypes?: TransactionType[] | undefined;
  /** Another source of the node's changes than its own stream: `natsTip` of `portico/nats`. @default none */
  tip?: TipSource | undefined;
  /** Aborting ends the wait for a node that does not answer. @default none */
  signal?: AbortSignal | undefined;
  /** Where log lines go. @default the console, without debug lines */
  logger?: Logger | undefined;
  /** Replaces the system's clock. @default the system's */
  clock?: Clock | undefined;
  /** As in `NodeContext`. @default none */
  accessLog?: ((entry: AccessLogEntry, request: IncomingMessage) => void) | undefined;
  /** As in `NodeContext`. @default none */
  onProgress?: NodeContext["onProgress"] | undefined;
  /** As in `NodeContext`. @default none: this process alone */
  otherMetrics?: NodeContext["otherMetrics"] | undefined;
  /** Everything else, such as limits. @default `defaultOptions`, without webhooks */
  options?: PorticoOptions | undefined;
}

const requireUrl = (url: unknown): string => {
  const parsed = typeof url === "string" ? urlOf(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol))
    throw new PorticoError("OPTION_INVALID", "followNode needs `url`, such as http://10.0.0.5:4003");
  if (parsed.username !== "") throw new PorticoError("OPTION_INVALID", "followNode's `url` must not contain a user or password");
  const meant = interfaceMeant(parsed.href);
  if (meant !== undefined) throw new PorticoError("OPTION_INVALID", `followNode's \`url\` must be the node's origin or the URL of its interface, without a version or a query: ${meant}`);
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
 * `createApiPlugin(await followNode({ url, dataDir }))` serves the same as that one. If the network is not known yet, it waits up to a
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

interface RestoreOptions {
  dataDir: string;
  network: Network;
  transactionTypes?: TransactionType[];
  undoBlocks?: number;
  logger: Logger;
  /** Whether a snapshot may lie beyond the last block file, because the blocks after it come from elsewhere. Default false. */
  beyondBlocks?: boolean;
}

/**
 * Makes the newest snapshot of a lake the store of a data folder that has none: it saves the indexing of the blocks up to there. Returns
 * its height. Undefined where there is a store already, or no snapshot that fits: one of another layout, say; the blocks are then taken.
 * @throws PorticoError LAKE_DAMAGED if the file is not what the manifest says
 */
export const restoreFromLake = async (
  files: LakeFiles,
  { dataDir, network, transactionTypes, undoBlocks = defaultOptions.undoBlocks, logger, beyondBlocks = false }: RestoreOptions,
): Promise<number | undefined> => {
  const end = beyondBlocks ? Infinity : (files.manifest.blocks.at(-1)?.to ?? 0);
  const snapshot = files.manifest.snapshots.findLast(({ height }) => height <= end);
  if (snapshot === undefined || existsSync(storeFile(dataDir))) return undefined;
  if (snapshot.layout !== layoutVersion) {
    logger.info(`${files.path}/${snapshot.file} has layout ${snapshot.layout}, not ${layoutVersion}, so the blocks are read instead`);
    return undefined;
  }
  const folder = join(dataDir, "restore-draft");
  rmSync(folder, { recursive: true, force: true });
  makeFolder(folder);
  try {
    const file = join(folder, "snapshot.mdb");
    await unpackSnapshot(files, snapshot, file);
    await adoptStore(
      { ...snapshot, file },
      { dataDir, folder: join(folder, "store"), rules: createChainRules(network, transactionTypes), undoBlocks },
    );
    logger.info(`the store begins with ${files.path}/${snapshot.file}`);
    return snapshot.height;
  } catch (error) {
    if (!(error instanceof PorticoError) || !error.code.startsWith("STORE_")) throw error;
    logger.warn(`${files.path}/${snapshot.file} cannot be used (${messageOf(error)}): the blocks are read instead`);
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
