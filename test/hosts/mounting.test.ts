import { createServer, type IncomingMessage, request as requestOf, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Router } from "@koa/router";
import { expect } from "chai";
import { EventEmitter } from "eventemitter3";
import express from "express";
import Fastify from "fastify";
import Koa from "koa";
import koaBodyParser from "koa-bodyparser";
import { type ApiPlugin, createApiPlugin } from "portico";
import { loadChain } from "../data/read.js";
import { hasNginx, startNginx } from "../fixtures/nginx.js";
import { createMemoryAdapter } from "../memory-adapter/adapter.js";
import { silentLogger } from "../silent.js";
import { temporaryFolder } from "../fixtures/folder.js";

const { network, blocks } = loadChain("core3-testnet-a");
const adapter = createMemoryAdapter(network);
for (const block of blocks.slice(0, 60)) adapter.apply(block);

/** Ways of mounting that a host may find more natural than the examples'. */
describe("mounting into a host's server", () => {
  const ending: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const end of ending.splice(0).reverse()) await end();
  });

  const plugin = async (basePath = "/api"): Promise<ApiPlugin> => {
    const created = createApiPlugin({ network, events: new EventEmitter(), chain: adapter, logger: silentLogger, options: { basePath } });
    await created.start();
    ending.push(() => created.stop());
    return created;
  };
  const listening = async (given: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<string> => {
    const server = createServer((request, response) => void given(request, response));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    ending.push(async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const heightAt = async (url: string): Promise<number> =>
    ((await (await fetch(`${url}/blockchain`)).json()) as { data: { block: { height: number } } }).data.block.height;
  /** How many delegates a search finds. `headers` may omit the content type. */
  const found = async (url: string, body: string, headers: Record<string, string>): Promise<unknown> => {
    const reply = await fetch(`${url}/delegates/search`, { method: "POST", body: Buffer.from(body), headers });
    return ((await reply.json()) as { meta?: { totalCount: number } }).meta?.totalCount;
  };
  const search = '{"usernames":["genesis_1","genesis_2"]}';
  const json = { "Content-Type": "application/json" };

  it("counts each client behind a proxy that asks over a unix socket", async function () {
    if (!hasNginx()) return this.skip();
    const created = createApiPlugin({ network, events: new EventEmitter(), chain: adapter, logger: silentLogger, options: { trustedProxies: ["127.0.0.1"], rateLimit: { perMinute: 10, exempt: [] } } });
    await created.start();
    const folder = temporaryFolder();
    const server = createServer(created.callback()).listen(join(folder, "node.sock"));
    await once(server, "listening");
    const nginx = await startNginx(`server { listen 80; location / { proxy_pass http://unix:${folder}/node.sock; proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; } }`);
    ending.push(async () => {
      await nginx.end();
      await created.stop();
      server.close();
    });
    const remaining = async (localAddress: string): Promise<number> => {
      const [reply] = (await once(requestOf(`${nginx.origin}/api/blockchain`, { localAddress }).end(), "response")) as [IncomingMessage];
      return Number(reply.resume().headers["x-ratelimit-remaining"]);
    };
    expect([await remaining("127.0.0.2"), await remaining("127.0.0.2"), await remaining("127.0.0.3")]).to.deep.equal([9, 8, 9]);
  });

  describe("in Koa", () => {
    it("works under a prefix, next to the host's own routes under the same prefix", async () => {
      const app = new Koa();
      const own = new Router({ prefix: "/chain" });
      own.get("/status", (ctx) => (ctx.body = "the host's"));
      app.use(own.routes());
      (await plugin("/chain/api")).mount(app);
      app.use((ctx) => ((ctx.status = 404), (ctx.body = `the host has no ${ctx.path}`)));
      const url = await listening(app.callback());
      expect(await heightAt(`${url}/chain/api`)).to.equal(60);
      const list = (await (await fetch(`${url}/chain/api/delegates?limit=1`)).json()) as { meta: { next: string } };
      expect(await (await fetch(`${url}${list.meta.next}`)).json()).to.have.nested.property("data[0].username");
      expect(await (await fetch(`${url}/chain/status`)).text()).to.equal("the host's");
      expect(await (await fetch(`${url}/api/blockchain`)).text()).to.equal("the host has no /api/blockchain");
    });

    it("works as a router among others, and twice in one app", async () => {
      const app = new Koa();
      app.use((await plugin("/one")).router.routes()).use((await plugin("/two")).router.routes());
      const url = await listening(app.callback());
      expect([await heightAt(`${url}/one`), await heightAt(`${url}/two`)]).to.deep.equal([60, 60]);
    });

    it("works after a parser that has read the body or, for its content type, left it", async () => {
      const app = new Koa();
      app.use(koaBodyParser());
      (await plugin()).mount(app);
      const url = await listening(app.callback());
      for (const headers of [json, {}, { "Content-Type": "application/octet-stream" }] as Record<string, string>[]) {
        expect(await found(`${url}/api`, search, headers), JSON.stringify(headers)).to.equal(2);
      }
    });
  });

  describe("in Express", () => {
    it("works at a path that Express strips", async () => {
      const app = express();
      app.use("/api", (await plugin()).callback());
      app.use("/chain", (await plugin("/chain/api")).callback());
      app.get("/chain/status", (_request, response) => void response.send("the host's"));
      const url = await listening(app);
      expect(await heightAt(`${url}/api`)).to.equal(60);
      expect(await found(`${url}/chain/api`, search, json)).to.equal(2);
      expect(await (await fetch(`${url}/chain/status`)).text()).to.equal("the host's");
      expect(await (await fetch(`${url}/nowhere`)).text()).to.include("Cannot GET /nowhere");
    });

    it("works after a parser that has read the body, or set an empty one without reading", async () => {
      const app = express();
      app.use(express.json(), express.urlencoded({ extended: true }));
      // As parsers of an older generation do when they read nothing.
      app.use((request, _response, next) => ((request.body ??= {}), next()));
      app.use((await plugin()).callback());
      const url = await listening(app);
      for (const headers of [json, {}, { "Content-Type": "text/plain" }] as Record<string, string>[]) {
        expect(await found(`${url}/api`, search, headers), JSON.stringify(headers)).to.equal(2);
      }
    });
  });

  describe("in Fastify", () => {
    it("works in `onRequest` hooks, at two prefixes", async () => {
      const app = Fastify();
      const one = (await plugin("/one")).callback();
      const two = (await plugin("/two")).callback();
      app.addHook("onRequest", (request, reply, next) => one(request.raw, reply.raw, next));
      app.addHook("onRequest", (request, reply, next) => two(request.raw, reply.raw, next));
      app.get("/one-more", () => "the host's");
      await app.listen({ port: 0, host: "127.0.0.1" });
      ending.push(() => app.close());
      const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
      expect([await heightAt(`${url}/one`), await found(`${url}/two`, search, {})]).to.deep.equal([60, 2]);
      expect(await (await fetch(`${url}/one-more`)).text()).to.equal("the host's");
    });
  });

  describe("in node:http", () => {
    it("passes on requests outside the interface unchanged", async () => {
      const callback = (await plugin()).callback();
      const seen: (string | undefined)[] = [];
      const url = await listening((request, response) =>
        callback(request, response, () => {
          seen.push(request.url);
          response.end("the host's");
        }),
      );
      const absolute = requestOf(`${url}/`, { path: "http://node.invalid/elsewhere?x=1" }).end();
      const [reply] = (await once(absolute, "response")) as [IncomingMessage];
      reply.resume();
      await once(reply, "end");
      expect(seen).to.deep.equal(["http://node.invalid/elsewhere?x=1"]);
    });
  });
});
