import { once } from "node:events";
import type { RequestListener } from "node:http";
import { connect, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import Koa from "koa";
import { ask, sendRaw } from "./ask.js";
import { listenerOf, listening } from "./listening.js";
import { manyThings, type Served, serveThings, withThings } from "./things.js";

/** Different requests, so that no reply is kept for another. */
const requests = (count: number, from = 0): string =>
  Array.from({ length: count }, (_, index) => `GET /api/things?limit=1&offset=${from + index} HTTP/1.1\r\nHost: a\r\n\r\n`).join("");

/** The names in replies of one thing each. */
const namesIn = (text: string): string[] => [...text.matchAll(/"name":"(\w+)"/g)].map((match) => match[1] ?? "");
const names = (count: number): string[] => manyThings(count).map(({ name }) => name);

/** Reads until a text has come so often. */
const until = (socket: Socket, text: string, times: number): Promise<string> =>
  new Promise((resolve) => {
    const parts: string[] = [];
    let [unsearched, found] = ["", 0];
    const onData = (chunk: Buffer): void => {
      const part = chunk.toString("latin1");
      parts.push(part);
      const pieces = (unsearched + part).split(text);
      found += pieces.length - 1;
      unsearched = pieces.at(-1)?.slice(1 - text.length) ?? "";
      if (found < times) return;
      socket.off("data", onData).pause();
      resolve(parts.join(""));
    };
    socket.on("data", onData).resume();
  });

/** Notes how much a figure grows within one turn of the event loop, at the most. */
const watchTurns = (figure: () => number) => {
  let [last, most, watching] = [figure(), 0, true];
  const look = (): void => {
    most = Math.max(most, figure() - last);
    last = figure();
    if (watching) setImmediate(look).unref();
  };
  setImmediate(look).unref();
  return () => {
    watching = false;
    return most;
  };
};

const manyTurns = async (): Promise<void> => {
  for (let turn = 0; turn < 500; turn++) await nextTurn();
};

describe("requests that do not wait for the replies to those before them", () => {
  const count = 200;

  const keepTurns = async (port: number, served: Served): Promise<void> => {
    const socket = connect(port, "127.0.0.1");
    const most = watchTurns(() => served.states.opened);
    socket.write(requests(count));
    const text = await until(socket, '"name"', count);
    expect(namesIn(text)).to.deep.equal(names(count));
    // One that did not have to wait may be answered in the same turn.
    expect(most()).to.be.at.most(2);
    socket.destroy();
  };

  it("are answered one in a turn of the event loop, in order", () => withThings({ cacheSize: 0 }, {}, (served) => keepTurns(served.port, served)));

  it("are so, too, in a host's Koa app", () =>
    withThings({ cacheSize: 0 }, {}, async (served) => {
      const app = new Koa();
      served.edge.mount(app);
      await listening(listenerOf(app), (port) => keepTurns(port, served));
    }));

  it("are so if they are counted, and refused when they are too many", () =>
    withThings({ cacheSize: 0, rateLimit: { perMinute: 10, exempt: [] } }, {}, async (served) => {
      const socket = connect(served.port, "127.0.0.1");
      socket.write(requests(count));
      const text = await until(socket, "HTTP/1.1 429", count - 10);
      expect(namesIn(text)).to.deep.equal(names(10));
      expect(served.states.opened).to.equal(10);
      socket.destroy();
    }));

  it("are all answered to a client that says that it will send no more", () =>
    withThings({}, {}, async ({ port }) => {
      expect(namesIn(await sendRaw(port, requests(count)))).to.deep.equal(names(count));
    }));

  it("are so, too, when that comes before the reply is ready", async () => {
    let isOver: (() => void) | undefined;
    const over = new Promise<void>((resolve) => (isOver = resolve));
    const state = { things: manyThings(3), tip: { id: "tip1", height: 77 } };
    const openState = () => over.then(() => state);
    await withThings({ cacheSize: 0 }, { openState }, async ({ port, server }) => {
      server.on("connection", (socket: Socket) => socket.on("end", () => isOver?.()));
      expect(namesIn(await sendRaw(port, requests(1)))).to.deep.equal(names(1));
    });
  });

  it("with bodies are read, each in its turn", () =>
    withThings({}, {}, async ({ port }) => {
      const search = (name: string): string => `POST /api/things/search HTTP/1.1\r\nContent-Length: ${name.length + 11}\r\n\r\n{"name":"${name}"}`;
      const socket = connect(port, "127.0.0.1");
      const text = requests(20) + names(40).slice(20).map(search).join("");
      // The last body comes in two parts, the second one once all before it are answered.
      socket.write(text.slice(0, -5));
      let answered = await until(socket, "\"name\"", 39);
      socket.write(text.slice(-5));
      answered += await until(socket, '"name"', 1);
      expect(namesIn(answered)).to.deep.equal(names(40));
      socket.destroy();
    }));

  it("are not read further, and no reply is computed in advance, as long as the client does not read", () =>
    withThings({ cacheSize: 0 }, { things: manyThings(250).map((thing) => ({ ...thing, asset: { text: "x".repeat(300_000) } })) }, async ({ port, server, states }) => {
      const reached = once(server, "connection") as Promise<[Socket]>;
      const socket = connect(port, "127.0.0.1").pause();
      const [peer] = await reached;
      const text = Array.from({ length: 100 }, (_, round) => requests(100, round)).join("");
      socket.write(text);
      while (!peer.writableNeedDrain) await nextTurn();
      await manyTurns();
      const { opened } = states;
      await manyTurns();
      expect(states.opened).to.equal(opened);
      expect(opened).to.be.below(100);
      expect(peer.bytesRead).to.be.below(text.length / 2);
      socket.destroy();
    }));

  it("are read further once those before them are answered", async () => {
    const waiting: (() => void)[] = [];
    const answered = new Promise<void>((resolve) => waiting.push(resolve));
    const served = await serveThings({ cacheSize: 0 }, { openState: () => answered.then(() => ({ things: manyThings(250), tip: { id: "tip1", height: 77 }, release: () => undefined })) });
    const reached = once(served.server, "connection") as Promise<[Socket]>;
    const socket = connect(served.port, "127.0.0.1");
    const [peer] = await reached;
    const text = Array.from({ length: 20 }, () => requests(250)).join("");
    socket.write(text);
    await manyTurns();
    expect(peer.bytesRead).to.be.below(text.length / 2);
    waiting[0]?.();
    expect(namesIn(await until(socket, '"name"', 5_000))).to.deep.equal(Array.from({ length: 20 }, () => names(250)).flat());
    expect(peer.bytesRead).to.equal(text.length);
    expect((await ask(served.port, "/api/health")).status).to.equal(200);
    socket.destroy();
    await served.stop();
  });

  it("are not refused as overdue while they are not read", async () => {
    let answer: (() => void) | undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const served = await serveThings({ cacheSize: 0 }, { openState: () => answered.then(() => ({ things: manyThings(3), tip: { id: "tip1", height: 77 } })) });
    const reached = once(served.server, "connection") as Promise<[Socket]>;
    const socket = connect(served.port, "127.0.0.1");
    const [peer] = await reached;
    const last = "GET /api/things?limit=1&offset=2 HTTP/1.1\r\nConnection: close\r\n\r\n";
    socket.write(requests(2) + last.slice(0, 20));
    while (!peer.isPaused()) await nextTurn();
    // As Node.js does for a request that has not been read to its end in time.
    served.server.emit("clientError", Object.assign(new Error("overdue"), { code: "ERR_HTTP_REQUEST_TIMEOUT" }), peer);
    socket.write(last.slice(20));
    answer?.();
    let text = "";
    for await (const chunk of socket) text += String(chunk);
    await served.stop();
    expect(text.match(/HTTP\/1\.1 \d+/g)).to.deep.equal([200, 200, 200].map((status) => `HTTP/1.1 ${status}`));
    expect(namesIn(text)).to.deep.equal(names(3));
  });

  it("end for a host's own middleware when their connection is closed before it is their turn", () =>
    withThings({}, {}, async ({ edge, states }) => {
      let [begun, ended] = [0, 0];
      let peer: Socket | undefined;
      const app = new Koa();
      app.use(async (ctx, next) => {
        begun++;
        peer = ctx.req.socket;
        if (ctx.path !== "/never") await next();
        else await new Promise(() => undefined);
        ended++;
      });
      edge.mount(app);
      await listening(listenerOf(app), async (port) => {
        const socket = connect(port, "127.0.0.1");
        socket.write(`GET /never HTTP/1.1\r\nHost: a\r\n\r\n${requests(3)}`);
        while (begun < 4) await nextTurn();
        peer?.destroy();
        await once(socket, "close");
        await manyTurns();
        expect(ended).to.equal(3);
        expect(states.opened).to.equal(0);
      });
    }));

  it("are read on when a host that has answered one by itself hands it on all the same", () =>
    withThings({}, {}, async ({ edge }) => {
      const handle = edge.callback();
      let handOn: (() => void) | undefined;
      let isPaused: boolean | undefined;
      const host: RequestListener = (request, response) => {
        if (handOn === undefined) {
          handOn = () => handle(request, response);
          response.end("too late");
          return;
        }
        handOn();
        isPaused = request.socket.isPaused();
        response.end("meanwhile");
      };
      await listening(host, async (port) => {
        const socket = connect(port, "127.0.0.1");
        for (const reply of ["too late", "meanwhile"]) {
          socket.write(requests(1));
          await until(socket, reply, 1);
        }
        socket.destroy();
        expect(isPaused).to.equal(false);
      });
    }));

  it("leave the connection to a host that takes it over for another protocol", async () => {
    let answer: (() => void) | undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const openState = () => answered.then(() => ({ things: manyThings(2), tip: { id: "tip1", height: 77 } }));
    await withThings({ cacheSize: 0 }, { openState }, async ({ port, server }) => {
      let heard = "";
      let taken: Socket | undefined;
      server.on("upgrade", (_request, peer: Socket) => {
        taken = peer.on("data", (chunk: Buffer) => (heard += String(chunk)));
        answer?.();
      });
      const socket = connect(port, "127.0.0.1");
      socket.write(`${requests(2)}GET /chat HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\n`);
      expect(namesIn(await until(socket, '"name"', 2))).to.deep.equal(names(2));
      socket.write("hello");
      for (let turn = 0; turn < 500 && heard === ""; turn++) await nextTurn();
      socket.destroy();
      taken?.destroy();
      expect(heard).to.equal("hello");
    });
  });

  it("are answered before a malformed one after them is refused", () =>
    withThings({}, {}, async ({ port }) => {
      const socket = connect(port, "127.0.0.1");
      socket.write(`${requests(3)}nonsense\r\n\r\n`);
      let text = "";
      for await (const chunk of socket) text += String(chunk);
      expect(namesIn(text)).to.deep.equal(names(3));
      expect(text.match(/HTTP\/1\.1 \d+/g)).to.deep.equal([200, 200, 200, 400].map((status) => `HTTP/1.1 ${status}`));
    }));
});
