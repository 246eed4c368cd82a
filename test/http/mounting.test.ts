import { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { expect } from "chai";
import Koa from "koa";
import { ask, parseRaw, sendRaw } from "./ask.js";
import { listenerOf, listening } from "./listening.js";
import { type Served, serveThings, withThings } from "./things.js";

describe("a host", () => {
  let served: Served;
  before(async () => {
    served = await serveThings();
  });
  after(() => served.stop());

  const same = async (port: number): Promise<void> => {
    for (const path of [
      "/api/things?limit=2",
      "/api/things?limit=2",
      "/api/things/nobody",
      "/api/nothing",
      "/api/failing",
      "/api/old/get?name=x",
      "/api/health",
      "/api/health",
    ]) {
      for (const headers of [{}, { "Accept-Encoding": "br", Origin: "https://a.example" }] as Record<string, string>[]) {
        const [own, mounted] = [await ask(served.port, path, { headers }), await ask(port, path, { headers })];
        expect([mounted.status, mounted.text], path).to.deep.equal([own.status, own.text]);
        const comparable = ({ headers }: typeof own) => ({
          ...headers,
          date: "",
          "x-request-id": "",
          "keep-alive": "",
          connection: "",
        });
        expect(comparable(mounted)).to.deep.equal(comparable(own));
        const tag = own.headers.etag;
        if (tag === undefined) continue;
        const again = { ...headers, "If-None-Match": tag, "If-Modified-Since": "Mon, 01 Jan 2024 00:00:00 GMT" };
        const [ownAgain, mountedAgain] = [await ask(served.port, path, { headers: again }), await ask(port, path, { headers: again })];
        expect([mountedAgain.status, ownAgain.status]).to.deep.equal([304, 304]);
        expect(comparable(mountedAgain)).to.deep.equal(comparable(ownAgain));
        expect(ownAgain.headers).to.not.have.property("content-type");
      }
    }
  };

  it("with a Koa app can use the router beside its own routes, and sees every reply", async () => {
    const app = new Koa();
    const seen: [number, number | undefined][] = [];
    app.use(async (ctx, next) => {
      await next();
      seen.push([ctx.status, ctx.length]);
      ctx.set("X-Host", "here");
    });
    app.use(served.edge.router.routes());
    app.use((ctx) => {
      ctx.body = `the host's ${ctx.path}`;
    });
    await listening(listenerOf(app), async (port) => {
      expect((await ask(port, "/elsewhere")).text).to.equal("the host's /elsewhere");
      expect((await ask(port, "/apiary")).text).to.equal("the host's /apiary");
      seen.length = 0;
      const { status, headers, bytes } = await ask(port, "/api/things");
      expect([status, headers["x-host"]]).to.deep.equal([200, "here"]);
      await ask(port, "/api/things");
      await ask(port, "/api/nothing");
      expect(seen).to.deep.equal([
        [200, bytes.length],
        [200, bytes.length],
        [404, 98],
      ]);
    });
  });

  it("with a Koa app can mount the interface in one call", async () => {
    const app = new Koa();
    served.edge.mount(app);
    await listening(listenerOf(app), same);
  });

  it("without a framework can listen with the callback", () =>
    listening(served.edge.callback(), async (port) => {
      await same(port);
      expect((await ask(port, "/elsewhere")).json).to.deep.equal({ statusCode: 404, error: "Not Found", message: "Not Found", code: "NOT_FOUND" });
    }));

  it("can call the listener without a connection, as some frameworks do in tests", () =>
    withThings({ rateLimit: false }, {}, async ({ edge }) => {
      const request = Object.assign(new IncomingMessage(null as unknown as Socket), { method: "GET", url: "/api/things" });
      const response = new ServerResponse(request);
      edge.callback()(request, response);
      await edge.drained();
      expect([response.statusCode, response.writableEnded]).to.deep.equal([200, true]);
    }));

  it("with another framework goes on to its own routes outside the interface", () => {
    const callback = served.edge.callback();
    return listening(
      (request, response) => callback(request, response, () => response.end("next")),
      async (port) => {
        expect((await ask(port, "/elsewhere")).text).to.equal("next");
        expect((await ask(port, "/api/both")).json).to.deep.equal({ generation: 2 });
      },
    );
  });

  it("can parse the body itself", () => {
    const callback = served.edge.callback();
    return listening(
      (request, response) => {
        request.resume().on("end", () => callback(Object.assign(request, { body: { free: [1] } }), response));
      },
      async (port) => {
        expect((await ask(port, "/api/mirror", { method: "POST", body: "{}" })).text).to.equal('{"data":[1]}');
      },
    );
  });

  it("can send a reply of its own meanwhile, which is sent to its end", () =>
    withThings({}, { openState: () => Promise.resolve({ things: [], tip: { id: "t", height: 1 } }), tipId: undefined }, async ({ edge }) => {
      const callback = edge.callback();
      const size = 20_000_000;
      await listening(
        (request, response) => {
          callback(request, response);
          response.end(Buffer.alloc(size));
        },
        async (port) => {
          expect((await ask(port, "/api/things")).bytes.length).to.equal(size);
        },
      );
      await edge.drained();
    }));

  it("can have two interfaces in one app", () =>
    withThings({ basePath: "/other" }, { things: [] }, async ({ edge }) => {
      const app = new Koa();
      served.edge.mount(app);
      edge.mount(app);
      await listening(listenerOf(app), async (port) => {
        expect((await ask(port, "/api/things")).text).to.include('"totalCount":250');
        expect((await ask(port, "/other/things")).text).to.include('"totalCount":0');
      });
    }));

  it("gets an answer to absolute and malformed request targets", async () => {
    served.errors.length = 0;
    const raw = async (target: string) =>
      parseRaw(await sendRaw(served.port, `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`));
    expect((await raw("http://host.example/api/both")).status).to.equal(200);
    for (const target of ["http://[::1", "http://a:b/api/both", "*", "http://", "x", "/api/both#part", "/api\\both"]) {
      const { status, body } = await raw(target);
      expect(status, target).to.be.oneOf([200, 400, 404]);
      expect(() => void JSON.parse(body)).not.to.throw();
    }
    expect(served.errors).to.deep.equal([]);
  });
});

describe("stopping", () => {
  it("refuses new requests and waits for open ones", async () => {
    let stopping = false;
    let release: (() => void) | undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    await withThings(
      {},
      {
        isStopping: () => stopping,
        openState: () => gate.then(() => ({ things: [], tip: { id: "t", height: 1 } })),
        tipId: undefined,
      },
      async ({ port, edge }) => {
        await edge.drained();
        // One is answered without Koa; the other, with an uncommon Accept-Encoding, by Koa.
        const open = [ask(port, "/api/things/all"), ask(port, "/api/things/all", { headers: { "accept-encoding": "gzip;q=0.3" } })];
        while (edge.open < open.length) {
          await new Promise((resolve) => setImmediate(resolve));
        }
        stopping = true;
        let drained = false;
        const done = edge.drained().then(() => (drained = true));
        for (const path of ["/api/things/all", "/api/nothing"]) {
          const { status, json, headers } = await ask(port, path);
          expect([status, headers.connection, headers["retry-after"]]).to.deep.equal([503, "close", "5"]);
          expect(json).to.deep.equal({ statusCode: 503, error: "Service Unavailable", message: "The node is stopping.", code: "NOT_READY" });
        }
        expect([edge.open, drained]).to.deep.equal([2, false]);
        release?.();
        for (const { status, headers } of await Promise.all(open)) expect([status, headers.connection]).to.deep.equal([200, "close"]);
        await done;
        expect(edge.open).to.equal(0);
      },
    );
  });

  it("also refuses requests whose replies are cached", async () => {
    let stopping = false;
    await withThings({}, { isStopping: () => stopping }, async ({ port }) => {
      await ask(port, "/api/things");
      await ask(port, "/api/things");
      stopping = true;
      expect((await ask(port, "/api/things")).status).to.equal(503);
    });
  });
});

describe("the health route", () => {
  it("answers 200 while the node is well and 503 otherwise, under every version", async () => {
    let health: { status: "ok" | "starting" | "failing" | "stopped"; height: number; problem?: string } = {
      status: "ok",
      height: 12,
    };
    await withThings({}, { health: () => health }, async ({ port }) => {
      for (const path of ["/api/health", "/api/v1/health", "/api/v2/health"]) {
        health = { status: "ok", height: 12 };
        const well = await ask(port, path);
        expect([well.status, well.json]).to.deep.equal([200, health]);
        for (const status of ["starting", "failing", "stopped"] as const) {
          health = { status, height: 13, problem: "block 14 does not chain" };
          const { status: code, json } = await ask(port, path);
          expect([code, json]).to.deep.equal([503, health]);
        }
      }
    });
  });
});
