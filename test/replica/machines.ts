import { EventEmitter, once } from "node:events";
import { createServer, request as ask, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { createApiPlugin, followNode, type TipSource } from "../../src/index.js";
import type { Peer } from "../../types/chain.js";
import type { BlockData, TransactionData } from "../../types/events.js";
import type { Logger, PoolResult } from "../../types/node-context.js";
import type { LakeOptions } from "../../types/options.js";
import type { ApiPlugin } from "../../types/plugin.js";
import { atEndOfTest } from "../at-end.js";
import { loadChain } from "../data/read.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { copyOf } from "../fixtures/run.js";
import { until } from "../fixtures/until.js";
import { looks } from "../../src/store/sync/follower.js";
import { branch } from "../store/branches.js";
import { freePort } from "../free-port.js";
import { silentLogger } from "../silent.js";

/** A node and its replicas, each a plugin with a store and a server of its own, on a chain that a real node made. */

export const { network, blocks: chainBlocks } = loadChain("core3-testnet-a");

export interface Served {
  plugin: ApiPlugin;
  url: string;
  lines: string[];
}

/** Has nodes and replicas of this suite look at what they follow more often than each five seconds. */
export const lookOften = (): void => {
  const { interval } = looks;
  before(() => void (looks.interval = 200));
  after(() => void (looks.interval = interval));
};

const nodeOptions = { finality: 10, staleAfter: false } as const;

/** Nearly all transactions of the chain are in its first blocks. */
const busyBlocks = 60;

/**
 * A new folder with a store of the chain's first blocks, which is written once in a run, and the busy ones once for all heights: applying them
 * takes longer than what most tests look at.
 */
export const folderWith = (height: number, folder = temporaryFolder()): Promise<string> =>
  copyOf(`chain-of-${height}`, folder, async (dataDir) => {
    if (height > busyBlocks) await folderWith(busyBlocks, dataDir);
    const read = (from: number, limit: number): BlockData[] => chainBlocks.slice(from - 1, Math.min(from - 1 + limit, height));
    const plugin = createApiPlugin({ network, events: new EventEmitter(), dataDir, blocks: { read }, logger: silentLogger, options: nodeOptions });
    await plugin.start();
    await plugin.settled();
    await plugin.stop();
  });

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

const loggerTo = (lines: string[], warnings: string[] = []): Logger => {
  const to = (message: string): void => void lines.push(message);
  const warn = (message: string): void => {
    to(message);
    warnings.push(message);
  };
  return { ...silentLogger, debug: to, info: to, warn, error: to };
};

export const peer = (ip: string): Peer => ({ ip, port: 4001, ports: { "@arkecosystem/core-api": 4003 }, version: "3.9.1", height: 7, status: 200, os: "linux", latency: 12 });

/** A clock that may be put forward, and whose time of day may be set to stand still. */
class TestClock {
  private ahead = 0;
  private stopped: number | undefined;

  now(): number {
    return this.stopped ?? Date.now() + this.ahead;
  }

  monotonic(): number {
    return performance.now() + this.ahead;
  }

  pass(milliseconds: number): void {
    this.ahead += milliseconds;
  }

  stopAt(moment: number): void {
    this.stopped = moment;
  }
}

/** A node, whose host does what a test tells it. */
export class TestNode implements Served {
  readonly events = new EventEmitter();
  readonly peers = [peer("10.0.0.1"), peer("10.0.0.2")];
  readonly pool: TransactionData[] = [];
  readonly submitted: TransactionData[] = [];
  readonly clock = new TestClock();
  /** Thrown by its pool, if it is set. */
  refusal: Error | undefined;
  readonly lines: string[] = [];
  /** What is wrong beside it. */
  warning: () => string | undefined = () => undefined;
  chain: BlockData[];
  plugin!: ApiPlugin;
  port = 0;
  readonly lake: LakeOptions | undefined;
  dataDir = "";

  constructor(height: number, lake?: LakeOptions) {
    this.chain = chainBlocks.slice(0, height);
    this.lake = lake;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/api`;
  }

  private create(): ApiPlugin {
    const { lake } = this;
    return createApiPlugin({
      network,
      events: this.events,
      dataDir: this.dataDir,
      blocks: { read: (from, limit) => this.chain.slice(from - 1, from - 1 + limit) },
      peers: { list: () => this.peers },
      sync: { networkHeight: () => this.chain.length + 3, synced: () => true },
      node: { version: "3.9.1", ports: { "@arkecosystem/core-p2p": 4001, "@arkecosystem/core-webhooks": null } },
      pool: { list: () => this.pool, submit: (transactions) => this.submit(transactions) },
      warning: () => this.warning(),
      clock: this.clock,
      logger: loggerTo(this.lines),
      options: { ...nodeOptions, webhooks: { allowTargets: ["127.0.0.0/8"], schedule: [200, 200, 200, 500, 500] }, ...(lake === undefined ? {} : { lake }) },
    });
  }

  private submit(transactions: TransactionData[]): PoolResult {
    if (this.refusal !== undefined) throw this.refusal;
    this.submitted.push(...transactions);
    const ids = transactions.map(({ id }) => id);
    return { accept: ids, broadcast: ids, excess: [], invalid: [] };
  }

  /** With its blocks in its store; one with a lake gets them now, to write them there as they come, unless a folder is given. */
  async start(dataDir?: string): Promise<this> {
    this.port = await freePort();
    this.dataDir = dataDir ?? (this.lake === undefined ? await folderWith(this.chain.length) : temporaryFolder());
    await this.serve();
    return this;
  }

  private async serve(): Promise<void> {
    this.plugin = this.create();
    await this.plugin.listen(this.port);
    atEndOfTest(() => this.plugin.stop());
  }

  stop(): Promise<void> {
    return this.plugin.stop();
  }

  /** At the same port, with the same store unless another folder is given. */
  async restart(dataDir = this.dataDir): Promise<void> {
    await this.plugin.stop();
    this.dataDir = dataDir;
    await this.serve();
    await this.plugin.settled();
  }

  async apply(...blocks: BlockData[]): Promise<void> {
    for (const block of blocks) {
      this.chain.push(block);
      this.events.emit("block.applied", block);
    }
    await this.plugin.settled();
  }

  /** The next blocks of the chain. @throws Error if it has fewer */
  async grow(count: number): Promise<void> {
    const next = chainBlocks.slice(this.chain.length, this.chain.length + count);
    if (next.length < count) throw new Error(`the chain has no block ${this.chain.length + next.length + 1}`);
    await this.apply(...next);
  }

  /** Looks after each change, until there is something: the next block or, near the chain's end, the last one once more. */
  growUntil<T>(what: string, look: () => Promise<T> | T): Promise<T> {
    return until(what, async () => {
      if (this.chain.length > chainBlocks.length - 30) await this.revertTo(this.chain.length - 1);
      await this.grow(1);
      return look();
    });
  }

  async revertTo(height: number): Promise<void> {
    while (this.chain.length > height) this.events.emit("block.reverted", this.chain.pop());
    await this.plugin.settled();
  }

  /** Leaves the chain after `height`, for a branch of `count` blocks. */
  async fork(height: number, count: number): Promise<void> {
    await this.revertTo(height);
    await this.apply(...branch(height, height + count));
  }
}

/** A node with 180 blocks, whose lake has four files of 40 and, if they are wanted, a snapshot of block 150. They are written once in a run. */
export const startNodeWithLake = async ({ snapshotEvery }: { snapshotEvery: 0 | 50 }): Promise<TestNode & { lake: { dir: string } }> => {
  const start = (folder: string) => new TestNode(180, { dir: join(folder, "lake"), blocksPerFile: 40, snapshotEvery, keepSnapshots: 2 }).start(join(folder, "data"));
  const folder = await copyOf(`node-with-lake-${snapshotEvery}`, temporaryFolder(), async (made) => {
    const node = await start(made);
    await until("the lake", async () => {
      const reply = await fetch(`${node.url}/lake/manifest.json`);
      const { blocks, snapshots } = (await reply.json()) as { blocks?: unknown[]; snapshots?: unknown[] };
      return blocks?.length === 4 && (snapshots?.length ?? 0) === (snapshotEvery === 0 ? 0 : 1);
    });
    await node.stop();
  });
  return (await start(folder)) as TestNode & { lake: { dir: string } };
};

export class TestReplica implements Served {
  readonly lines: string[] = [];
  readonly warnings: string[] = [];
  readonly clock = new TestClock();
  readonly dataDir: string;
  plugin!: ApiPlugin;
  url = "";
  private readonly node: string;
  /** Another way by which the node's changes come. */
  tip: TipSource | undefined;
  /** A lake other than the node's. */
  lake: string | undefined;

  constructor(node: string, dataDir = temporaryFolder()) {
    this.node = node;
    this.dataDir = dataDir;
  }

  async start(): Promise<this> {
    const { clock, dataDir, lines, warnings } = this;
    const context = await followNode({
      url: this.node,
      dataDir,
      logger: loggerTo(lines, warnings),
      ...(this.tip === undefined ? {} : { tip: this.tip }),
      ...(this.lake === undefined ? {} : { lake: this.lake }),
      clock,
      options: { finality: 10, staleAfter: false, rateLimit: false },
    });
    const plugin = (this.plugin = createApiPlugin(context));
    atEndOfTest(() => plugin.stop());
    const server = await plugin.listen(0);
    this.url = `http://127.0.0.1:${portOf(server)}/api`;
    return this;
  }

  async restart(): Promise<void> {
    await this.plugin.stop();
    await this.start();
  }

  async ready(): Promise<{ status: number; problem?: string; detail?: string; behind?: number; lag?: number }> {
    const reply = await fetch(`${this.url}/health/ready`);
    const body = (await reply.json()) as { problem?: string; detail?: string; behind?: number; lag?: number };
    return { ...body, status: reply.status };
  }
}

/** One that has the first blocks of the chain from before, or none. */
export const startReplica = async (node: Pick<TestNode, "url">, height = 0): Promise<TestReplica> => new TestReplica(node.url, height === 0 ? undefined : await folderWith(height)).start();

export const tipOf = async ({ url }: Pick<Served, "url">): Promise<string> => {
  const { data } = (await (await fetch(`${url}/blockchain`)).json()) as { data?: { block: { height: number; id: string } } };
  return data === undefined ? "none" : `${data.block.height}-${data.block.id}`;
};

/** Waits until a replica has the node's tip. */
export const level = (node: Served, replica: Served): Promise<boolean> => until(`the replica at the node's tip`, async () => (await tipOf(node)) === (await tipOf(replica)));

/** A server of its own, which counts who is connected. */
export const startServer = async (answer: RequestListener, host = "127.0.0.1"): Promise<{ url: string; connections(): Promise<number> }> => {
  const server = createServer(answer).listen(0, host);
  await once(server, "listening");
  atEndOfTest(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${portOf(server)}`, connections: () => promisify(server.getConnections.bind(server))() };
};

/** A server before a node that may change what `/changes` says, as a node with another state would, or keep a line back. */
export const startProxy = async (target: TestNode, change: { of(line: string): string | undefined; asked?(path: string): void; answered?(path: string): void }): Promise<{ url: string }> => {
  const server = createServer((request, response) => {
    change.asked?.(request.url ?? "");
    const onward = ask(`http://127.0.0.1:${target.port}${request.url ?? ""}`, { method: request.method, headers: request.headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      const isChanges = request.url?.includes("/changes") === true;
      reply.on("close", () => {
        response.end();
        change.answered?.(request.url ?? "");
      });
      if (!isChanges) return void reply.pipe(response);
      let rest = "";
      reply.setEncoding("utf8");
      reply.on("data", (chunk: string) => {
        const parts = (rest + chunk).split("\n");
        rest = parts.pop() ?? "";
        for (const line of parts) {
          const told = change.of(line);
          if (told !== undefined) response.write(`${told}\n`);
        }
      });
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    request.pipe(onward);
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  atEndOfTest(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${portOf(server)}/api` };
};
