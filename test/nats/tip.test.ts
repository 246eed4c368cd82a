import { expect } from "chai";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { natsMetrics, natsTip, startTipPublisher } from "../../src/nats/index.js";
import { streamOf } from "../../src/nats/connection.js";
import type { Logger } from "../../types/node-context.js";
import { count } from "../fixtures/long.js";
import { onlyWhere } from "../fixtures/installed.js";
import { freePort } from "../free-port.js";
import { silentLogger } from "../silent.js";
import { atEndOfTest } from "../at-end.js";
import { until } from "../fixtures/until.js";
import { folderWith, level, network, startProxy, TestNode, TestReplica, tipOf } from "../replica/machines.js";
import { hasNats, NatsServer } from "./nats-server.js";

const { nethash } = network.network;

/** The lines of the stream, from its first message on. */
const published = async (server: NatsServer): Promise<{ kind: string; block: { height: number; id: string; transactions: unknown[] } }[]> => {
  const connection = await connect({ servers: server.url });
  try {
    const manager = await jetstreamManager(connection);
    const { name } = streamOf({}, nethash);
    const { state } = await manager.streams.info(name);
    const lines = [];
    for (let seq = state.first_seq; seq <= state.last_seq && state.messages > 0; seq++) lines.push((await manager.streams.getMessage(name, { seq }))?.json());
    return lines as Awaited<ReturnType<typeof published>>;
  } finally {
    await connection.close();
  }
};

const publish = (server: NatsServer, { url }: { url: string }, logger: Logger = silentLogger): ReturnType<typeof startTipPublisher> => {
  const publisher = startTipPublisher({ servers: server.url }, { url, nethash, logger });
  atEndOfTest(() => publisher.stop());
  return publisher;
};

describe("A node's changes over JetStream", () => {
  onlyWhere(hasNats, "nats-server is not installed: changes are not tested over NATS");

  /** A node, its publisher, and a replica that has the changes from NATS once the first has come. `http`: lines that its own stream from the node brought. */
  const begin = async (server: NatsServer) => {
    const node = await new TestNode(60).start();
    const publisher = publish(server, node);
    const http: string[] = [];
    const proxy = await startProxy(node, { of: (line) => (http.push(line), line) });
    const replica = new TestReplica(proxy.url, await folderWith(60));
    replica.tip = natsTip({ servers: server.url });
    await replica.start();
    await level(node, replica);
    return { node, publisher, replica, http };
  };

  it("reach a replica without a stream from the node, blocks and reversals", async () => {
    const server = await new NatsServer().start();
    const { node, publisher, replica, http } = await begin(server);
    await node.growUntil("changes over NATS", async () => {
      await level(node, replica);
      return publisher.published() > 0 && http.length > 0 && replica.plugin.health().status === "ok";
    });
    await node.grow(2);
    await level(node, replica);
    let before = 0;
    await node.growUntil("the stream from the node given up", async () => {
      await level(node, replica);
      return http.length === before || void (before = http.length);
    });
    await node.fork(node.chain.length - 3, 6);
    await level(node, replica);
    await until("the last change", async () => (await published(server)).at(-1)?.block.id === node.chain.at(-1)?.id);
    const lines = await published(server);
    expect(lines.some(({ kind }) => kind === "reverted")).to.equal(true);
    expect(lines.at(-1)?.block.id).to.equal(node.chain.at(-1)?.id);
  });

  it("are published once each, whoever publishes, which each says once", async () => {
    const server = await new NatsServer().start();
    const node = await new TestNode(60).start();
    const lines: string[][] = [[], []];
    const publishers = lines.map((own) => publish(server, node, { ...silentLogger, info: (line) => void own.push(line), warn: (line) => void own.push(line) }));
    await until("the stream", () => published(server).then(Array.isArray, () => false));
    await node.growUntil("a first change", () => publishers.some((one) => one.published() > 0));
    for (let i = 0; i < 15; i++) await node.grow(1);
    await until("the last change", async () => (await published(server)).at(-1)?.block.height === node.chain.length);
    const heights = (await published(server)).map(({ block }) => block.height);
    expect(heights).to.deep.equal(heights.map((_, i) => (heights[0] ?? 0) + i));
    const said = "another node, or a replica, publishes changes to the same NATS stream";
    for (const own of lines) expect(own).to.deep.equal(own.length === 0 ? [] : [said]);
    expect(lines.flat()).not.to.deep.equal([]);
  });

  it("are no sign of the node: a replica whose node is away says so, whoever else publishes", async () => {
    const server = await new NatsServer().start();
    const [node, other] = [await new TestNode(60).start(), await new TestNode(60).start()];
    const publisher = publish(server, other);
    const replica = new TestReplica(node.url, await folderWith(60));
    const tip = natsTip({ servers: server.url });
    replica.tip = tip;
    await replica.start();
    await level(node, replica);
    await until("a stream that is read", tip.isConnected);
    await other.growUntil("changes over NATS", () => publisher.published() > 0);
    // Blocks before the first change are nowhere for this replica.
    await other.revertTo(60);
    await other.grow(1);
    await level(other, replica);
    await node.stop();
    replica.clock.pass(5_001);
    await until("word that the node is away", async () => (await replica.ready()).problem === "node unreachable");
    for (let blocks = 0; blocks < 5; blocks++) {
      await other.grow(1);
      await level(other, replica);
      expect(await replica.ready()).to.include({ status: 503, problem: "node unreachable" });
    }
  });

  it(`are all at the replica, although the server is killed and its store deleted (${count(3, 100)} times)`, async () => {
    const server = await new NatsServer().start();
    const { node, replica } = await begin(server);
    for (let loss = 0; loss < count(3, 100); loss++) {
      await node.grow(1);
      await server.lose();
      await node.grow(1);
      if (loss % 3 === 1) await node.fork(node.chain.length - 2, 3);
      await level(node, replica);
      await server.start();
      await node.grow(1);
      await level(node, replica);
      await node.revertTo(60);
    }
    await until("the node's tip", async () => (await tipOf(replica)) === (await tipOf(node)));
    expect(await tipOf(replica)).to.equal(await tipOf(node));
    await until("a ready replica", async () => (await replica.ready()).status === 200);
  });

  it("are counted by the replica, which says whether they come over NATS at present", async () => {
    const server = new NatsServer();
    server.port = await freePort();
    const node = await new TestNode(60).start();
    const publisher = publish(server, node);
    const tip = natsTip({ servers: server.url });
    const replica = new TestReplica(node.url, await folderWith(60));
    replica.tip = tip;
    const measured = async (): Promise<string[]> => ((await natsMetrics({ tip })) as { name: string; values: { value: number }[] }[]).map(({ name, values }) => `${name} ${values[0]?.value ?? ""}`);
    const lines = (received: number, connected: 0 | 1): string[] => [`portico_nats_changes_received_total ${received}`, `portico_nats_changes_connected ${connected}`];
    expect(await measured()).to.deep.equal(lines(0, 0));
    await replica.start();
    await level(node, replica);
    expect(await measured()).to.deep.equal(lines(0, 0));
    await server.start();
    await node.grow(1);
    await until("a stream that is read", tip.isConnected);
    const before = publisher.published();
    await node.grow(3);
    await until("the changes published", () => publisher.published() === before + 3);
    await until("the changes received, and counted", async () => {
      const received = tip.received();
      return received >= 3 && (await measured()).join() === lines(received, 1).join();
    });
    expect(tip.received()).to.be.within(3, publisher.published());
    await server.kill();
    await until("word that the server is gone", () => !tip.isConnected());
    expect(await measured()).to.deep.equal(lines(tip.received(), 0));
    await server.start();
    await until("word that it is back", tip.isConnected);
    await replica.plugin.stop();
    expect(tip.isConnected()).to.equal(false);
  });

  it("are kept by three servers of a cluster, and go on without the one that led them; what is not published is said in health", async () => {
    const servers = await NatsServer.cluster(3);
    const urls = servers.map(({ url }) => url);
    const node = await new TestNode(60).start();
    const publisher = startTipPublisher({ servers: urls }, { url: node.url, nethash, logger: silentLogger });
    atEndOfTest(() => publisher.stop());
    node.warning = publisher.problem;
    await node.growUntil("a first change", () => publisher.published() > 0);
    const connection = await connect({ servers: urls });
    atEndOfTest(() => connection.close());
    const { config, cluster } = await (await jetstreamManager(connection)).streams.info(streamOf({}, nethash).name);
    expect(config.num_replicas).to.equal(3);
    expect(node.plugin.health()).not.to.have.property("problem");
    await servers[Number(cluster?.leader?.slice(1))]?.kill();
    const before = publisher.published();
    await node.growUntil("changes without that server", () => publisher.published() > before);
    for (const server of servers) await server.kill();
    await until("word of it", () => node.plugin.health().problem?.startsWith("changes are not published to NATS") === true);
    expect(node.plugin.health().status).to.equal("ok");
  });

  it("come from the node while no server can be reached, and nobody waits for it", async () => {
    const server = new NatsServer();
    server.port = 1;
    const { node, replica } = await begin(server);
    await node.grow(3);
    await level(node, replica);
    await until("a ready replica", async () => (await replica.ready()).status === 200);
  });

  it("are not read without TLS where the server's URL demands it", async () => {
    const server = await new NatsServer().start();
    const warnings: string[] = [];
    const subscriber = natsTip({ servers: `tls://127.0.0.1:${server.port}` }, { ...silentLogger, warn: (line) => void warnings.push(line) }).start(nethash, () => Promise.resolve());
    try {
      await until("the refusal", () => warnings.length > 0);
      expect(warnings).to.deep.equal([`no changes arrive over NATS, so they are read from the node: server does not support 'tls' (NATS at 127.0.0.1:${server.port})`]);
    } finally {
      await subscriber.stop();
    }
  });
});
