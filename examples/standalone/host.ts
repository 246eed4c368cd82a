import { accessSync, constants, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createApiPlugin, PorticoError } from "portico";
import { createChainRules } from "portico/chain";
import type { NatsMeasured } from "portico/nats";
import { closeAll } from "../../src/async/close-all.js";
import { makeFolder } from "../../src/files/make-folder.js";
import type { ChainAdapter } from "../../types/chain-adapter.js";
import type { IndexingProgress } from "../../types/events.js";
import type { AccessLogEntry, Clock, Logger, Network, NodeInfo, ProcessMetrics } from "../../types/node-context.js";
import type { ApiPlugin } from "../../types/plugin.js";
import { type BlockLog, openBlockLog } from "./files/block-log.js";
import { createBlockMaker, type KeyRing, type TransactionSource } from "./chain/block-maker.js";
import { createCast } from "./chain/cast.js";
import type { ChainFile } from "./files/chain-file.js";
import { type ChainSource, createChainSource, openImport } from "./files/chain-source.js";
import { type ChainCrypto, createCrypto } from "./chain/crypto.js";
import { lockFolder } from "./files/folder-lock.js";
import { createForger } from "./chain/forger.js";
import { localSeed } from "./chain/genesis.js";
import { isLake, openLakeImport } from "./files/lake-import.js";
import { importFrom } from "./program/webhooks-file.js";
import { HostError, messageOf, pathOf } from "./program/host-error.js";
import { createHostEvents, type HostEmitter } from "./chain/host-events.js";
import { castKeyRing, readSecrets, secretsKeyRing } from "./chain/key-ring.js";
import { readNetwork } from "./chain/network.js";
import type { HostOptions } from "./options.js";
import { measureNats, startPublishing } from "./nats.js";
import { createPool, type Pool } from "./chain/pool.js";
import { createFrontPage } from "./program/front-page.js";
import { portProblem } from "./program/preflight.js";
import { nodeInfo, porticoOptions } from "./serving.js";
import { createTraffic } from "./traffic/traffic.js";
import { createWorkers, freePort } from "./workers.js";

export interface HostNeeds {
  logger: Logger;
  clock: Required<Clock>;
  onProgress?: (progress: IndexingProgress) => void;
  /** Writes the access log. */
  access?: ((entry: AccessLogEntry) => void) | undefined;
  /** Aborting gives up the start; the chain is kept as far as it was read. */
  signal?: AbortSignal;
}

/** A running node. */
export interface Host {
  readonly network: Network;
  readonly plugin: ApiPlugin;
  readonly pool: Pool;
  readonly events: HostEmitter;
  /** URL of the interface, such as `http://127.0.0.1:4003/api`. */
  readonly url: string;
  readonly isForging: boolean;
  /** Height of the chain when the host started. */
  readonly height: number;
  /** Resolves with the error that ends the host from within; stays pending while there is none. */
  readonly failed: Promise<HostError>;
  stop(): Promise<void>;
}

/** What a replica has of it, too. */
export type Served = Omit<Host, "pool" | "events">;

/** Everything opened so far, latest first, which a stop or a failed start has to close. */
const createClosing = () => {
  const open: (() => Promise<void>)[] = [];
  return {
    add: (close: () => Promise<void>): void => void open.unshift(close),
    closeAll: (): Promise<void> => closeAll(...open.splice(0)),
  };
};

export const prepareFolder = (dataDir: string): void => {
  try {
    makeFolder(dataDir);
    accessSync(dataDir, constants.W_OK);
  } catch (error) {
    throw new HostError(`The data folder ${dataDir} cannot be written: ${messageOf(error)}.`, { cause: error });
  }
};

/** Where a host's interface is. What listens on every address is reached at loopback. */
export const urlOf = ({ host, port, basePath }: Pick<HostOptions, "host" | "port" | "basePath">): string =>
  `http://${host.includes(":") ? `[${host}]` : host}:${port}${basePath}`;
const reachable = (host: string): string => (host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host);

/** For who wants to know where this node listens, whatever its options came from. */
export const writeUrl = ({ urlFile, host, basePath }: HostOptions, port: number): void => {
  if (urlFile !== undefined) writeFileSync(urlFile, `${urlOf({ host: reachable(host), port, basePath })}\n`);
};

/**
 * The error for a foreign store. If it is of another network, the wrong folder was given. If it is of another layout, only the store has to
 * go, not the folder, which also holds the forged blocks.
 */
const foreignStore = (error: PorticoError): HostError =>
  new HostError(error.message.includes("move it away") ? `${error.message}.` : `${error.message}; choose another --data-dir.`, { cause: error });

/** Turns an error of Portico or the system into a sentence for whoever typed the command. */
export const explain = (error: unknown, options: HostOptions, imported: ChainFile | undefined): Error => {
  const { network, dataDir } = options;
  const path = pathOf(error);
  if (path !== undefined) return new HostError(`${path} cannot be read or written: ${messageOf(error)}.`, { cause: error });
  const refused = portProblem(error, options);
  if (refused !== undefined) return refused;
  if (!(error instanceof PorticoError)) return error instanceof Error ? error : new Error(String(error));
  if (error.code === "OPTION_INVALID") return new HostError(`The network ${network} cannot be served: ${error.message}.`, { cause: error });
  if (error.code === "STORE_FOREIGN") return foreignStore(error);
  if (error.code.startsWith("STORE_")) return new HostError(`The store in ${dataDir} cannot be used: ${error.message}.`, { cause: error });
  const height = Number(/\bblock (\d+)/.exec(error.message)?.[1] ?? 0);
  const where = imported === undefined || height < 1 || height > imported.height() ? "" : `${imported.where(height)}: `;
  return new HostError(`${where}${error.message}.`, { cause: error });
};

/** The keys to forge with, and what fills the blocks besides the pool; undefined if this node does not forge. */
const forgingFor = (options: HostOptions, crypto: ChainCrypto): { keyRing: KeyRing; traffic: TransactionSource[]; publicKeys: string[] } | undefined => {
  if (!options.forge) return undefined;
  if (options.network === "local") {
    const cast = createCast(localSeed, crypto);
    return { keyRing: castKeyRing(cast), traffic: [createTraffic(localSeed, cast, crypto).next], publicKeys: [] };
  }
  if (options.secrets === undefined) return undefined;
  const keys = readSecrets(options.secrets, crypto);
  return { keyRing: secretsKeyRing(keys), traffic: [], publicKeys: keys.map(({ publicKey }) => publicKey) };
};

const tipOf = async (chain: ChainAdapter): Promise<number> => {
  const snapshot = await chain.snapshot();
  const height = snapshot?.tip.height ?? 0;
  snapshot?.release?.();
  return height;
};

const warnOfStrangers = async (publicKeys: string[], chain: ChainAdapter, logger: Logger): Promise<void> => {
  const snapshot = await chain.snapshot();
  for (const publicKey of publicKeys) {
    if ((await snapshot?.delegate(publicKey)) === undefined) logger.warn(`One of the secrets does not belong to a delegate: ${publicKey}.`);
  }
  snapshot?.release?.();
};

/**
 * Makes sure that the store has every block of the host's files, and that the log can be continued from there. Returns the height.
 * @throws HostError if the store does not take a block
 */
const joinLogAndStore = async (plugin: ApiPlugin, { source, log, imported, logger }: { source: ChainSource; log: BlockLog; imported?: ChainFile; logger: Logger }): Promise<number> => {
  await plugin.settled();
  const height = await tipOf(plugin.chain);
  const { problem } = plugin.health();
  if (height < source.height()) {
    const where = imported !== undefined && height < imported.height() ? imported.where(height + 1) : `Block ${height + 1}`;
    throw new HostError(`${where}: the store does not accept the block${problem === undefined ? "" : ` (${problem})`}.`);
  }
  if (log.height() !== 0 && log.height() < height) {
    logger.warn(`The log of forged blocks ends at height ${log.height()}, the chain at ${height}; the log is kept as ${await log.setAside(height)}.`);
  }
  return height;
};

type Closing = ReturnType<typeof createClosing>;

/** Opens the host's own files: the import, the log of forged blocks, and both as one chain. */
const openFiles = async (options: HostOptions, network: Network, { logger, clock, signal }: HostNeeds, closing: Closing, onBroken: (error: HostError) => void) => {
  const { import: path } = options;
  // Before anything is created. A lake's key is remembered in the data folder.
  const file = path === undefined || isLake(path) ? undefined : await openImport(path, network);
  if (file !== undefined) closing.add(file.close);
  prepareFolder(options.dataDir);
  const lock = await lockFolder(options.dataDir, { signal, now: clock.monotonic, onWait: (error) => logger.info(`Waiting: ${messageOf(error)}`) });
  closing.add(lock.release);
  const lake = path === undefined || file !== undefined ? undefined : await openLakeImport(path, network, options, { logger, signal });
  if (lake !== undefined) closing.add(lake.close);
  const imported = file ?? lake;
  const log = await openBlockLog(join(options.dataDir, "forged.ndjson"));
  closing.add(log.close);
  const files = imported === undefined ? { log } : { log, imported };
  return { ...files, source: createChainSource(network.genesisBlock, { ...files, onBroken }) };
};

/** Creates the plugin, and what it is given, which is closed after it. */
const createNode = (options: HostOptions, crypto: ChainCrypto, blocks: ChainSource, { logger, clock, onProgress, access }: HostNeeds) => {
  const { network } = crypto;
  const events = createHostEvents();
  // The pool reads the chain through the plugin, and the plugin serves the pool.
  const chain: ChainAdapter = { snapshot: () => plugin.chain.snapshot() };
  const pool = createPool({ crypto, chain, events });
  const node: NodeInfo = nodeInfo(options.port);
  const { dataDir } = options;
  const nats: NatsMeasured = {};
  const otherMetrics = async (): Promise<ProcessMetrics[]> => [await measureNats(nats)];
  const hooks = { otherMetrics, warning: () => nats.publisher?.problem(), ...(onProgress === undefined ? {} : { onProgress }), ...(access === undefined ? {} : { accessLog: access }) };
  const plugin = createApiPlugin({ options: porticoOptions(options), network, events, dataDir, blocks, pool, node, logger, clock, ...hooks });
  return { plugin, pool, events, node, chain, nats };
};

/** Adds the webhooks of a file before anything is served. */
const startWithWebhooks = async (plugin: ApiPlugin, file: string, logger: Logger): Promise<void> => {
  await plugin.start();
  logger.info(`Webhooks of ${file} were added: ${importFrom(file, plugin)}.`);
};

/** Opens the port, in this process or in its workers. Resolves with the port when requests are served. */
const openDoor = async (options: HostOptions, { plugin, network, pool, nats }: { plugin: ApiPlugin; network: Network; pool: Pool; nats: NatsMeasured }, { logger, clock }: HostNeeds, closing: Closing): Promise<number> => {
  if (options.workers === 1) {
    const server = await plugin.listen(options.port, options.host, createFrontPage(options.network, options.basePath));
    return (server.address() as AddressInfo).port;
  }
  const port = options.port === 0 ? await freePort(options.host) : options.port;
  const services = { options: () => ({ ...options, port }), network: () => network, list: pool.list, get: pool.get, submit: pool.submit };
  const workers = createWorkers(options.workers, { services, problem: () => plugin.health().problem, metrics: async () => [...(await plugin.metrics()), ...(await measureNats(nats))], logger, clock });
  closing.add(workers.stop);
  await Promise.all([workers.start(), plugin.start()]);
  return port;
};

/**
 * Starts a host; undefined if the signal ended the start.
 * @throws HostError with one sentence for a person, after closing what was opened
 */
export const startHost = async (options: HostOptions, needs: HostNeeds): Promise<Host | undefined> => {
  const { logger, clock, signal } = needs;
  const closing = createClosing();
  let fail: (error: HostError) => void = () => undefined;
  const failed = new Promise<HostError>((resolve) => (fail = resolve));
  /** Waits for the work, unless a file breaks or the signal is aborted first. */
  const unlessFailed = async <T>(work: Promise<T>): Promise<T> => {
    const done = await Promise.race([work, failed]);
    if (done instanceof HostError) throw done;
    signal?.throwIfAborted();
    return done;
  };
  let imported: ChainFile | undefined;
  try {
    const network = readNetwork(options.network);
    const crypto = createCrypto(network);
    const forging = forgingFor(options, crypto);
    const files = await openFiles(options, network, needs, closing, fail);
    imported = files.imported;
    signal?.throwIfAborted();

    const { plugin, pool, events, node, chain, nats } = createNode(options, crypto, files.source, needs);
    closing.add(plugin.stop);
    // Whoever closes is told of a failure.
    signal?.addEventListener("abort", () => void plugin.stop().catch(() => undefined), { once: true });
    // Before it is open, too: a start may take hours, in which probes are answered.
    if (options.port !== 0) writeUrl(options, options.port);
    if (options.importWebhooks !== undefined) await unlessFailed(startWithWebhooks(plugin, options.importWebhooks, logger));
    const port = await unlessFailed(openDoor(options, { plugin, network, pool, nats }, needs, closing));
    writeUrl(options, port);
    node.ports = nodeInfo(port).ports;
    const height = await unlessFailed(joinLogAndStore(plugin, { ...files, logger }));
    events.emit("state:started", true);

    if (forging !== undefined) {
      await warnOfStrangers(forging.publicKeys, chain, logger);
      const maker = createBlockMaker({ crypto, keyRing: forging.keyRing, sources: [pool.offer, ...forging.traffic] });
      const pace = options.forgeInterval === undefined ? {} : { interval: options.forgeInterval };
      const epoch = createChainRules(network).epoch.toMilliseconds(0);
      const forger = createForger(pace, { maker, chain, log: files.log, pool, events, logger, clock, epoch, settled: plugin.settled });
      closing.add(forger.stop);
      forger.start();
    }
    const publisher = await startPublishing(options, { network, logger, url: urlOf({ ...options, host: reachable(options.host), port }) });
    nats.publisher = publisher;
    if (publisher !== undefined) closing.add(publisher.stop);
    return { network, plugin, pool, events, height, failed, isForging: forging !== undefined, url: urlOf({ ...options, port }), stop: closing.closeAll };
  } catch (error) {
    await closing.closeAll();
    // Errors of a start that is being given up do not matter.
    if (signal?.aborted === true) return undefined;
    throw explain(error, options, imported);
  }
};
