import { EventEmitter } from "node:events";
import type { IncomingHttpHeaders, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createApiPlugin } from "../../src/index.js";
import type { Peer } from "../../types/chain.js";
import type { TransactionData } from "../../types/events.js";
import type { NodeInfo, TransactionPool } from "../../types/node-context.js";
import type { PorticoOptions } from "../../types/options.js";
import { atEnd } from "../at-end.js";
import { figuresOf } from "../e2e/figures.js";
import { storedChain } from "../fixtures/stored-chain.js";
import { createTestPool, refusingPool, type TestPool } from "./test-pool.js";

/** A request as it reached the server, without its body. */
export interface Received {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
}

/** A node that serves the chain `core3-custom-c`, with a pool, peers and a network of its own. */
export interface RunningNode {
  /** `http://127.0.0.1:PORT`. */
  readonly origin: string;
  readonly port: number;
  readonly pool: TestPool;
  /** Warnings and errors that it logged. */
  readonly logged: string[];
  /** The requests since the last call. */
  received(): Received[];
  /** The number of connections since the last call. */
  connections(): number;
}

export const chainName = "core3-custom-c";
const figures = figuresOf(chainName);
const { network, tip, meta } = figures;

/** How many blocks the network is ahead of the node. */
export const blocksBehind = 3;

/** Milliseconds since 1970: 100 s after the tip. */
export const now = (meta.tip.unix + 100) * 1000;

const told = meta.nodeConfiguration.data as { core: { version: string }; ports: NonNullable<NodeInfo["ports"]>; transactionPool: NonNullable<NodeInfo["transactionPool"]> };
const node: NodeInfo = { version: told.core.version, ports: told.ports, transactionPool: told.transactionPool };

const richest = figures.walletRows.reduce((best, row) => (BigInt(row.balance) > BigInt(best.balance) && row.publicKey !== null ? row : best));

/** In the pool from the start: a transfer and a multi-payment. */
export const unconfirmed: TransactionData[] = [
  {
    id: "a1".repeat(32),
    version: 2,
    network: network.network.pubKeyHash,
    typeGroup: 1,
    type: 0,
    nonce: String(BigInt(richest.nonce) + 1n),
    senderPublicKey: String(richest.publicKey),
    amount: "9007199254740993",
    fee: "10000000",
    recipientId: String(figures.walletRows[0]?.address),
    vendorField: "on its way",
    expiration: 0,
    signature: "ab".repeat(64),
  },
  {
    id: "b2".repeat(32),
    version: 2,
    network: network.network.pubKeyHash,
    typeGroup: 1,
    type: 6,
    nonce: String(BigInt(richest.nonce) + 2n),
    senderPublicKey: String(richest.publicKey),
    amount: "0",
    fee: "20000000",
    asset: { payments: figures.walletRows.slice(0, 2).map(({ address }) => ({ recipientId: address, amount: "5" })) },
    signature: "cd".repeat(64),
  },
];
export const unconfirmedSender = richest.address;

const peersAt = (port: number): Peer[] => [
  { ip: "127.0.0.1", port: 4001, ports: { "@arkecosystem/core-api": port, "@arkecosystem/core-webhooks": null }, version: "3.9.1", height: tip.height, status: 200, os: "linux", latency: 21 },
  { ip: "10.0.0.2", port: 4001, ports: { "@arkecosystem/core-api": -1 }, version: "2.7.24", height: tip.height - 1, status: 200, os: "linux", latency: 7 },
  { ip: "10.0.0.3", port, ports: { "@arkecosystem/core-api": 4003 }, version: "1.0.3", height: tip.height, status: 200, os: "darwin", latency: 420 },
  { ip: "10.0.0.4", port: 4001, ports: { "@arkecosystem/core-api": 4003 }, version: "3.9.1", height: tip.height, status: 200, os: "linux", latency: 5, isPublic: false },
  { ip: "10.0.0.5", port: 4001, ports: {}, version: "3.9.1", height: 1, status: 503, latency: 9 },
];
/** In the list's order, by latency. A peer that is not public is never listed. */
export const publicPeersAt = (port: number): Required<Omit<Peer, "isPublic">>[] =>
  peersAt(port)
    .filter(({ isPublic }) => isPublic !== false)
    .map((peer) => ({ os: "unknown", ports: {}, ...peer }))
    .sort((a, b) => a.latency - b.latency);

const watch = (server: Server): Pick<RunningNode, "received" | "connections"> => {
  let received: Received[] = [];
  let connections = 0;
  server.prependListener("request", ({ method = "", url = "", headers }) => received.push({ method, url, headers }));
  server.on("connection", () => connections++);
  return {
    received: () => {
      const seen = received;
      received = [];
      return seen;
    },
    connections: () => {
      const seen = connections;
      connections = 0;
      return seen;
    },
  };
};

/** The host's pool: a working one, none, one that accepts nothing, or one whose every method throws. */
export type PoolKind = "working" | "none" | "read-only" | "throwing";

const poolOf = (kind: PoolKind, working: TestPool): { pool?: TransactionPool } => {
  if (kind === "none") return {};
  if (kind === "read-only") return { pool: { list: working.list } };
  return { pool: kind === "throwing" ? refusingPool : working };
};

const nodes = new Map<string, Promise<RunningNode>>();

const start = async (options: PorticoOptions, poolKind: PoolKind): Promise<RunningNode> => {
  let peers: Peer[] = [];
  const pool = createTestPool(unconfirmed);
  const logged: string[] = [];
  const plugin = createApiPlugin({
    network,
    events: new EventEmitter(),
    chain: await storedChain(chainName),
    ...poolOf(poolKind, pool),
    peers: { list: () => peers, suspended: () => peers.filter(({ status }) => status !== 200) },
    sync: { networkHeight: () => tip.height + blocksBehind },
    node,
    clock: { now: () => now },
    logger: { debug: () => undefined, info: () => undefined, warn: (line) => logged.push(line), error: (line) => logged.push(line) },
    options,
  });
  atEnd(async () => {
    nodes.clear();
    await plugin.stop();
  });
  const server = await plugin.listen(0);
  const { port } = server.address() as AddressInfo;
  peers = peersAt(port);
  return { origin: `http://127.0.0.1:${port}`, port, pool, logged, ...watch(server) };
};

/** The node with these options and this pool; it runs until all tests have ended. */
export const runningNode = (options: PorticoOptions = {}, pool: PoolKind = "working"): Promise<RunningNode> => {
  const key = JSON.stringify([options, pool]);
  const node = nodes.get(key) ?? start(options, pool);
  nodes.set(key, node);
  return node;
};
