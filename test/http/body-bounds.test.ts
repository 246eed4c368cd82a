import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { PorticoError } from "../../src/errors.js";
import { createJsonServer } from "../../src/http/hosts/node-server.js";
import { type BodyGateLimits, createBodyGate } from "../../src/http/input/body.js";
import { loadChain } from "../data/read.js";
import { startNode } from "../fixtures/node.js";
import { ask } from "./ask.js";

const chain = loadChain("core3-custom-c");

describe("what a flood of bodies or connections can hold", () => {
  const withNode = async (use: (port: number, stop: () => Promise<void>) => Promise<void>, context: object = {}): Promise<void> => {
    const { port, stop } = await startNode({ network: chain.network, blocks: chain.blocks.slice(0, 1), ...context });
    await use(port, stop);
  };

  it("by the body of a search is 16 KiB, before decompression and after it", () =>
    withNode(async (port) => {
      const post = (path: string, body: string | Buffer, headers: Record<string, string> = {}) => ask(port, path, { method: "POST", body, headers });
      const searches = ["transactions", "blocks", "wallets", "delegates", "locks"].map((resource) => `/api/${resource}/search`);
      const [small, large] = [16_000, 17_000].map((length) => JSON.stringify({ id: "x".repeat(length) }));
      for (const path of searches) {
        expect((await post(path, large ?? "")).status, path).to.equal(413);
        expect((await post(path, gzipSync(large ?? ""), { "Content-Encoding": "gzip" })).status, path).to.equal(413);
        expect((await post(path, small ?? "")).status, path).to.not.equal(413);
      }
      // As it was found: a megabyte of numbers that lose digits, in 1.6 KB.
      const bomb = gzipSync(`{"addresses":[${Array.from({ length: 200_000 }, () => "1e22").join(",")}]}`);
      let least = Infinity;
      for (let count = 0; count < 20; count++) {
        const begun = performance.eventLoopUtilization();
        expect((await post("/api/transactions/search", bomb, { "Content-Encoding": "gzip" })).status).to.equal(413);
        least = Math.min(least, performance.eventLoopUtilization(begun).active);
      }
      expect(least).to.be.below(100);
      // Submitted transactions may have more.
      expect((await post("/api/transactions", large ?? "")).status).to.not.equal(413);
    }));

  it("by numbers of a search that a double may not hold is a thousand of them", () =>
    withNode(async (port) => {
      const search = async (count: number): Promise<string> => (await ask(port, "/api/transactions/search", { method: "POST", body: `{"addresses":[${Array.from({ length: count }, () => "1e22").join(",")}]}` })).text;
      const refused = /more than 1000 with many digits or an exponent/;
      expect(await search(1_000)).to.not.match(refused);
      expect(await search(1_001)).to.match(refused);
    }));

  /** A server whose bodies pass a gate. */
  const withGate = async (limits: Partial<BodyGateLimits>, use: (open: (head: string) => Socket, answerOf: (socket: Socket) => Promise<string>) => Promise<void>): Promise<void> => {
    const gate = createBodyGate({ most: 10_000, mostOfClient: 6_000, leastRate: 1_000, grace: 60_000, ...limits, clientOf: ({ headers }) => String(headers["x-client"]) });
    const server = createServer((request, response) => {
      const read = async (): Promise<string> => {
        let length = 0;
        for await (const chunk of request) length += (chunk as Buffer).length;
        return `read ${length}`;
      };
      gate.pass(request, 8_000, read).then(
        (text) => response.end(text),
        (error: unknown) => response.end(error instanceof PorticoError ? error.code : "FAILED"),
      );
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const sockets: Socket[] = [];
    const open = (head: string): Socket => {
      const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
      socket.on("error", () => undefined);
      socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n`);
      sockets.push(socket);
      return socket;
    };
    const answerOf = async (socket: Socket): Promise<string> => {
      const [data] = (await once(socket, "data")) as [Buffer];
      const text = data.toString("latin1");
      if (!text.endsWith("\r\n\r\n")) return text.slice(text.indexOf("\r\n\r\n") + 4);
      return ((await once(socket, "data")) as [Buffer])[0].toString("latin1");
    };
    try {
      await use(open, answerOf);
    } finally {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    }
  };
  const lastLine = (text: string): string => text.trim().split("\r\n").at(-1) ?? "";

  it("by unfinished bodies is bounded in all and by client, and let in again when one has ended", () =>
    withGate({}, async (open, answerOf) => {
      const first = open("X-Client: a\r\nContent-Length: 5000");
      first.write("x".repeat(10));
      const second = open("X-Client: b\r\nTransfer-Encoding: chunked");
      // In all, 13,000 of 10,000: whoever comes second is refused.
      expect(lastLine(await answerOf(second))).to.include("BODIES_FULL");
      const third = open("X-Client: a\r\nContent-Length: 2000");
      expect(lastLine(await answerOf(third)), "7,000 of a client's 6,000").to.include("BODIES_FULL");
      const tooLarge = open("X-Client: b\r\nContent-Length: 9000");
      expect(lastLine(await answerOf(tooLarge))).to.include("BODY_TOO_LARGE");
      first.write("x".repeat(4_990));
      expect(lastLine(await answerOf(first))).to.include("read 5000");
      const fourth = open("X-Client: a\r\nContent-Length: 5500");
      fourth.write("x".repeat(5_500));
      expect(lastLine(await answerOf(fourth))).to.include("read 5500");
    }));

  it("by a body that comes more slowly than it has to is let go of", () =>
    withGate({ grace: 100 }, async (open, answerOf) => {
      const slow = open("X-Client: a\r\nContent-Length: 5000");
      slow.write("x".repeat(10));
      expect(lastLine(await answerOf(slow))).to.include("BODY_TOO_SLOW");
    }));

  it("by connections is bounded in all, and by address unless that is exempt", async () => {
    const listening = async (maxConnections: number, exempt: string[]) => {
      const bounds = { maxConnections, rateLimit: { perMinute: 1, exempt }, trustedProxies: [] };
      const server = createJsonServer((_request, response) => response.end(), { requestId: () => "id", bounds }).listen(0, "127.0.0.1");
      await once(server, "listening");
      return { server, port: (server.address() as AddressInfo).port };
    };
    for (const [maxConnections, exempt, asked, most] of [
      [3, ["127.0.0.0/8"], 8, 3],
      [1_000, [], 260, 256],
      [1_000, ["127.0.0.0/8"], 260, 260],
    ] as const) {
      const { server, port } = await listening(maxConnections, [...exempt]);
      const sockets = Array.from({ length: asked }, () => connect(port, "127.0.0.1").on("error", () => undefined));
      const answered = await Promise.all(
        sockets.map(async (socket) => {
          const first = Promise.race([once(socket, "data").then(() => true), once(socket, "close").then(() => false)]);
          socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
          return first.catch(() => false);
        }),
      );
      expect(answered.filter((is) => is)).to.have.length(most);
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    }
  });

  it("by a pool that never answers is its time limit, and stopping does not wait for it", async () => {
    const never = (): Promise<never> => new Promise(() => undefined);
    const pool = { list: never, get: never, submit: never };
    await withNode(
      async (port) => {
        const { status, json } = await ask(port, "/api/transactions/unconfirmed");
        expect([status, json]).to.deep.include(503);
        expect((json as { message: string }).message).to.equal("The node's pool did not answer within 0.2 s.");
      },
      { pool, options: { hostTimeout: 200 } },
    );
    await withNode(
      async (port, stop) => {
        const asked = ask(port, "/api/transactions/unconfirmed");
        // It is being answered once a later one is.
        expect((await ask(port, "/api/blockchain")).status).to.equal(200);
        // Far longer than a test may take.
        await stop();
        expect((await asked).status).to.equal(503);
      },
      { pool, options: { hostTimeout: 600_000, stopTimeout: 600_000 } },
    );
  });
});
