import { setTimeout as delay } from "node:timers/promises";
import { EventEmitter } from "eventemitter3";
import { expect } from "chai";
import type { ApiPlugin } from "../../types/plugin.js";
import { loadChain } from "../data/read.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { createNode, listenTo } from "../fixtures/node.js";
import { runExample, type StartedProcess, urlIn } from "../fixtures/process.js";
import { createReceiver, type Receiver } from "../webhooks/receiver.js";
import { token, webhookOptions } from "./reader-options.js";
import { count } from "../fixtures/long.js";

const chain = loadChain("core3-testnet-a");

/** Questions to both generations that use every kind of index. */
const paths = [
  "/blockchain",
  "/delegates?limit=20&orderBy=votes:desc",
  "/wallets/top?limit=5",
  "/blocks/last",
  "/blocks?limit=3",
  "/transactions?limit=5",
  "/node/syncing",
  "/node/configuration",
  "/v1/blocks/getHeight",
  "/v1/delegates?limit=5",
  "/votes",
];

/** A node in this process, and other processes that serve its store. */
describe("readers of a node's store", () => {
  let dataDir: string;
  let events: EventEmitter;
  let node: ApiPlugin;
  let readers: StartedProcess[];

  beforeEach(() => {
    dataDir = temporaryFolder();
    events = new EventEmitter();
    node = createNode({ events, dataDir, options: { webhooks: webhookOptions } });
    readers = [];
  });

  const startReader = async (): Promise<string> => {
    const reader = runExample("test/e2e/reader-process.ts", { DATA_DIR: dataDir, CHAIN: "core3-testnet-a" });
    readers.push(reader);
    return urlIn(await reader.line(/^listens at /));
  };
  const listen = async (): Promise<string> => (await listenTo(node)).url;
  const started = (): Promise<unknown> => Promise.all(readers.map((reader) => reader.line(/^started/)));
  const text = async (url: string, init: RequestInit = {}): Promise<string> => (await fetch(url, init)).text();
  const send = async (method: string, url: string, body?: object): Promise<{ status: number; data: unknown }> => {
    const response = await fetch(url, {
      method,
      headers: { authorization: token, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, data: ((await response.json()) as { data?: unknown }).data };
  };

  it("answer 503 until there is a state, then byte for byte as the node does", async () => {
    const urls = await Promise.all([startReader(), startReader()]);
    for (const url of urls) {
      expect((await fetch(`${url}/delegates`)).status).to.equal(503);
      expect(await (await fetch(`${url}/health`)).json()).to.deep.equal({ status: "starting", height: 0 });
    }
    const own = await listen();
    for (const block of chain.blocks.slice(1, 60)) events.emit("block.applied", block);
    await node.settled();
    await started();
    for (const path of [...paths, "/health", "/wallets?limit=50&page=2", "/openapi.json", "/no/such/path", "/wallets?limit=0", "/peers"]) {
      const expected = await text(own + path);
      for (const url of urls) expect(await text(url + path), path).to.equal(expected);
    }
    for (const reader of readers) reader.kill("SIGTERM");
    for (const reader of readers) expect(await reader.ended).to.equal(0);
  });

  it("never answer from a state older than the last block committed before the request", async () => {
    const own = await listen();
    const urls = await Promise.all([startReader(), startReader()]);
    await started();
    /** For each state of the chain, what the node itself answered in it. */
    const states: Map<string, string>[] = [];
    /** The number of the state that is surely visible, and of the one that may be. */
    let [committed, begun] = [0, 0];
    const replies: { path: string; text: string; from: number; to: number }[] = [];
    let over = false;

    const ask = async (url: string, first: number): Promise<void> => {
      for (let turn = first; !over; turn++) {
        const path = paths[turn % paths.length] ?? "";
        const from = committed;
        const reply = await text(url + path);
        replies.push({ path, text: reply, from, to: begun });
      }
    };
    const note = async (): Promise<void> => {
      const answers = await Promise.all(paths.map(async (path) => [path, await text(own + path)] as const));
      states.push(new Map(answers));
    };
    /** Resolves when a reader has said once more where the chain is: on a busy machine the node would be through before they have answered. */
    const answered = async (): Promise<void> => {
      const before = replies.length;
      while (!replies.slice(before).some(({ path }) => path === "/blockchain")) await delay(1);
    };
    const move = async (event: string, height: number): Promise<void> => {
      begun++;
      events.emit(event, chain.blocks[height - 1]);
      await node.settled();
      committed++;
      await note();
      await answered();
    };

    await note();
    const asking = urls.flatMap((url) => [0, 3, 7].map((first) => ask(url, first)));
    for (let height = 2; height <= count(20, 60); height++) {
      await move("block.applied", height);
      // Back and forth too: a reply that was right two states ago is wrong in between.
      if (height % 7 === 0) {
        await move("block.reverted", height);
        await move("block.applied", height);
      }
    }
    over = true;
    await Promise.all(asking);

    expect(replies.length).to.be.greaterThan(count(130, 500));
    for (const { path, text: reply, from, to } of replies) {
      const allowed = states.slice(from, to + 1).map((state) => state.get(path));
      expect(allowed.includes(reply), `${path} between the states ${from} and ${to}: ${reply.slice(0, 200)} not in ${JSON.stringify(allowed)}`).to.equal(true);
    }
    expect(new Set(replies.filter(({ path }) => path === "/blockchain").map((reply) => reply.text)).size).to.be.greaterThan(count(10, 30));
  });

  describe("with webhooks", () => {
    let receiver: Receiver;
    beforeEach(async () => (receiver = await createReceiver()));
    afterEach(() => receiver.close());

    const idOf = ({ data }: { data: unknown }): number => (data as { id: number }).id;

    it("give the same answers whichever process a change was sent to, and only the node delivers, once", async () => {
      const own = await listen();
      const urls = await Promise.all([startReader(), startReader()]);
      await started();
      const all = [own, ...urls];
      const ids: number[] = [];
      for (const [index, url] of all.entries()) {
        const created = await send("POST", `${url}/webhooks`, { event: "block.applied", target: `${receiver.url}/${index}` });
        expect(created.status).to.equal(201);
        ids.push(idOf(created));
        const lists = await Promise.all(all.map((one) => text(`${one}/webhooks`, { headers: { authorization: token } })));
        expect(new Set(lists).size).to.equal(1);
        expect((JSON.parse(lists[0] ?? "") as { data: { id: number }[] }).data.map(({ id }) => id)).to.deep.equal(ids);
      }
      expect((await fetch(`${urls[0]}/webhooks`)).status).to.equal(401);

      for (const block of chain.blocks.slice(1, 11)) events.emit("block.applied", block);
      await node.settled();
      const received = await receiver.until(30);
      for (const path of ["/0", "/1", "/2"]) {
        const heights = received.filter((one) => one.path === path).map(({ json }) => (json.data as { height: number }).height);
        expect(heights, path).to.deep.equal([2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
      }

      // Sent to one reader, delivered by the node; removed through another, gone for all.
      const [first = 0, second = 0] = ids;
      expect((await send("POST", `${urls[1]}/webhooks/${first}/ping`)).status).to.be.oneOf([200, 201, 202]);
      expect((await receiver.until(31)).at(-1)).to.include({ path: "/0" });
      expect((await send("DELETE", `${urls[0]}/webhooks/${second}`)).status).to.equal(200);
      for (const url of all) expect((await send("GET", `${url}/webhooks/${second}`)).status, url).to.equal(404);
      events.emit("block.applied", chain.blocks[11]);
      expect((await receiver.until(33)).slice(31).map(({ path }) => path).sort()).to.deep.equal(["/0", "/2"]);
    });

    it("can be killed during writes: the node writes on, and no acknowledged webhook is lost", async () => {
      const own = await listen();
      await node.settled();
      let height = 1;
      const acknowledged: number[] = [];
      const urls = await Promise.all([startReader(), startReader(), startReader()]);
      await started();
      for (const [index, url] of urls.entries()) {
        const create = async (): Promise<void> => {
          for (;;) acknowledged.push(idOf(await send("POST", `${url}/webhooks`, { event: "peer.added", target: receiver.url })));
        };
        const before = acknowledged.length;
        const creating = Promise.allSettled([create(), create(), create()]);
        while (acknowledged.length < before + 20) {
          events.emit("block.applied", chain.blocks[height++]);
          await node.settled();
          await text(`${own}/blockchain`);
        }
        readers[index]?.kill("SIGKILL");
        await readers[index]?.ended;
        await creating;
      }
      events.emit("block.applied", chain.blocks[height++]);
      await node.settled();
      expect(node.health()).to.deep.include({ status: "ok", height });
      for (const id of acknowledged) expect((await send("GET", `${own}/webhooks/${id}`)).status).to.equal(200);
    });
  });
});
