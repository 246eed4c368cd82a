import { createServer, type IncomingMessage, request as requestOf } from "node:http";
import { once } from "node:events";
import type { AddressInfo, Server, Socket } from "node:net";
import { mock } from "node:test";
import { expect } from "chai";
import { EventEmitter } from "eventemitter3";
import { EventSource } from "eventsource";
import Koa from "koa";
import { request } from "undici";
import { createApiPlugin } from "../../src/plugin/plugin.js";
import type { ApiPlugin } from "../../types/plugin.js";
import { defaultPatience } from "../../src/http/reply/body-reply.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { silentLogger } from "../silent.js";
import { at, chain } from "../store/branches.js";
import { eventually } from "../webhooks/stage.js";

const start = 20;
const page = "https://wallet.example";

/** Ways to serve a node. Each resolves with what listens. */
const ways: Record<string, (plugin: ApiPlugin) => Promise<Server>> = {
  mount: async (plugin) => {
    const app = new Koa();
    app.use((_ctx, next) => next());
    plugin.mount(app);
    await plugin.start();
    const server = app.listen(0, "127.0.0.1");
    await once(server, "listening");
    return server;
  },
  callback: async (plugin) => {
    await plugin.start();
    const server = createServer(plugin.callback()).listen(0, "127.0.0.1");
    await once(server, "listening");
    return server;
  },
  listen: (plugin) => plugin.listen(0, "127.0.0.1"),
};

describe("streams", () => {
  let plugin: ApiPlugin;
  let events: EventEmitter;
  let server: Server;
  let known: typeof chain.blocks;
  const open = async (way: string, options: object = {}): Promise<string> => {
    events = new EventEmitter();
    known = chain.blocks.slice(0, start);
    plugin = createApiPlugin({ network: chain.network, events, dataDir: temporaryFolder(), blocks: { read: (from, limit) => known.slice(from - 1, from - 1 + limit) }, logger: silentLogger, options: { webhooks: false, rateLimit: false, ...options } });
    server = await ways[way]!(plugin);
    await plugin.settled();
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
  };
  const apply = async (height: number): Promise<void> => {
    known.push(at(height));
    events.emit("block.applied", at(height));
    await plugin.settled();
  };
  afterEach(async () => {
    mock.reset();
    await plugin.stop();
    if (server.listening) await new Promise((closed) => server.close(closed));
  });

  for (const way of Object.keys(ways)) {
    it(`through ${way} tell of a block as it comes, go on where Last-Event-ID says, may be read by other origins, and end with the node`, async () => {
      const url = await open(way);
      const told: number[] = [];
      const source = new EventSource(`${url}/events?event=block.applied`);
      source.addEventListener("block.applied", ({ data }) => told.push((JSON.parse(data as string) as { block: { height: number } }).block.height));
      await once(source as unknown as EventTarget, "open");
      for (const height of [start + 1, start + 2]) await apply(height);
      await eventually(() => (told.length === 2 ? true : undefined));
      expect(told).to.deep.equal([start + 1, start + 2]);
      source.close();

      const headers = { origin: page, "last-event-id": `${start + 1}-${at(start + 1).id}` };
      const stream = await request(`${url}/events?event=block.applied`, { headers });
      expect([stream.statusCode, stream.headers["access-control-allow-origin"], stream.headers["cache-control"]]).to.deep.equal([200, "*", "no-cache, no-transform"]);
      let text = "";
      const reading = (async (): Promise<void> => {
        for await (const chunk of stream.body as AsyncIterable<Buffer>) text += chunk.toString();
      })();
      await eventually(() => (text.includes(`\nid: ${start + 2}-`) ? true : undefined));
      expect([...text.matchAll(/^event: (\S+)$/gm)].map(([, event]) => event)).to.deep.equal(["block.applied"]);

      const preflight = await request(`${url}/events`, { method: "OPTIONS", headers: { origin: page, "access-control-request-method": "GET", "access-control-request-headers": "last-event-id,cache-control" } });
      expect([preflight.statusCode, preflight.headers["access-control-allow-origin"], preflight.headers["access-control-allow-headers"]]).to.deep.equal([204, "*", "last-event-id,cache-control"]);
      expect(await preflight.body.text()).to.equal("");

      await plugin.stop();
      await reading;
    });
  }

  it("are for pages of the origins that `cors` lists, and no others", async () => {
    const url = await open("listen", { cors: { origins: [page] } });
    for (const [origin, allowed] of [[page, page], ["https://other.example", undefined]] as const) {
      const ending = new AbortController();
      const { headers, body } = await request(`${url}/events`, { headers: { origin }, signal: ending.signal });
      expect([headers["access-control-allow-origin"], String(headers.vary).includes("Origin")]).to.deep.equal([allowed, true]);
      body.on("error", () => undefined);
      ending.abort();
      const preflight = await request(`${url}/events`, { method: "OPTIONS", headers: { origin, "access-control-request-method": "GET" } });
      expect(preflight.headers["access-control-allow-origin"]).to.equal(allowed);
      await preflight.body.dump();
    }
  });

  it("are cut off where their client is too slow, which goes on from its cursor without gap", async () => {
    const later = globalThis.setTimeout;
    // What is too slow after half a minute is so after a moment here.
    const sooner = (callback: () => void, milliseconds?: number): NodeJS.Timeout => later(callback, milliseconds === defaultPatience ? 100 : milliseconds);
    mock.method(globalThis, "setTimeout", sooner);
    const url = await open("listen");
    const [count, filling] = [400, "x".repeat(50_000)];
    for (let number = 1; number <= count; number++) events.emit("peer.added", { number, filling });
    await plugin.settled();
    const ended = new Set<Socket>();
    server.on("connection", (socket) => socket.once("close", () => ended.add(socket)));

    const numbers: number[] = [];
    let cursor = "genesis";
    /** Reads until the connection ends, or all is there. Whoever is slow reads nothing between the first event and the end that the node makes. */
    const read = async (isSlow: boolean): Promise<void> => {
      const asked = requestOf(`${url}/events?event=peer.added&after=${cursor}`, { agent: false }).end();
      const [response] = (await once(asked, "response")) as [IncomingMessage];
      let rest = "";
      try {
        for await (const chunk of response.setEncoding("utf8") as AsyncIterable<string>) {
          const messages = (rest + chunk).split("\n\n");
          rest = messages.pop() ?? "";
          for (const message of messages) {
            const [, number] = /"number":(\d+)/.exec(message) ?? [];
            if (number !== undefined) numbers.push(Number(number));
            cursor = /^id: (.+)$/m.exec(message)?.[1] ?? cursor;
          }
          if (isSlow && numbers.length > 0) await eventually(() => (ended.size > 0 ? true : undefined));
          if (numbers.length >= count) return;
        }
      } catch (error) {
        expect((error as { code?: string }).code).to.be.oneOf(["ECONNRESET", "ERR_STREAM_PREMATURE_CLOSE"]);
      }
    };
    await read(true);
    expect(numbers.length).to.be.within(1, count - 1);
    mock.reset();
    await read(false);
    expect(numbers).to.deep.equal(Array.from({ length: count }, (_unused, index) => index + 1));
  });
});
