import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";
import { once } from "node:events";
import { IncomingMessage, type RequestListener, ServerResponse } from "node:http";
import { connect as connect2, createServer as createServer2 } from "node:http2";
import { type AddressInfo, connect, type Socket } from "node:net";
import { expect } from "chai";
import Koa from "koa";
import { createBatches } from "../../src/http/batches.js";
import type { Edge } from "../../src/http/edge.js";
import { ask } from "./ask.js";
import { listenerOf, listening } from "./listening.js";
import { manyThings, type ThingState, withThings } from "./things.js";

/** Different requests, so that no reply is kept for another. */
const different = (count: number): string[] => Array.from({ length: count }, (_, index) => `/api/things?limit=1&offset=${index}`);

/** A request without a connection, so that others arrive within the same turn of the event loop. */
const arrivalOf = (url: string): [IncomingMessage, ServerResponse] => {
  const request = Object.assign(new IncomingMessage(null as unknown as Socket), { method: "GET", url });
  return [request, new ServerResponse(request)];
};

const hosts: Record<string, (edge: Edge<ThingState>) => RequestListener> = {
  "a listener of its own": (edge) => edge.callback(),
  "a host's Koa app": (edge) => {
    const app = new Koa();
    edge.mount(app);
    return listenerOf(app);
  },
};

const thingsState = (): ThingState => ({ things: manyThings(250), tip: { id: "tip1", height: 77 } });

describe("requests that arrive together", () => {
  it("are each answered with their own status, and hold nothing open", () =>
    withThings({}, {}, async ({ port, edge, states, errors }) => {
      const kinds = [["/api/things?limit=1", 200], ["/api/things?limit=0", 400], ["/api/things/nobody", 404], ["/api/nothing", 404], ["/api/failing", 500]] as const;
      const asked = Array.from({ length: 20 }, () => kinds).flat();
      const answers = await Promise.all(asked.map(([path]) => ask(port, path)));
      expect(answers.map(({ status }) => status)).to.deep.equal(asked.map(([, status]) => status));
      await edge.drained();
      expect([edge.open, states.open]).to.deep.equal([0, 0]);
      expect(errors).to.have.length(20);
    }));

  it("are answered in batches: several before other work, and not more than 32", async () => {
    let opened = 0;
    const openState = (): ThingState => {
      opened += 1;
      return thingsState();
    };
    await withThings({ rateLimit: false }, { openState }, async ({ edge }) => {
      const handle = edge.callback();
      different(70).forEach((url) => handle(...arrivalOf(url)));
      expect(edge.open).to.equal(70);
      const batches: number[] = [];
      while (opened < 70) {
        const before = opened;
        await new Promise((resolve) => setImmediate(resolve));
        if (opened > before) batches.push(opened - before);
      }
      expect(batches).to.deep.equal([32, 32, 6]);
    });
  });

  for (const [host, listenerBy] of Object.entries(hosts)) {
    it(`each keep the asynchronous context in which they arrived: ${host}`, async () => {
      const visitor = new AsyncLocalStorage<string>();
      const seen: unknown[] = [];
      const openState = (): ThingState => {
        seen.push(visitor.getStore());
        return thingsState();
      };
      await withThings({ rateLimit: false }, { openState }, async ({ edge }) => {
        const handle = listenerBy(edge);
        const visitors = different(10);
        visitors.forEach((url) => visitor.run(url, () => handle(...arrivalOf(url))));
        while (seen.length < visitors.length) await new Promise((resolve) => setImmediate(resolve));
        expect(seen).to.deep.equal(visitors);
      });
    });

    it(`are answered although the node begins to stop before their batch, those that fail too: ${host}`, async () => {
      for (const [path, status] of [["/api/things", 200], ["/api/things?limit=0", 400]] as const) {
        let stopping = false;
        await withThings({}, { isStopping: () => stopping }, async ({ edge }) => {
          const handle = listenerBy(edge);
          let drained: Promise<void> | undefined;
          await listening(
            (request, response) => {
              handle(request, response);
              stopping = true;
              drained = edge.drained();
            },
            async (port) => {
              const answer = await ask(port, path);
              expect([answer.status, answer.headers.connection]).to.deep.equal([status, "close"]);
              await drained;
              expect(edge.open).to.equal(0);
            },
          );
        });
      }
    });

    it(`hold nothing open if their clients leave before their batch: ${host}`, async () => {
      for (const path of ["/api/things", "/api/things/later", "/api/things?limit=0"]) {
        await withThings({}, {}, async ({ edge, states }) => {
          const handle = listenerBy(edge);
          const arrived = new Promise<void>((resolve) => {
            void listening(
              (request, response) => {
                handle(request, response);
                request.socket.destroy();
                resolve();
              },
              async (port) => {
                const socket = connect(port, "127.0.0.1").on("error", () => undefined);
                socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
                await once(socket, "close");
              },
            );
          });
          await arrived;
          await edge.drained();
          expect([edge.open, states.open]).to.deep.equal([0, 0]);
        });
      }
    });
  }

  it("hold nothing open if their clients leave before their batch: HTTP/2", async () => {
    for (const path of ["/api/things", "/api/things/later", "/api/things?limit=0"]) {
      await withThings({}, {}, async ({ edge, states }) => {
        const handle = edge.callback() as unknown as Parameters<typeof createServer2>[1];
        let arrived = 0;
        const server = createServer2((request, response) => {
          handle?.(request, response);
          request.stream.destroy();
          arrived += 1;
        }).listen(0, "127.0.0.1");
        await once(server, "listening");
        const session = connect2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
        const stream = session.request({ ":path": path }).on("error", () => undefined);
        await once(stream.resume(), "close");
        await edge.drained();
        expect([arrived, edge.open, states.open]).to.deep.equal([1, 0, 0]);
        session.destroy();
        server.close();
      });
    }
  });

  it("are open until a host's own middleware is done with them", () =>
    withThings({}, {}, async ({ edge }) => {
      const app = new Koa();
      const answered: number[] = [];
      app.use(async (_ctx, next) => {
        await next();
        answered.push(edge.open);
        await new Promise((resolve) => setImmediate(resolve));
        answered.push(edge.open);
      });
      edge.mount(app);
      await listening(listenerOf(app), async (port) => {
        await ask(port, "/api/things");
        await edge.drained();
        expect([...answered, edge.open]).to.deep.equal([1, 1, 0]);
      });
    }));

  it("count once each while their addresses are counted", () =>
    withThings({ rateLimit: { perMinute: 5, exempt: [] } }, {}, async ({ edge }) => {
      await listening(
        (request, response) => {
          edge.callback()(request, response);
          expect(edge.open).to.equal(1);
        },
        async (port) => {
          for (const status of [200, 200, 200, 200, 200, 429]) {
            expect((await ask(port, "/api/things")).status).to.equal(status);
            await edge.drained();
            expect(edge.open).to.equal(0);
          }
        },
      );
    }));

  it("are answered by URLs as they were when they arrived", () =>
    withThings({}, {}, async ({ edge }) => {
      const handle = edge.callback();
      const mounted: RequestListener = (request, response) => {
        const { url } = request;
        request.url = url?.slice("/prefix".length);
        handle(request, response);
        request.url = url;
      };
      await listening(mounted, async (port) => {
        const names = ["thing003", "thing007"];
        const answers = await Promise.all(names.map((name) => ask(port, `/prefix/api/things/${name}`)));
        expect(answers.map(({ json }) => (json as { data: { name: string } }).data.name)).to.deep.equal(names);
      });
    }));

  it("fail as requests do, not as the process, if something about them cannot be read", () =>
    withThings({}, {}, async ({ edge, errors }) => {
      const [request, response] = arrivalOf("/api/things");
      edge.callback()(request, response);
      while (!response.writableEnded) await new Promise((resolve) => setImmediate(resolve));
      expect([response.statusCode, response.getHeader("content-type")]).to.deep.equal([500, "application/json; charset=utf-8"]);
      expect(errors).to.have.length(1);
    }));
});

describe("batches", () => {
  it("lose nothing to an item that fails, and report it", async () => {
    class Item extends AsyncResource {
      readonly done: string[] = [];
      failsAt: string | undefined;
    }
    const stage = (name: string) => (item: Item) => {
      if (item.failsAt === name) throw new Error(`failed at ${name}`);
      item.done.push(name);
    };
    const others = process.listeners("uncaughtException");
    const reported: string[] = [];
    process.removeAllListeners("uncaughtException").on("uncaughtException", (error) => void reported.push(error.message));
    try {
      const items = ["first", undefined, "second"].map((failsAt) => Object.assign(new Item("Item"), { failsAt }));
      items.forEach(createBatches<Item>([stage("first"), stage("second")]));
      while (reported.length < 2) await new Promise((resolve) => setImmediate(resolve));
      expect(items.map(({ done }) => done)).to.deep.equal([["second"], ["first", "second"], ["first"]]);
      expect(reported).to.deep.equal(["failed at first", "failed at second"]);
    } finally {
      process.removeAllListeners("uncaughtException");
      others.forEach((listener) => process.on("uncaughtException", listener));
    }
  });
});
