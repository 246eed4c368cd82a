import { once } from "node:events";
import { readFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { basename, dirname, join } from "node:path";
import { expect } from "chai";
import { EventSource } from "eventsource";
import { temporaryFolder } from "../fixtures/folder.js";
import { runExample, type StartedProcess } from "../fixtures/process.js";

interface Host {
  name: string;
  /** Its program. Its data folder has the name of the one that this is in. */
  file: string;
  /** Its own page, how it answers an unknown path, and whether it echoes bodies. */
  own?: { page: string; nothing: RegExp; echoes?: boolean };
  /** Whether it stops cleanly on Ctrl-C. */
  stops?: boolean;
}

const hosts: Host[] = [
  {
    name: "Koa",
    file: "examples/koa-host/main.ts",
    own: { page: "The node's own pages", nothing: /The node's own pages/ },
    stops: true,
  },
  {
    name: "Express 5",
    file: "examples/express-host/main.ts",
    own: { page: "The node's own pages", nothing: /Cannot GET \/nowhere/, echoes: true },
    stops: true,
  },
  {
    name: "Fastify 5",
    file: "examples/fastify-host/main.ts",
    own: { page: "The node's own pages", nothing: /Route GET:\/nowhere not found/, echoes: true },
    stops: true,
  },
  {
    name: "node:http",
    file: "examples/http-host/main.ts",
    own: { page: "The node's own pages", nothing: /The node's own pages/ },
    stops: true,
  },
  {
    name: "CommonJS",
    file: "examples/commonjs-host/main.cjs",
    stops: true,
  },
];

const json = { "Content-Type": "application/json" };

for (const { name, file, own, stops = false } of hosts) {
  describe(`a host with ${name}`, () => {
    let folder: string;
    let host: StartedProcess;
    let url: string;

    before(async () => {
      folder = temporaryFolder();
      host = runExample(file, {}, [], folder);
      const port = /port: (\d+)/.exec(await host.line(/The node listens on/))?.[1];
      url = `http://127.0.0.1:${port}`;
    });

    const text = async (path: string, init?: RequestInit): Promise<{ status: number; body: string }> => {
      const response = await fetch(`${url}${path}`, init);
      return { status: response.status, body: await response.text() };
    };
    const total = async (body: string, headers: Record<string, string> = {}): Promise<number> => {
      const found = await text("/api/wallets/search?limit=1", { method: "POST", body: Buffer.from(body), headers });
      return (JSON.parse(found.body) as { meta: { totalCount: number } }).meta.totalCount;
    };

    it("answers under /api, in both generations", async () => {
      expect((await text("/api/node/status")).body).to.include('"now":1,');
      expect((await text("/api/v1/loader/status")).body).to.include('"now":1,');
      expect(await text("/api/nowhere")).to.deep.equal({
        status: 404,
        body: '{"statusCode":404,"error":"Not Found","message":"Not Found","code":"NOT_FOUND","docs":"/api/docs"}',
      });
    });

    it("reads the body of a search exactly, whatever its content type", async () => {
      const [, balance = ""] = /"balance":(\d+)/.exec((await text("/api/wallets/top?limit=1")).body) ?? [];
      const next = (BigInt(balance) + 1n).toString();
      for (const headers of [json, { "Content-Type": "text/plain" }, {}] as Record<string, string>[]) {
        expect(await total(`{"balance":{"from":${balance}}}`, headers), JSON.stringify(headers)).to.equal(1);
        expect(await total(`{"balance":{"from":${next}}}`, headers), JSON.stringify(headers)).to.equal(0);
      }
    });

    it("requires the token for webhooks", async () => {
      expect((await text("/api/webhooks")).status).to.equal(401);
      const Authorization = readFileSync(join(folder, "data", basename(dirname(file)), "webhook-token"), "utf8").trim();
      const body = JSON.stringify({ event: "block.applied", target: "https://receiver.invalid/" });
      const created = await text("/api/webhooks", { method: "POST", body, headers: { ...json, Authorization } });
      expect(created.status).to.equal(201);
      expect((await text("/api/webhooks", { headers: { Authorization } })).body).to.include('"totalCount":1');
    });

    it("streams events to a page of another origin, also from a cursor, and whole blocks", async () => {
      const source = new EventSource(`${url}/api/events?after=genesis&event=block.applied`);
      const message = await new Promise<MessageEvent>((resolve) => source.addEventListener("block.applied", resolve, { once: true }));
      source.close();
      const { block, cursor } = JSON.parse(message.data as string) as { block: { height: number; id: string }; cursor: string };
      expect([block.height, message.lastEventId]).to.deep.equal([1, cursor]);

      const ending = new AbortController();
      const headers = { Origin: "https://wallet.example", Accept: "text/event-stream", "Last-Event-ID": cursor };
      const stream = await fetch(`${url}/api/events`, { headers, signal: ending.signal });
      expect([stream.status, stream.headers.get("content-type"), stream.headers.get("access-control-allow-origin")]).to.deep.equal([200, "text/event-stream; charset=utf-8", "*"]);
      const begun = (await stream.body?.getReader().read()) as { value: Uint8Array } | undefined;
      expect(Buffer.from(begun?.value ?? []).toString()).to.equal(`id: ${cursor}\n\n`);
      ending.abort();

      const preflight = await fetch(`${url}/api/events`, { method: "OPTIONS", headers: { Origin: "https://wallet.example", "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "last-event-id" } });
      expect([preflight.status, preflight.headers.get("access-control-allow-origin"), preflight.headers.get("access-control-allow-headers")]).to.deep.equal([204, "*", "last-event-id"]);
      expect(preflight.headers.get("access-control-allow-methods")).to.include("GET");

      expect((await text("/api/changes")).body.split("\n").map((line) => line.slice(0, 16))).to.deep.equal(['{"kind":"applied', ""]);
    });

    if (own !== undefined) {
      it("leaves paths outside /api to the host", async () => {
        expect((await text("/")).body).to.equal(own.page);
        expect((await text("/nowhere")).body).to.match(own.nothing);
        expect((await text("/apiary")).status).to.equal((await text("/nowhere")).status);
        if (own.echoes !== true) return;
        expect((await text("/echo", { method: "POST", body: '{"a":[1]}', headers: json })).body).to.equal('{"a":[1]}');
      });
    }

    if (stops) {
      it("ends by itself when it is stopped, and with it a stream that is open", async () => {
        // On a connection of its own: one that is kept alive ends some seconds later.
        const [stream] = (await once(get(`${url}/api/events`, { agent: false }), "response")) as [IncomingMessage];
        const chunks = stream.iterator();
        await chunks.next();
        host.kill("SIGINT");
        expect((await chunks.next()).done).to.equal(true);
        expect(await host.ended).to.equal(0);
      });
    }
  });
}
