import { AsyncLocalStorage } from "node:async_hooks";
import { once } from "node:events";
import { IncomingMessage, ServerResponse } from "node:http";
import { connect as connect2, createServer as createServer2 } from "node:http2";
import { type AddressInfo, connect, type Socket } from "node:net";
import { PassThrough } from "node:stream";
import { expect } from "chai";
import Koa from "koa";
import { createBatches } from "../../src/http/pipeline/handler.js";
import { ask, parseRaw } from "./ask.js";
import { hosts, listenerOf, listening } from "./listening.js";
import { manyThings, type ThingState, withThings } from "./things.js";

/** Different requests, so that no reply is kept for another. */
const different = (count: number): string[] => Array.from({ length: count }, (_, index) => `/api/things?limit=1&offset=${index}`);

/** A request without a connection, so that others arrive within the same turn of the event loop. */
const arrivalOf = (url: string): [IncomingMessage, ServerResponse] => {
  const request = Object.assign(new IncomingMessage(null as unknown as Socket), { method: "GET", url });
  return [request, new ServerResponse(request)];
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

  it("are answered within one turn of the event loop, before anything else is received", async () => {
    await withThings({ rateLimit: false }, {}, async ({ edge, states }) => {
      const handle = edge.callback();
      different(70).forEach((url) => handle(...arrivalOf(url)));
      expect([edge.open, states.opened]).to.deep.equal([70, 0]);
      await new Promise((resolve) => setImmediate(resolve));
      expect([edge.open, states.opened]).to.deep.equal([0, 70]);
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
          await listening(
            (request, response) => {
              handle(request, response);
              request.socket.destroy();
            },
            async (port) => {
              const socket = connect(port, "127.0.0.1").on("error", () => undefined).resume();
              socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
              await once(socket, "close");
            },
          );
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

  it("fail as requests do, not as the process, if something about them cannot be read", () =>
    withThings({}, {}, async ({ edge, errors }) => {
      const [request, response] = arrivalOf("/api/things");
      const sent = new PassThrough();
      response.assignSocket(sent as unknown as Socket);
      edge.callback()(request, response);
      while (!response.writableEnded) await new Promise((resolve) => setImmediate(resolve));
      const { status, head } = parseRaw(String(sent.read()));
      expect(status).to.equal(500);
      expect(head).to.match(/^content-type: application\/json; charset=utf-8$/im);
      expect(errors).to.have.length(1);
    }));
});

interface Item {
  place: number;
  /** The stage that the item has to wait at. */
  waitsAt: string | undefined;
}

/** Adds items of which some have to wait, and returns what is done with them: within one turn of the event loop, and after it. */
const doneWith = async (waiting: readonly (string | undefined)[]): Promise<[atOnce: string[], later: string[]]> => {
  const done: string[] = [];
  const stage = (name: string) => ({ place, waitsAt }: Item): Promise<void> | undefined => {
    done.push(`${name} ${place}`);
    return waitsAt === name ? new Promise((resolve) => setImmediate(resolve)) : undefined;
  };
  const add = createBatches<Item>([stage("plan"), stage("ask"), stage("send")]);
  waiting.forEach((waitsAt, place) => add({ place, waitsAt }));
  expect(done).to.deep.equal([]);
  await new Promise((resolve) => setImmediate(resolve));
  const atOnce = done.splice(0);
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  return [atOnce, done];
};

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index);

describe("batches", () => {
  it("are of up to 32 items, each stage for all of them before the next", async () => {
    const sizes: [number, number][] = [[0, 32], [32, 64], [64, 70]];
    const expected = sizes.flatMap(([from, to]) => ["plan", "ask", "send"].flatMap((name) => range(from, to).map((index) => `${name} ${index}`)));
    expect(await doneWith(Array.from({ length: 70 }, () => undefined))).to.deep.equal([expected, []]);
  });

  it("go on without an item that has to wait, which then goes on alone", async () => {
    const [atOnce, later] = await doneWith(["plan", undefined, "ask"]);
    expect(atOnce).to.deep.equal(["plan 0", "plan 1", "plan 2", "ask 1", "ask 2", "send 1"]);
    expect(later).to.deep.equal(["ask 0", "send 0", "send 2"]);
  });

  it("follow one another, whatever the size of the last", async () => {
    let done = 0;
    const add = createBatches<number>([() => void done++]);
    for (const count of [32, 33, 1, 64]) {
      done = 0;
      range(0, count).forEach(add);
      await new Promise((resolve) => setImmediate(resolve));
      expect(done).to.equal(count);
    }
  });
});
