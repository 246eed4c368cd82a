import { type ChildProcess, spawn } from "node:child_process";
import type { ServerResponse } from "node:http";
import { expect } from "chai";
import { type DeliveryWorker, natsDispatch, type NatsDispatch, natsMetricsText, startDeliveryWorker } from "../../src/nats/index.js";
import { count } from "../fixtures/long.js";
import { programOf } from "../fixtures/programs.js";
import { onlyWhere } from "../fixtures/installed.js";
import { silentLogger } from "../silent.js";
import { atEnd, chainBlocks, closeAll, folderWith, startServer, TestNode, until } from "../replica/machines.js";
import { hasNats, NatsServer } from "./nats-server.js";

/** A target that keeps what it gets, by `webhook-id`. */
class Receiver {
  readonly received = new Map<string, { heights: Set<number>; times: number }>();
  answer = (response: ServerResponse): void => void response.writeHead(204).end();
  url = "";

  async start(): Promise<this> {
    const { url } = await startServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
      request.on("end", () => {
        const id = String(request.headers["webhook-id"]);
        const { block } = JSON.parse(body) as { block: { height: number } };
        const known = this.received.get(id) ?? { heights: new Set(), times: 0 };
        known.heights.add(block.height);
        known.times++;
        this.received.set(id, known);
        this.answer(response);
      });
      // At all of this machine's addresses: of one, few are sent at a time.
    }, "0.0.0.0");
    this.url = `${url}/`;
    return this;
  }

  heights(): number[] {
    return [...this.received.values()].flatMap(({ heights }) => [...heights]).sort((a, b) => a - b);
  }
}


const workerProgram = "examples/delivery-worker/main.ts";
/** Of the chain that each node begins with. */
const height = 60;
/** The second meets what the first has left: listeners, a queue made anew. */
const losses = count(2, 100);

describe("Requests of webhooks that are given to workers over JetStream", function () {
  this.timeout(60_000);
  after(closeAll);

  onlyWhere(hasNats, "nats-server is not installed: deliveries are not tested over NATS");

  const begin = async () => {
    const server = await new NatsServer().start();
    const receiver = await new Receiver().start();
    const dispatch = natsDispatch({ servers: server.url }, { logger: silentLogger });
    atEnd(() => dispatch.close());
    const node = await new TestNode(height, undefined, dispatch).start();
    node.plugin.webhooks?.create({ event: "block.applied", target: receiver.url, order: "none" });
    return { server, receiver, dispatch, node };
  };

  const startWorker = (server: NatsServer): DeliveryWorker => {
    const worker = startDeliveryWorker({ servers: server.url }, { allowTargets: ["127.0.0.0/8"] });
    atEnd(() => worker.stop());
    return worker;
  };

  const workersThere = (dispatch: NatsDispatch, many: number): Promise<boolean> => until(`${many} workers`, () => dispatch.workers() === many);

  /** Blocks from the next on. */
  const grown = (blocks: number): number[] => Array.from({ length: blocks }, (_, i) => height + 1 + i);

  it("are all sent by workers, once each, with the node's signature and record", async () => {
    const { server, receiver, dispatch, node } = await begin();
    const workers = [startWorker(server), startWorker(server)];
    await workersThere(dispatch, 2);
    await node.grow(40);
    await until("all of them", () => receiver.received.size === 40);
    expect(receiver.heights()).to.deep.equal(grown(40));
    expect([...receiver.received.values()].every(({ times }) => times === 1)).to.equal(true);
    await until("their answers", () => dispatch.counts().answered === 40);
    expect(dispatch.counts()).to.deep.equal({ answered: 40, repeated: 0, here: 0 });
    expect(workers.reduce((sum, worker) => sum + worker.sent(), 0)).to.equal(40);
    const [webhook] = node.plugin.webhooks?.list({ offset: 0, limit: 1 }).rows ?? [];
    expect(webhook).to.include({ failingSince: null });
  });

  it("are sent by the node itself where there is no worker, and once the last has left", async () => {
    const { server, receiver, dispatch, node } = await begin();
    await node.grow(3);
    await until("those of the node", () => receiver.received.size === 3);
    const worker = startWorker(server);
    await workersThere(dispatch, 1);
    await node.grow(3);
    await until("those of the worker", () => receiver.received.size === 6);
    await until("their answers", () => dispatch.counts().answered === 3);
    expect(worker.sent()).to.equal(3);
    await worker.stop();
    await workersThere(dispatch, 0);
    await node.grow(3);
    await until("those after it", () => receiver.received.size === 9);
    expect(dispatch.counts().here).to.equal(6);
    const lines = (await natsMetricsText({ dispatch })).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    const counted = ['total{by="worker"} 3', 'total{by="node"} 6', "repeated_total 0"].map((end) => `portico_nats_deliveries_${end}`);
    expect(lines).to.have.members([...counted, "portico_nats_delivery_workers 0"]);
    expect(await natsMetricsText({ worker })).to.include("\nportico_nats_worker_requests_total 3\n");
  });

  it("are ended by a worker that leaves, as far as it has begun them: nobody else sends these", async () => {
    const { server, receiver, dispatch, node } = await begin();
    const held: ServerResponse[] = [];
    receiver.answer = (response) => void held.push(response);
    const worker = startWorker(server);
    await workersThere(dispatch, 1);
    await node.grow(3);
    await until("what the worker sent", () => held.length === 3);
    const stopping = worker.stop();
    await workersThere(dispatch, 0);
    await node.grow(1);
    await until("what the node sends itself", () => held.length === 4);
    held.forEach((response) => response.writeHead(204).end());
    await stopping;
    await until("the answers", () => dispatch.counts().answered === 3);
    expect(dispatch.counts()).to.deep.equal({ answered: 3, repeated: 0, here: 1 });
    expect([...receiver.received.values()].map(({ times }) => times)).to.deep.equal([1, 1, 1, 1]);
  });

  it("are given back by a worker that leaves, where they have come and are not begun: nobody sends them twice", async () => {
    const { server, receiver, dispatch, node } = await begin();
    const hosts = 40;
    for (let i = 1; i <= hosts; i++) node.plugin.webhooks?.create({ event: "block.applied", target: receiver.url.replace("127.0.0.1", `127.0.1.${i}`), order: "none" });
    const held: ServerResponse[] = [];
    const answer = receiver.answer;
    receiver.answer = (response) => void held.push(response);
    const worker = startDeliveryWorker({ servers: server.url }, { allowTargets: ["127.0.0.0/8"], concurrency: 64 });
    await workersThere(dispatch, 1);
    await node.grow(4);
    await until("as much as the worker sends at a time", () => held.length >= 64);
    const stopping = worker.stop();
    await workersThere(dispatch, 0);
    receiver.answer = answer;
    held.forEach((response) => response.writeHead(204).end());
    await stopping;
    await until("all of them", () => receiver.received.size === 4 * (hosts + 1));
    await until("their answers", () => dispatch.counts().answered + dispatch.counts().here >= 4 * (hosts + 1));
    expect([...receiver.received.values()].filter(({ times }) => times > 1)).to.deep.equal([]);
  });

  const killWorker = async (): Promise<void> => {
    const { server, receiver, dispatch, node } = await begin();
    const held: ServerResponse[] = [];
    receiver.answer = (response) => void held.push(response);
    const child: ChildProcess = spawn(process.execPath, [programOf(workerProgram), "--nats", server.url, "--allow-target", "127.0.0.0/8"], { stdio: "ignore" });
    atEnd(() => child.kill("SIGKILL"));
    await workersThere(dispatch, 1);
    await node.grow(3);
    await until("what the worker sent", () => held.length === 3);
    const ids = new Set(receiver.received.keys());
    receiver.answer = (response) => void response.writeHead(204).end();
    child.kill("SIGKILL");
    await until("the same, sent again", () => [...receiver.received.values()].every(({ times }) => times >= 2));
    expect(new Set(receiver.received.keys())).to.deep.equal(ids);
    expect(receiver.heights()).to.deep.equal(grown(3));
  };
  const loseServer = async (): Promise<void> => {
    const { server, receiver, dispatch, node } = await begin();
    startWorker(server);
    startWorker(server);
    await workersThere(dispatch, 2);
    let blocks = 0;
    for (let loss = 0; loss < losses; loss++) {
      const batch = Math.min(6, chainBlocks.length - node.chain.length);
      const growing = node.grow(batch);
      await server.lose();
      await growing;
      blocks = Math.max(blocks, node.chain.length - height);
      await until("all deliveries", () => new Set(receiver.heights()).size >= node.chain.length - height);
      await server.start();
      await workersThere(dispatch, 2);
      if (node.chain.length + 6 > chainBlocks.length) await node.revertTo(height);
    }
    expect(new Set(receiver.heights())).to.deep.equal(new Set(grown(blocks)));
  };

  /** In both, the node waits for two seconds and more for what does not come: the tests before them run meanwhile. */
  let [killed, lost] = [Promise.resolve(), Promise.resolve()];
  before(async () => {
    // Made once, which would hold up who waits for a worker's signs.
    await folderWith(height);
    programOf(workerProgram);
    [killed, lost] = [killWorker(), loseServer()];
    // What fails is told by the test that waits for it.
    for (const one of [killed, lost]) one.catch(() => undefined);
  });

  it("are sent again, with the same id, when a worker is killed with them", () => killed);

  it(`all arrive, although the server is killed under load and its store deleted (${losses} times)`, () => lost);
});
