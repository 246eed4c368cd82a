import type { BlockData, HostEvents, TransactionData } from "portico";
import type { Logger, Network, NodeInfo, PoolResult, PorticoOptions } from "portico";

/** The parts of an ARK Core 2 node that this plugin uses, from the interfaces of `@arkecosystem/core-interfaces` 2.6. */

export interface Options {
  enabled: boolean;
  host: string;
  port: number;
  dataDir?: string;
  options: PorticoOptions;
}

interface Config {
  get(key: "network"): Network["network"];
  get(key: "milestones"): Network["milestones"];
  get(key: "exceptions"): Network["exceptions"];
  get(key: "genesisBlock"): BlockData;
}

interface Blockchain {
  getLastHeight(): number;
  isSynced(): boolean;
}

interface Peer {
  ip: string;
  port: number;
  version: string;
  os?: string;
  latency: number;
  state: { height?: number };
}

interface PeerService {
  getStorage(): { getPeers(): Peer[] };
  getMonitor(): { getNetworkHeight(): number; broadcastTransactions(transactions: unknown[]): Promise<void> };
}

interface Processor {
  validate(transactions: TransactionData[]): Promise<Omit<PoolResult, "errors"> & { errors: NonNullable<PoolResult["errors"]> | null }>;
  getBroadcastTransactions(): unknown[];
}

/** Some members are synchronous in some versions, and return promises in others. */
interface Pool {
  getPoolSize(): number | Promise<number>;
  getTransactionIdsForForging(start: number, size: number): string[] | Promise<string[]>;
  getTransaction(id: string): { data: TransactionData } | undefined | Promise<{ data: TransactionData } | undefined>;
  makeProcessor(): Processor;
}

interface Plugins {
  logger: Logger;
  "event-emitter": HostEvents;
  database: { getBlocks(fromHeight: number, limit: number): Promise<BlockData[]> };
  blockchain: Blockchain;
  p2p: PeerService;
  "transaction-pool": Pool;
  portico: { stop(): Promise<void> } | undefined;
}

interface ServerOptions {
  enabled?: boolean;
  port?: number | string;
  server?: { port: number | string };
  http?: { port: number | string };
}

export interface Container {
  getConfig(): Config;
  getVersion(): string;
  has(key: string): boolean;
  resolvePlugin<Key extends keyof Plugins>(key: Key): Plugins[Key];
  resolveOptions(key: "p2p" | "api"): ServerOptions;
  resolveOptions(key: "transaction-pool"): NonNullable<NodeInfo["transactionPool"]>;
}
