import { once } from "node:events";
import { truncateSync, writeFileSync } from "node:fs";
import type { IncomingMessage, RequestListener } from "node:http";
import { get, request } from "node:http";
import { connect as connect2, createServer as createServer2 } from "node:http2";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import fastifyCompress from "@fastify/compress";
import { Type } from "@sinclair/typebox";
import { expect } from "chai";
import compression from "compression";
import express from "express";
import Fastify from "fastify";
import Koa from "koa";
import koaCompress from "koa-compress";
import { createLifecycle } from "../../src/operate/lifecycle.js";
import type { Edge } from "../../src/http/edge.js";
import { type Chunk, type Route, routesOf, type StreamAnswer } from "../../src/http/route.js";
import type { EdgeOptions } from "../../src/options/options.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { silentLogger } from "../silent.js";
import { ask, parseRaw, sendRaw } from "./ask.js";
import { listenerOf, listening } from "./listening.js";
import { everywhere as atEachHost, routes, type Served, serveThings, type ThingState } from "./things.js";

const done = (): Promise<void> => Promise.resolve();

/** What became of the streams of a test. */
class Producer {
  begun = 0;
  ended = 0;
  chunks = 0;
  aborted = 0;
  private tell = (): void => undefined;
  private next = new Promise<void>((resolve) => (this.tell = resolve));

  /** Lets `follow` produce one more. */
  emit(): void {
    const tell = this.tell;
    this.next = new Promise<void>((resolve) => (this.tell = resolve));
    tell();
  }

  /** How many answers wait for `emit`. */
  waiting = 0;

  /** Resolves with the next `emit`. */
  async allowed(): Promise<void> {
    this.waiting += 1;
    await this.next;
  }

  /** `count` chunks with a pause after each, of a turn of the event loop if nothing else is said, then the end. */
  async *some(count: number, signal: AbortSignal, chunk: Chunk = "data\n", pause: () => Promise<void> = nextTurn): AsyncIterable<Chunk> {
    this.begin(signal);
    try {
      for (let index = 0; index < count; index++) {
        this.chunks += 1;
        yield chunk;
        await pause();
      }
    } finally {
      this.ended += 1;
    }
  }

  /** One chunk for each `emit`, without an end, and without a look at the signal. */
  async *follow(signal: AbortSignal): AsyncIterable<Chunk> {
    this.begin(signal);
    for (;;) {
      yield "id: 1\n\n";
      await this.next;
    }
  }

  private begin(signal: AbortSignal): void {
    this.begun += 1;
    signal.addEventListener("abort", () => (this.aborted += 1));
  }
}

const page = { file: Buffer.from("<p>".repeat(2000)), contentType: "text/html; charset=utf-8", immutable: true, headers: ["Content-Security-Policy", "default-src 'self'"] };

const streamRoutes = (producer: Producer, folder: string): Route<ThingState>[] => {
  const { body } = routesOf<ThingState>();
  const stream = (path: string, answer: (signal: AbortSignal, state: ThingState) => AsyncIterable<Chunk>, options: Partial<StreamAnswer> = {}): Route<ThingState> =>
    body({
      method: "GET",
      path,
      versions: [2],
      resource: "streams",
      summary: "Streams.",
      content: { "text/plain": Type.String() },
      answer: (_, state) => ({ stream: (signal) => answer(signal, state), contentType: "text/plain; charset=utf-8", ...options }),
    });
  return [
    ...routes,
    stream("/streams/short", (signal) => producer.some(3, signal)),
    stream("/streams/state", (signal, { things }) => producer.some(things.length, signal), { keepsState: true, status: 202, headers: ["Cache-Control", "public", "X-Own", "1"] }),
    stream("/streams/large", (signal) => producer.some(4000, signal, Buffer.alloc(10_000, "x"))),
    stream("/streams/fast", (signal) => producer.some(10_000, signal, Buffer.alloc(1000, "x"), done)),
    stream("/streams/endless", (signal) => producer.follow(signal), { endless: true, contentType: "text/event-stream" }),
    stream("/streams/own", (signal) => producer.follow(signal), { endless: true, contentType: "text/event-stream", headers: ["cache-control", "no-store"] }),
    body({
      method: "GET",
      path: "/streams/late",
      versions: [2],
      resource: "streams",
      summary: "Streams, once it is allowed to.",
      content: { "text/plain": Type.String() },
      answer: async () => {
        await producer.allowed();
        return { stream: (signal) => producer.follow(signal), contentType: "text/event-stream", endless: true, keepsState: true };
      },
    }),
    stream("/streams/impatient", (signal) => producer.some(1_000_000, signal, Buffer.alloc(10_000, "x")), { patience: 30 }),
    stream("/streams/broken", async function* () {
      yield "half";
      await nextTurn();
      throw new Error("The other half is missing");
    }),
    body({
      method: "GET",
      path: "/pages/one",
      versions: [1, 2],
      resource: "pages",
      summary: "A page in memory.",
      hidden: true,
      stateless: true,
      content: { "text/html": Type.String() },
      answer: () => page,
    }),
    body({
      method: "GET",
      path: "/pages/{name}",
      versions: [1, 2],
      resource: "pages",
      summary: "A file on disk.",
      hidden: true,
      stateless: true,
      params: Type.Object({ name: Type.String() }),
      content: { "application/gzip": Type.String() },
      answer: ({ params, headers }) => ({ file: join(folder, params.name), contentType: "application/gzip", headers: ["X-Asked", headers["x-ask"] === undefined ? "" : String(headers["x-ask"])] }),
    }),
  ];
};

interface Given {
  producer: Producer;
  served: Served;
  port: number;
  edge: Edge;
  folder: string;
}

/** Runs a test at a listener, and in a Koa app. */
const everywhere = (title: string, test: (given: Given) => Promise<void>, options: Partial<EdgeOptions> = {}): void => {
  let producer: Producer;
  let folder: string;
  const given = () => {
    [producer, folder] = [new Producer(), temporaryFolder()];
    return { options, needs: { routes: streamRoutes(producer, folder) } };
  };
  atEachHost(title, given, (port, served) => test({ producer, served, port, edge: served.edge, folder }));
};

const begin = async (port: number, path: string, headers: Record<string, string> = {}): Promise<IncomingMessage> => {
  const [response] = (await once(get({ host: "127.0.0.1", port, path, headers, agent: false }), "response")) as [IncomingMessage];
  return response;
};

/** Hosts that compress what they send. */
const compressing: Record<string, (edge: Edge) => Promise<RequestListener>> = {
  "koa-compress": (edge) => {
    const app = new Koa();
    app.use(koaCompress());
    edge.mount(app);
    return Promise.resolve(listenerOf(app));
  },
  "compression of Express": (edge) => Promise.resolve(express().use(compression()).use(edge.callback())),
  "@fastify/compress": async (edge) => {
    const app = Fastify();
    const serve = edge.callback();
    await app.register(fastifyCompress);
    app.addHook("onRequest", (request, reply, next) => serve(request.raw, reply.raw, () => next()));
    await app.ready();
    return app.routing;
  },
};

const until = async (isSo: () => boolean): Promise<void> => {
  const deadline = Date.now() + 150_000;
  while (!isSo()) {
    if (Date.now() > deadline) throw new Error(`It did not come to this: ${isSo.toString()}`);
    await nextTurn();
  }
};

describe("streams", () => {
  everywhere("sends what is produced, then ends", async ({ port, producer }) => {
    const { status, text, headers } = await ask(port, "/api/streams/short", { headers: { "Accept-Encoding": "br" } });
    expect([status, text]).to.deep.equal([200, "data\ndata\ndata\n"]);
    expect(headers).to.include({ "content-type": "text/plain; charset=utf-8", "cache-control": "no-store", "x-block-height": "77", "api-version": "2" });
    expect(headers).to.not.have.any.keys("content-encoding", "content-length");
    await until(() => producer.ended === 1);
  });

  everywhere("has a status and headers of its own, and keeps the state open until it has ended", async ({ port, served }) => {
    const response = await begin(port, "/api/streams/state");
    expect(response.statusCode).to.equal(202);
    expect(response.headers).to.include({ "cache-control": "public", "x-own": "1", "x-content-type-options": "nosniff" });
    expect(served.states.open).to.equal(1);
    await once(response.resume(), "end");
    await until(() => served.states.open === 0);
  });

  everywhere("answers HEAD with the headers alone", async ({ port, producer, served }) => {
    for (const path of ["state", "endless", "short"]) {
      const { status, bytes, headers } = await ask(port, `/api/streams/${path}`, { method: "HEAD" });
      expect([status, bytes.length]).to.deep.equal([path === "state" ? 202 : 200, 0]);
      expect(headers["content-type"]).to.match(/^text/);
    }
    expect([producer.begun, served.states.open]).to.deep.equal([0, 0]);
  });

  everywhere("sends the head of a stream before there is anything to tell, and then each piece as it comes", async ({ port, producer }) => {
    const response = await begin(port, "/api/streams/endless");
    expect(response.headers).to.include({ "content-type": "text/event-stream", "cache-control": "no-cache, no-transform", "x-accel-buffering": "no" });
    for (let count = 0; count < 3; count++) {
      const [piece] = (await once(response, "data")) as [Buffer];
      expect(piece.toString()).to.equal("id: 1\n\n");
      producer.emit();
    }
    response.destroy();
  });

  for (const [name, listenerWith] of Object.entries(compressing)) {
    it(`without an end is not held back by ${name}, whatever Cache-Control its route has`, async () => {
      const served = await serveThings({}, { routes: streamRoutes(new Producer(), "") });
      try {
        await listening(await listenerWith(served.edge), async (port) => {
          for (const [path, cacheControl] of [["endless", "no-cache, no-transform"], ["own", "no-store, no-transform"]]) {
            const response = await begin(port, `/api/streams/${path}`, { "Accept-Encoding": "gzip, br" });
            expect([response.headers["cache-control"], response.headers["content-encoding"]]).to.deep.equal([cacheControl, undefined]);
            expect(String((await once(response, "data"))[0])).to.equal("id: 1\n\n");
            response.destroy();
          }
        });
      } finally {
        await served.stop();
      }
    });
  }

  everywhere("ends when the client leaves, which is no error", async ({ port, producer, edge, served }) => {
    const response = await begin(port, "/api/streams/endless");
    await once(response, "data");
    expect([edge.streams.count, edge.open]).to.deep.equal([1, 1]);
    response.destroy();
    await until(() => edge.streams.count === 0 && edge.open === 0);
    expect([producer.aborted, served.errors]).to.deep.equal([1, []]);
  });

  everywhere("is not begun for a client that has left before there is an answer, and holds nothing", async ({ port, producer, edge, served }) => {
    const socket = connect(port, "127.0.0.1");
    socket.write("GET /api/streams/late HTTP/1.1\r\nHost: a\r\n\r\n");
    await until(() => producer.waiting === 1);
    socket.resetAndDestroy();
    // Another request on another connection is answered after the server has seen the first one close.
    for (let count = 0; count < 3; count++) await ask(port, "/api/streams/short");
    producer.emit();
    await until(() => edge.streams.count === 0 && edge.open === 0 && served.states.open === 0);
    expect(edge.streams.endless).to.equal(0);
  });

  everywhere("is asked for no more than its client reads", async ({ port, producer, edge }) => {
    const socket = connect(port, "127.0.0.1");
    socket.pause();
    socket.write("GET /api/streams/large HTTP/1.1\r\nHost: a\r\n\r\n");
    let before = -1;
    // Until nothing more is asked for: the buffers of both sides are full.
    for (let still = 0; still < 2000; still = before === producer.chunks ? still + 1 : 0) {
      before = producer.chunks;
      await nextTurn();
    }
    expect(producer.chunks).to.be.within(1, 2000);
    let received = 0;
    socket.on("data", ({ length }) => (received += length)).resume();
    await until(() => received >= 40_000_000);
    socket.destroy();
    await until(() => edge.streams.count === 0 && producer.ended === 1);
  });

  it("is asked for no more than its client reads, and for all of it: HTTP/2, compatibility API", async () => {
    const producer = new Producer();
    const served = await serveThings({}, { routes: streamRoutes(producer, "") });
    const serve = served.edge.callback();
    const server = createServer2((asked, response) => serve(asked as unknown as IncomingMessage, response as never)).listen(0, "127.0.0.1");
    await once(server, "listening");
    const client = connect2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    try {
      const reply = client.request({ ":path": "/api/streams/large" }).pause();
      let before = -1;
      for (let still = 0; still < 2000; still = before === producer.chunks ? still + 1 : 0) {
        before = producer.chunks;
        await nextTurn();
      }
      expect(producer.chunks).to.be.within(1, 200);
      let received = 0;
      for await (const piece of reply) received += (piece as Buffer).length;
      expect([received, producer.ended]).to.deep.equal([40_000_000, 1]);
    } finally {
      client.destroy();
      server.close();
      await served.stop();
    }
  });

  // Node.js 26 holds back in the response what is written in one turn: "drain" never came where that was handed over wrongly.
  everywhere("goes on each time its client has read, however fast it is produced", async ({ port, producer, edge }) => {
    const response = await begin(port, "/api/streams/fast");
    let received = 0;
    for await (const piece of response) {
      received += (piece as Buffer).length;
      // Reads on in another turn: the buffers of both sides fill meanwhile.
      await nextTurn();
    }
    expect([received, producer.chunks, producer.ended]).to.deep.equal([10_000_000, 10_000, 1]);
    await until(() => edge.streams.count === 0);
  });

  everywhere("cuts off a client that reads nothing for too long", async ({ port, producer, edge }) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined).pause();
    socket.write("GET /api/streams/impatient HTTP/1.1\r\nHost: a\r\n\r\n");
    await until(() => producer.begun === 1);
    await until(() => edge.streams.count === 0 && edge.open === 0);
    expect([producer.aborted, producer.ended]).to.deep.equal([1, 1]);
    socket.destroy();
  });

  everywhere("cuts the connection if the producer fails, so that the client sees that something is missing", async ({ port, edge }) => {
    const response = await begin(port, "/api/streams/broken");
    const failed = once(response, "error").then(([error]) => (error as NodeJS.ErrnoException).code);
    response.resume();
    expect(await failed).to.equal("ECONNRESET");
    await until(() => edge.open === 0);
  });

  everywhere(
    "admits only as many endless streams as the option says",
    async ({ port }) => {
      const first = await begin(port, "/api/streams/endless");
      const { status, json, headers } = await ask(port, "/api/streams/endless");
      expect(status).to.equal(503);
      expect(json).to.include({ message: "This node allows no more open streams." });
      expect(headers["retry-after"]).to.equal("10");
      expect((await ask(port, "/api/streams/short")).status).to.equal(200);
      first.destroy();
    },
    { maxStreams: 1 },
  );

  it("answers requests that were pipelined behind it when it has ended", async () => {
    const served = await serveThings({}, { routes: streamRoutes(new Producer(), "") });
    try {
      const raw = await sendRaw(served.port, ["short", "short"].map((name) => `GET /api/streams/${name} HTTP/1.1\r\nHost: a\r\n\r\n`).join("") + "GET /api/both HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
      expect(raw.match(/HTTP\/1.1 200/g)).to.have.length(3);
      expect(parseRaw(raw.slice(raw.lastIndexOf("HTTP/1.1"))).body).to.equal('{"generation":2}');
    } finally {
      await served.stop();
    }
  });

  it("is ended at once when the node stops, if it has no end; one that has an end is sent to its end", async () => {
    const producer = new Producer();
    const served = await serveThings({}, { routes: streamRoutes(producer, "") });
    const { createServer, drained, streams } = served.edge;
    const lifecycle = createLifecycle({ prepare: done, open: done, opened: done, close: done, createServer, drained, streams, stopTimeout: 50_000, logger: silentLogger });
    try {
      const server = await lifecycle.listen(0);
      const { port } = server.address() as { port: number };
      const [endless, large] = await Promise.all([begin(port, "/api/streams/endless"), begin(port, "/api/streams/large")]);
      endless.resume();
      const ended = once(endless, "end");
      const stopped = lifecycle.stop();
      await ended;
      let received = 0;
      large.on("data", ({ length }: Buffer) => (received += length));
      await Promise.all([once(large, "end"), stopped]);
      expect([received, served.edge.streams.count, producer.aborted]).to.deep.equal([40_000_000, 0, 2]);
    } finally {
      await lifecycle.stop();
      await served.stop();
    }
  });

  it("does not hold up a stop that has waited long enough", async () => {
    const producer = new Producer();
    const served = await serveThings({}, { routes: streamRoutes(producer, "") });
    const { createServer, drained, streams } = served.edge;
    const lifecycle = createLifecycle({ prepare: done, open: done, opened: done, close: done, createServer, drained, streams, stopTimeout: 20, logger: silentLogger });
    try {
      const server = await lifecycle.listen(0);
      const socket = connect((server.address() as { port: number }).port, "127.0.0.1");
      socket.on("error", () => undefined).pause();
      socket.write("GET /api/streams/large HTTP/1.1\r\nHost: a\r\n\r\n");
      await until(() => producer.chunks > 0);
      await lifecycle.stop();
      await until(() => producer.ended === 1 && served.edge.open === 0);
      socket.destroy();
    } finally {
      await served.stop();
    }
  });
});

describe("files", () => {
  everywhere("are sent from memory, compressed, with headers of their own in the place of the default ones", async ({ port }) => {
    const plain = await ask(port, "/api/pages/one");
    expect([plain.status, plain.text]).to.deep.equal([200, "<p>".repeat(2000)]);
    expect(plain.headers).to.include({
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": "default-src 'self'",
      "cache-control": "public, max-age=31536000, immutable",
      "content-length": "6000",
      "accept-ranges": "bytes",
    });
    const compressed = await ask(port, "/api/pages/one", { headers: { "Accept-Encoding": "br" } });
    expect(compressed.headers["content-encoding"]).to.equal("br");
    expect(compressed.bytes.length).to.be.below(100);
    const again = await ask(port, "/api/pages/one", { headers: { "If-None-Match": String(plain.headers.etag) } });
    expect([again.status, again.bytes.length]).to.deep.equal([304, 0]);
    const head = await ask(port, "/api/pages/one", { method: "HEAD" });
    expect([head.headers["content-length"], head.bytes.length]).to.deep.equal(["6000", 0]);
  });

  everywhere("are sent from disk", async ({ port, folder, edge }) => {
    const content = Buffer.alloc(300_000, "abcdefghij");
    writeFileSync(join(folder, "a.gz"), content);
    writeFileSync(join(folder, "empty.gz"), "");
    const whole = await ask(port, "/api/pages/a.gz", { headers: { "Accept-Encoding": "gzip", "X-Ask": "me" } });
    expect(whole.status).to.equal(200);
    expect(whole.bytes.equals(content)).to.equal(true);
    expect(whole.headers).to.include({ "content-type": "application/gzip", "content-length": "300000", "cache-control": "no-cache", "x-asked": "me" });
    expect(whole.headers).to.not.have.any.keys("content-encoding", "transfer-encoding");
    const again = await ask(port, "/api/pages/a.gz", { headers: { "If-None-Match": String(whole.headers.etag) } });
    expect([again.status, again.bytes.length]).to.deep.equal([304, 0]);
    const head = await ask(port, "/api/pages/a.gz", { method: "HEAD" });
    expect([head.status, head.headers["content-length"], head.bytes.length]).to.deep.equal([200, "300000", 0]);
    const empty = await ask(port, "/api/pages/empty.gz");
    expect([empty.status, empty.headers["content-length"]]).to.deep.equal([200, "0"]);
    const missing = await ask(port, "/api/pages/b.gz");
    expect([missing.status, (missing.json as { message: string }).message]).to.deep.equal([404, "Not Found"]);
    expect((await ask(port, "/api/pages/..%2F")).status).to.equal(404);
    await until(() => edge.streams.count === 0 && edge.open === 0);
  });

  everywhere("are cut off where they are shorter than they were when they were begun, so that nobody waits for the rest", async ({ port, folder, edge }) => {
    const path = join(folder, "large.gz");
    writeFileSync(path, "");
    truncateSync(path, 50_000_000);
    const response = await begin(port, "/api/pages/large.gz");
    expect(response.headers["content-length"]).to.equal("50000000");
    truncateSync(path, 1_000_000);
    const failed = once(response, "error").then(([error]) => (error as NodeJS.ErrnoException).code);
    response.resume();
    expect(await failed).to.equal("ECONNRESET");
    await until(() => edge.streams.count === 0 && edge.open === 0);
  });

  everywhere("are sent in pieces", async ({ port, folder }) => {
    writeFileSync(join(folder, "a.gz"), "0123456789");
    const tag = String((await ask(port, "/api/pages/a.gz")).headers.etag);
    const piece = async (range: string, more: Record<string, string> = {}): Promise<unknown[]> => {
      const { status, text, headers } = await ask(port, "/api/pages/a.gz", { headers: { Range: range, ...more } });
      return [status, text, headers["content-range"], headers["content-length"]];
    };
    expect(await piece("bytes=2-4")).to.deep.equal([206, "234", "bytes 2-4/10", "3"]);
    expect(await piece("bytes=7-")).to.deep.equal([206, "789", "bytes 7-9/10", "3"]);
    expect(await piece("bytes=-2", { "If-Range": tag })).to.deep.equal([206, "89", "bytes 8-9/10", "2"]);
    expect(await piece("bytes=-2", { "If-Range": '"old"' })).to.deep.equal([200, "0123456789", undefined, "10"]);
    expect(await piece("bytes=0-1,3-4")).to.deep.equal([200, "0123456789", undefined, "10"]);
    const beyond = await ask(port, "/api/pages/a.gz", { headers: { Range: "bytes=10-" } });
    expect([beyond.status, beyond.headers["content-range"], (beyond.json as { code: string }).code]).to.deep.equal([416, "bytes */10", "RANGE_NOT_SATISFIABLE"]);
    for (const range of ["bytes=2-4", "bytes=20-30"]) expect((await piece(range, { "If-None-Match": tag }))[0], `${range} of what the client has`).to.equal(304);
    const head = await ask(port, "/api/pages/a.gz", { method: "HEAD", headers: { Range: "bytes=2-4" } });
    expect([head.status, head.headers["content-length"], head.headers["content-range"]]).to.deep.equal([200, "10", undefined]);
    const { status, text, headers } = await ask(port, "/api/pages/one", { headers: { Range: "bytes=1-3", "Accept-Encoding": "br" } });
    expect([status, text, headers["content-range"], headers["content-encoding"]]).to.deep.equal([206, "p><", "bytes 1-3/6000", undefined]);
  });

  it("and streams that are not hidden are in the OpenAPI document", async () => {
    const served = await serveThings({}, { routes: streamRoutes(new Producer(), "") });
    await served.stop();
    const { paths } = served.edge.openapi;
    expect(paths).to.not.have.any.keys("/api/pages/one");
    const { responses } = paths["/streams/short"]?.get as { responses: Record<string, { content: unknown }> };
    expect(responses["200"]?.content).to.deep.equal({ "text/plain": { schema: { type: "string" } } });
  });

  it("are refused as methods other than GET and HEAD", async () => {
    const served = await serveThings({}, { routes: streamRoutes(new Producer(), "") });
    const sent = request({ host: "127.0.0.1", port: served.port, path: "/api/pages/one", method: "POST", agent: false });
    sent.end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    expect([response.statusCode, response.headers.allow]).to.deep.equal([405, "GET, HEAD, OPTIONS"]);
    response.destroy();
    await served.stop();
  });
});
