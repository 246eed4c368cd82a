import { EventEmitter } from "node:events";
import type { BlockData, TransactionData } from "../../../types/events.js";
import type { Logger, Network } from "../../../types/node-context.js";

interface Registered {
  name: string;
  version: string;
  plugin: unknown;
  options: Record<string, unknown>;
}

export interface Descriptor {
  pkg: { name: string; version: string };
  defaults?: Record<string, unknown>;
  alias: string;
  register(container: Container, options: Record<string, unknown>): Promise<unknown>;
  deregister?(container: Container, options: Record<string, unknown>): Promise<void>;
}

/** A container like those of the second line, with what a node with a chain and a pool registers. */
export interface Container {
  getConfig(): { get(key: string): unknown };
  getVersion(): string;
  has(key: string): boolean;
  resolvePlugin(key: string): unknown;
  resolveOptions(key: string): unknown;
  /** What the node does with each plugin in its list. */
  use(descriptor: Descriptor, options: Record<string, unknown>): Promise<void>;
  tearDown(): Promise<void>;
}

export interface Node {
  readonly container: Container;
  readonly events: EventEmitter;
  /** The blocks in its database. */
  readonly blocks: BlockData[];
  readonly pool: Map<string, TransactionData>;
  readonly broadcast: TransactionData[];
  readonly log: string[];
}

const version = "2.6.57";

export const createNode = (network: Network, blocks: BlockData[]): Node => {
  const registered = new Map<string, Registered>();
  const ending: (() => Promise<void> | undefined)[] = [];
  const events = new EventEmitter();
  const pool = new Map<string, TransactionData>();
  const broadcast: TransactionData[] = [];
  const log: string[] = [];
  const say = (message: string): void => void log.push(message);

  const own: Record<string, [plugin: unknown, options?: Record<string, unknown>]> = {
    logger: [{ debug: say, info: say, warn: say, error: say } satisfies Logger],
    "event-emitter": [events],
    database: [{ getBlocks: (from: number, limit: number) => Promise.resolve(blocks.slice(from - 1, from - 1 + limit)) }],
    blockchain: [{ getLastHeight: () => blocks.length, isSynced: () => true }],
    p2p: [
      {
        getStorage: () => ({ getPeers: () => [{ ip: "127.0.0.2", port: 4001, version, os: "linux", latency: 7, state: { height: 300 } }] }),
        getMonitor: () => ({
          getNetworkHeight: () => 300,
          broadcastTransactions: (transactions: TransactionData[]) => Promise.resolve(void broadcast.push(...transactions)),
        }),
      },
      { server: { port: "4001" } },
    ],
    api: [{}, { enabled: true, port: 4003 }],
    "transaction-pool": [
      {
        getPoolSize: () => Promise.resolve(pool.size),
        getTransactionIdsForForging: (start: number, size: number) => [...pool.keys()].slice(start, start + size),
        getTransaction: (id: string) => {
          const data = pool.get(id);
          return data === undefined ? undefined : { data };
        },
        makeProcessor: () => {
          const taken: TransactionData[] = [];
          return {
            validate: (transactions: TransactionData[]) => {
              for (const transaction of transactions) if (Number(transaction.fee) > 0) taken.push(transaction);
              for (const transaction of taken) pool.set(transaction.id, transaction);
              const refused = transactions.filter((transaction) => !taken.includes(transaction)).map(({ id }) => id);
              const accept = taken.map(({ id }) => id);
              const errors = Object.fromEntries(refused.map((id) => [id, [{ type: "ERR_LOW_FEE", message: "no fee" }]]));
              return Promise.resolve({ accept, broadcast: accept, excess: [], invalid: refused, errors: refused.length === 0 ? null : errors });
            },
            getBroadcastTransactions: () => taken,
          };
        },
      },
      { dynamicFees: { enabled: true, minFeePool: 1000, minFeeBroadcast: 1000, addonBytes: { transfer: 100 } } },
    ],
  };
  for (const [name, [plugin, options = {}]] of Object.entries(own)) registered.set(name, { name, version, plugin, options });

  const configuration: Record<string, unknown> = { ...network };
  const container: Container = {
    getConfig: () => ({ get: (key) => configuration[key] }),
    getVersion: () => version,
    has: (key) => registered.has(key),
    // Null for a plugin that is not registered, and for one that returned nothing.
    resolvePlugin: (key) => registered.get(key)?.plugin ?? null,
    resolveOptions: (key) => {
      const found = registered.get(key);
      if (found === undefined) throw new Error(`there is no ${key}`);
      return found.options;
    },
    use: async (descriptor, given) => {
      const options = { ...descriptor.defaults, ...given };
      const plugin = await descriptor.register(container, options);
      registered.set(descriptor.alias, { name: descriptor.pkg.name, version: descriptor.pkg.version, plugin, options });
      ending.push(() => descriptor.deregister?.(container, options));
    },
    tearDown: async () => {
      for (const end of ending.splice(0).reverse()) await end();
    },
  };
  return { container, events, blocks, pool, broadcast, log };
};
