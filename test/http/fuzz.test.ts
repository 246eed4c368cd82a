import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import fc from "fast-check";
import Koa from "koa";
import { count } from "../fixtures/long.js";
import { ask, parseRaw, sendRaw } from "./ask.js";
import { listenerOf, listening } from "./listening.js";
import { type Served, serveThings } from "./things.js";

/** Every status that a request may lead to, whatever it contains. */
const statuses = [200, 201, 204, 301, 308, 400, 401, 404, 405, 408, 413, 415, 431];

describe("random requests", () => {
  let served: Served;
  before(async () => {
    served = await serveThings();
  });
  after(() => served.stop());

  const sane = ({ status, head, body }: ReturnType<typeof parseRaw>, method: string): void => {
    expect(status).to.be.oneOf(statuses);
    if (method !== "HEAD" && ![204, 301, 308].includes(status)) {
      expect(head.toLowerCase()).to.include("content-type: application/json");
      expect(() => void JSON.parse(body)).not.to.throw();
    }
    expect(served.errors).to.deep.equal([]);
    expect(served.states.open).to.equal(0);
  };

  const word = fc.oneof(
    fc.constantFrom(
      "api",
      "v1",
      "v2",
      "v3",
      "strings",
      "numbers",
      "things",
      "search",
      "all",
      "echo",
      "old",
      "get",
      "typed",
      "hooks",
      "both",
      "health",
      "thing001",
      "__proto__",
      "%",
      "%2F",
      "%00",
      "%ff",
      "..",
      ".",
    ),
    fc.string({ maxLength: 8 }).map((text) => encodeURIComponent(text.replace(/[\ud800-\udfff]/g, ""))),
  );
  const name = fc.constantFrom(
    "page",
    "limit",
    "offset",
    "orderBy",
    "name",
    "names",
    "size.from",
    "size.to",
    "height",
    "amount",
    "numbers",
    "__proto__",
    "constructor",
    "a.b.c",
    "",
    "[]",
  );
  const text = fc.oneof(
    fc.constantFrom(
      "",
      "1",
      "-1",
      "1e5",
      "99999999999999999999999",
      "null",
      "true",
      "%zz",
      "%ff%fe",
      "%00",
      "name:asc",
      "votes:desc:",
      "a,b,c,d",
      "+",
      "=",
      "\u00e9",
      "[object Object]",
    ),
    fc.integer().map(String),
    fc.string({ maxLength: 10 }).map((odd) => encodeURIComponent(odd.replace(/[\ud800-\udfff]/g, ""))),
  );
  const query = fc
    .array(fc.tuple(name, text), { maxLength: 5 })
    .map((pairs) => pairs.map(([key, value]) => `${key}=${value}`).join("&"));
  const target = fc
    .tuple(fc.boolean(), fc.array(word, { maxLength: 5 }), query)
    .map(([below, words, asked]) => `${below ? "/api" : ""}/${words.join("/")}${asked === "" ? "" : `?${asked}`}`);
  const method = fc.constantFrom(
    "GET",
    "GET",
    "GET",
    "HEAD",
    "POST",
    "PUT",
    "DELETE",
    "PATCH",
    "OPTIONS",
    "TRACE",
    "PROPFIND",
    "M-SEARCH",
  );
  const headerValue = fc.oneof(
    fc.constantFrom(
      "1",
      "2",
      "3",
      "-1",
      "",
      "application/json",
      "gzip",
      "string",
      "number",
      "br;q=2,*;q=x",
      "application/vnd.core-api.v9+json",
      "Bearer ",
      '"',
      "W/",
      "99999999999999999999",
      "http://x",
      "127.0.0.1, ::1, x",
    ),
    fc.string({ maxLength: 20 }).map((odd) => odd.replace(/[^\x20-\x7e]/g, "")),
  );
  const header = fc.tuple(
    fc.constantFrom(
      "API-Version",
      "API-Amounts",
      "Accept",
      "Accept-Encoding",
      "Origin",
      "If-None-Match",
      "X-Request-Id",
      "X-Forwarded-For",
      "Authorization",
      "Content-Type",
      "Cache-Control",
      "Access-Control-Request-Method",
      "Cookie",
      "Host",
    ),
    headerValue,
  );
  const body = fc.oneof(
    fc.constant(""),
    fc.json(),
    fc.string(),
    fc.constantFrom(
      "{",
      "[]",
      '{"__proto__":{}}',
      '{"size":{"from":1e400}}',
      '{"amount":1e-400}',
      '{"size":{"from":"9999999999999999999999999999999999999999999999"}}',
      '{"count":-0}',
      '{"free":{"toJSON":1}}',
    ),
    fc
      .record(
        { amount: fc.anything(), size: fc.anything(), free: fc.jsonValue(), nested: fc.jsonValue(), name: fc.jsonValue() },
        { requiredKeys: [] },
      )
      .map((value) => JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? String(part) : part))),
  );

  it("are answered in JSON and never cause an internal error", () =>
    fc.assert(
      fc.asyncProperty(method, target, fc.array(header, { maxLength: 4 }), body, async (verb, path, headers, sent) => {
        const bytes = Buffer.from(sent);
        const lines = [
          `${verb} ${path} HTTP/1.1`,
          ...headers.map(([key, value]) => `${key}: ${value}`),
          `Content-Length: ${bytes.length}`,
          "Connection: close",
          "",
          "",
        ];
        const answer = await sendRaw(served.port, Buffer.concat([Buffer.from(lines.join("\r\n"), "latin1"), bytes]));
        sane(parseRaw(answer), verb);
      }),
      { numRuns: count(80, 20_000) },
    ));

  it("get the same answer from the interface's own server and from a host's Koa app", () => {
    const app = new Koa();
    served.edge.mount(app);
    const known = fc.constantFrom(
      "/api/things?limit=40",
      "/api/things?limit=1",
      "/api/v2/things/thing001",
      "/api/things/nobody",
      "/api/old/get?name=thing001",
      "/api/old/get?name=nobody",
      "/api/echo?count=3",
      "/api/health",
      "/api/hooks",
      "/api/things/",
    );
    return listening(listenerOf(app), (port) =>
      fc.assert(
        fc.asyncProperty(
          fc.constantFrom("GET", "HEAD"),
          fc.oneof(known, target),
          fc.array(header, { maxLength: 3 }),
          async (verb, path, pairs) => {
            // beside the base path a host's app answers in its own way; this client sends no spaces
            fc.pre(/^\/api(?:[/?][!-~]*)?$/.test(path));
            const question = { method: verb, headers: Object.fromEntries(pairs) };
            const own = await ask(served.port, path, question);
            const mounted = await ask(port, path, question);
            expect([mounted.status, mounted.text]).to.deep.equal([own.status, own.text]);
            const comparable = { date: "", "x-request-id": "", connection: "", "keep-alive": "" };
            expect({ ...mounted.headers, ...comparable }).to.deep.equal({ ...own.headers, ...comparable });
          },
        ),
        { numRuns: count(60, 10_000) },
      ),
    );
  });

  it("cause no error if they are not HTTP at all", () =>
    fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.uint8Array({ minLength: 1, maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
          fc.string({ minLength: 1 }).map((odd) => Buffer.from(`GET /api/things${odd} HTTP/1.1\r\n${odd}\r\n\r\n`)),
        ),
        async (bytes) => {
          const answer = await sendRaw(served.port, bytes);
          if (answer !== "") {
            sane(parseRaw(answer), "GET");
          }
        },
      ),
      { numRuns: count(50, 10_000) },
    ));

  it("are answered if they are too large", async () => {
    for (const request of [
      `GET /api/things?name=${"x".repeat(20_000)} HTTP/1.1\r\n\r\n`,
      `GET /api/things HTTP/1.1\r\nX-Large: ${"x".repeat(20_000)}\r\n\r\n`,
    ]) {
      expect(parseRaw(await sendRaw(served.port, request))).to.include({ status: 431 });
    }
    const query = Array.from({ length: 3000 }, () => "names=a").join("&");
    const answer = await ask(served.port, `/api/things?${query.slice(0, 14_000)}`);
    expect([answer.status, answer.json]).to.deep.include(400);
  });

  it("are answered if they expect what the server does not know", async () => {
    const answer = parseRaw(await sendRaw(served.port, "POST /api/things HTTP/1.1\r\nExpect: a miracle\r\nContent-Length: 2\r\n\r\n{}"));
    expect(answer.status).to.equal(417);
    expect(JSON.parse(answer.body)).to.deep.equal({ statusCode: 417, error: "Expectation Failed", message: "Expectation Failed", code: "EXPECTATION_FAILED" });
  });

  it("are answered if they ask for a tunnel", async () => {
    const answer = parseRaw(await sendRaw(served.port, "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n"));
    expect(answer.status).to.equal(400);
    expect(JSON.parse(answer.body)).to.deep.equal({ statusCode: 400, error: "Bad Request", message: "Bad Request", code: "BAD_REQUEST" });
  });

  it("do not hold their connection once they are refused a tunnel, even if the client never ends it", async () => {
    const reached = once(served.server, "connection") as Promise<[Socket]>;
    const client = connect({ port: served.port, host: "127.0.0.1", allowHalfOpen: true });
    client.write("CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n");
    const [peer] = await reached;
    await once(client.resume(), "end");
    for (let turn = 0; turn < 100 && !peer.destroyed; turn++) await nextTurn();
    const isHeld = !peer.destroyed;
    client.destroy();
    expect(isHeld).to.equal(false);
  });

  it("do not hold connections for ever if they never end, or if their replies are never read", () => {
    expect([served.server.requestTimeout, served.server.timeout]).to.deep.equal([60_000, 120_000]);
  });

  it("leave the server working", async () => {
    expect((await ask(served.port, "/api/things?limit=1")).status).to.equal(200);
    expect({}).not.to.have.any.keys("polluted", "from", "to");
  });
});
