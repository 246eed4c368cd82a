import type { Socket } from "node:net";
import { Type } from "@sinclair/typebox";
import { expect } from "chai";
import { type ErrorCode, errorTable, PorticoError } from "../../src/errors.js";
import { routesOf } from "../../src/http/route.js";
import { ask, parseRaw, sendRaw } from "./ask.js";
import { manyThings, routes, type Served, serveThings, type ThingState, withThings } from "./things.js";

const internal = { statusCode: 500, error: "Internal Server Error", message: "An internal server error occurred", code: "INTERNAL" };

describe("errors", () => {
  let served: Served;
  before(async () => {
    served = await serveThings();
  });
  after(() => served.stop());
  const get = (path: string, headers: Record<string, string> = {}) => ask(served.port, path, { headers });

  it("for a missing resource carry its message and the current height", async () => {
    const { status, json, headers } = await get("/api/things/nobody");
    expect([status, json]).to.deep.equal([404, { statusCode: 404, error: "Not Found", message: "Wallet not found", code: "WALLET_NOT_FOUND" }]);
    expect(headers["content-type"]).to.equal("application/json; charset=utf-8");
    expect(headers["x-block-height"]).to.equal("77");
    expect(headers["cache-control"]).to.equal("no-cache");
    expect(headers).not.to.have.property("etag");
  });

  it("for an unknown path are JSON too", async () => {
    const firstNotFound = { success: false, statusCode: 404, error: "Not Found", message: "Not Found" };
    const notFound = { statusCode: 404, error: "Not Found", message: "Not Found", code: "NOT_FOUND" };
    for (const [path, body] of [
      ["/api/nothing", { ...notFound, docs: "/api/docs" }],
      ["/api/v1/nothing", firstNotFound],
      ["/elsewhere", notFound],
      ["/apix/things", notFound],
    ] as const) {
      const { status, json } = await get(path);
      expect([status, json], path).to.deep.equal([404, body]);
    }
  });

  it("of a connection are nobody's to report: a client that leaves is no failure of the node", async () => {
    const [told, printed]: [string[], unknown[]] = [[], []];
    const logger = { debug: (line: string) => told.push(line), info: () => undefined, warn: () => undefined, error: (line: string) => told.push(line) };
    const original = console.error;
    console.error = (...parts: unknown[]) => printed.push(parts);
    try {
      let connection: Socket | undefined;
      const openState = async () => {
        connection?.destroy(new Error("read ECONNRESET"));
        await new Promise((resolve) => connection?.once("close", resolve));
        return { things: [], release: () => undefined };
      };
      await withThings({}, { logger, openState }, async ({ port, server, edge }) => {
        server.on("connection", (socket: Socket) => (connection = socket));
        const body = "{}";
        expect(await sendRaw(port, `POST /api/things/search HTTP/1.1\r\nContent-Length: ${body.length}\r\n\r\n${body}`)).to.equal("");
        await edge.drained();
      });
    } finally {
      console.error = original;
    }
    expect([printed, told]).to.deep.equal([[], []]);
  });

  it("of a host that cannot release a snapshot are logged, and cost no request its reply", async () => {
    const release = (): void => {
      throw new Error("as expected");
    };
    const openState = () => ({ things: manyThings(3), tip: { id: "tip1", height: 77 }, release });
    await withThings({ cacheSize: 0 }, { openState }, async ({ port, edge, errors }) => {
      for (const path of ["/api/things", "/api/things/later", "/api/things/nobody"]) {
        expect((await ask(port, path)).status, path).to.equal(path.endsWith("nobody") ? 404 : 200);
      }
      await edge.drained();
      expect(errors).to.deep.equal(Array.from({ length: 3 }, () => "a snapshot of the chain could not be released: as expected"));
    });
  });

  it("inside the server show clients only the request id, while the log has the details", async () => {
    served.errors.length = 0;
    for (const [path, count] of [
      ["/api/failing", 1],
      ["/api/v1/failing", 2],
      ["/api/failing", 3],
    ] as const) {
      const { status, json, headers } = await get(path);
      expect([status, json]).to.deep.equal([500, internal]);
      expect(served.errors).to.have.length(count);
      expect(served.errors[count - 1])
        .to.include(headers["x-request-id"])
        .and.include("a secret of the inside")
        .and.include(path);
    }
  });

  it("with a code that is not for clients stay internal", () =>
    withThings(
      {},
      {
        openState: () => {
          throw new PorticoError("STORE_DAMAGED", "secret path");
        },
      },
      async ({ port, errors }) => {
        const { status, json } = await ask(port, "/api/things");
        expect([status, json]).to.deep.equal([500, internal]);
        expect(errors[0]).to.include("secret path");
      },
    ));

  it("caused by the client have status 200 in the first generation", async () => {
    const failed = (error: string) => [200, { success: false, error }];
    for (const [path, message] of [
      ["/api/v1/old/get?name=nobody", "Wallet not found"],
      ["/api/old/get?name=nobody", "Wallet not found"],
      ["/api/old/get", '"name" is required'],
      ["/api/old/get?name=x&limit=6", '"limit" must be <= 5'],
      ["/api/old/get?name=x&more=1", '"more" is not allowed; allowed: name, limit'],
      ["/api/v1/things/search?q=%zz", '"q" is not percent-encoded UTF-8'],
    ] as const) {
      const { status, json, headers } = await get(path);
      expect([status, json], path).to.deep.equal(failed(message));
      expect(headers["api-version"]).to.equal("1");
    }
  });

  it("for a missing token come before any other check of the request", async () => {
    for (const answer of [
      await get("/api/hooks?nonsense=%zz"),
      await get("/api/v1/hooks"),
      await ask(served.port, "/api/typed", { method: "POST", body: "{nonsense" }),
    ]) {
      expect(answer.status).to.equal(401);
      expect(answer.headers["www-authenticate"]).to.equal('Bearer realm="node"');
      expect(answer.json).to.deep.equal({ statusCode: 401, error: "Unauthorized", message: "Missing or invalid webhook token. Send it in the Authorization header.", code: "UNAUTHORIZED" });
    }
  });

  it("for a missing token also occur where others have had an answer", () =>
    withThings({}, { authorize: async (given) => Promise.resolve(given === "Bearer good") }, async ({ port }) => {
      const authorized = (token: string) => ask(port, "/api/hooks", { headers: { Authorization: token } });
      expect((await authorized("Bearer good")).status).to.equal(200);
      expect((await authorized("Bearer bad")).status).to.equal(401);
      const again = await authorized("Bearer good");
      expect([again.status, again.headers["cache-control"]]).to.deep.equal([200, "no-store"]);
      expect((await ask(port, "/api/hooks")).status).to.equal(401);
    }));

  it("for a doubled Authorization header come before the token is looked at, whichever of the two is right", () =>
    withThings({}, { authorize: (given) => given === "good" }, async ({ port }) => {
      for (const tokens of [["good", "bad"], ["bad", "good"], ["good", "good"], ["bad", "worse"]]) {
        for (const path of ["/api/hooks", "/api/v1/hooks"]) {
          const lines = [`GET ${path} HTTP/1.1`, "Connection: close", `Authorization: ${tokens[0]}`, `authorization: ${tokens[1]}`];
          const { status, body } = parseRaw(await sendRaw(port, `${lines.join("\r\n")}\r\n\r\n`));
          expect([status, JSON.parse(body)], `${path} ${tokens.join()}`).to.deep.equal([
            400,
            {
              statusCode: 400,
              error: "Bad Request",
              message: '"Authorization" must be sent only once',
              code: "BAD_REQUEST",
              validation: { source: "headers", keys: ["Authorization"] },
            },
          ]);
        }
      }
    }));

  it("with status 503 name a time to retry, whatever the node is short of", () => {
    const codes = (Object.keys(errorTable) as ErrorCode[]).filter((code) => errorTable[code].status === 503);
    const busy = codes.map((code) =>
      routesOf<ThingState>().item({
        method: "GET",
        path: `/busy/${code}`,
        versions: [2],
        resource: "things",
        summary: "Refuses.",
        reply: Type.Object({ ok: Type.Boolean() }),
        answer: () => {
          throw new PorticoError(code);
        },
      }),
    );
    return withThings({}, { routes: [...routes, ...busy] }, async ({ port }) => {
      expect(codes).to.include.members(["SEARCHES_FULL", "STREAMS_FULL"]);
      for (const code of codes) {
        const { status, json, headers } = await ask(port, `/api/busy/${code}`);
        expect([status, (json as { code: string }).code]).to.deep.equal([503, code]);
        expect(headers["retry-after"], code).to.match(/^[1-9]\d?$/);
      }
    });
  });

  it("with status 503 name a time to retry while there is no state", () =>
    withThings({}, {}, async (served) => {
      await ask(served.port, "/api/things");
      delete served.state.tip;
      for (const [path, told] of [
        ["/api/things", { code: "NOT_READY" }],
        ["/api/things/thing001", { code: "NOT_READY" }],
        ["/api/v1/old/get?name=thing001", { success: false }],
      ] as const) {
        const { status, json, headers } = await ask(served.port, path);
        expect([status, headers["retry-after"]]).to.deep.equal([503, "5"]);
        expect(json).to.deep.equal({
          ...told,
          statusCode: 503,
          error: "Service Unavailable",
          message: "The node's state is not ready yet.",
        });
        expect(headers).not.to.have.property("x-block-height");
      }
      expect((await ask(served.port, "/api/health")).status).to.equal(200);
      expect((await ask(served.port, "/api/openapi.json")).status).to.equal(200);
      served.state.tip = { id: "tip9", height: 79 };
      expect((await ask(served.port, "/api/things")).headers["x-block-height"]).to.equal("79");
    }));

  it("are computed once, and are the same whether or not Koa handles the request", async () => {
    for (const [i, path] of ["/api/things/nobody", "/api/v1/old/get?name=nobody", "/api/old/get?name=nobody"].entries()) {
      served.states.opened = 0;
      const short = await get(path);
      expect(served.states.opened, path).to.equal(1);
      // A known Accept-Encoding is looked up; a new one is parsed by Koa.
      const long = await get(path, { "Accept-Encoding": `gzip;q=0.${i + 1}` });
      for (const { headers } of [short, long]) {
        delete headers["x-request-id"];
        delete headers.date;
      }
      expect(short.headers, path).to.deep.equal(long.headers);
      expect([short.status, short.text], path).to.deep.equal([long.status, long.text]);
    }
  });

  it("leave no state open", async () => {
    for (const path of ["/api/failing", "/api/things/nobody", "/api/things", "/api/things?x=1", "/api/hooks"]) {
      await get(path);
    }
    expect(served.states.open).to.equal(0);
    expect(served.states.opened).to.be.greaterThan(2);
  });
});
