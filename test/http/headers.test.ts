import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text as textOf } from "node:stream/consumers";
import { expect } from "chai";
import { ask, parseRaw, sendRaw } from "./ask.js";
import { type Served, serveThings, withThings } from "./things.js";

const replies = [
  "/api/things?limit=1",
  "/api/things?limit=1",
  "/api/health",
  "/api/health",
  "/api/things/nobody",
  "/api/nothing",
  "/api/failing",
  "/api/things/",
];

describe("headers", () => {
  let served: Served;
  before(async () => {
    served = await serveThings();
  });
  after(() => served.stop());
  const get = (path: string, headers: Record<string, string> = {}, method = "GET") => ask(served.port, path, { headers, method });

  it("protect every reply against scripts, framing and content sniffing", async () => {
    for (const path of replies) {
      const { headers } = await get(path);
      expect(headers, path).to.include({
        "content-security-policy": "default-src 'none';frame-ancestors 'none'",
        "cross-origin-resource-policy": "cross-origin",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
      });
      expect(headers).not.to.have.property("x-powered-by");
    }
  });

  it("give every request an id, its own X-Request-Id if that is valid", async () => {
    const ids = new Set<unknown>();
    for (const path of replies) {
      const { headers } = await get(path);
      expect(headers["x-request-id"]).to.match(/^[0-9a-f]{12}-[0-9a-z]+$/);
      ids.add(headers["x-request-id"]);
      expect((await get(path, { "X-Request-Id": "trace:1/2=+A.b_c-d" })).headers["x-request-id"]).to.equal("trace:1/2=+A.b_c-d");
    }
    expect(ids.size).to.equal(replies.length);
    for (const odd of ["", "a b", "a\tb", "<script>", "x".repeat(129), "ü"]) {
      expect((await get("/api/health", { "X-Request-Id": odd })).headers["x-request-id"]).to.match(/^[0-9a-f]{12}-/);
    }
  });

  const malformed: [what: string, request: string, status: number][] = [
    ["an Expect that the server does not know (417)", "POST /api/things HTTP/1.1\r\nExpect: a miracle\r\nContent-Length: 2\r\n\r\n{}", 417],
    ["too large a header (431)", `GET /api/things HTTP/1.1\r\nX-Large: ${"x".repeat(20_000)}\r\n\r\n`, 431],
    ["what is no HTTP (400)", "no HTTP\r\n\r\n", 400],
    ["a malformed header (400)", "GET /api/things HTTP/1.1\r\nA header: no\r\n\r\n", 400],
    ["a tunnel (400)", "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n", 400],
    ["a path of nobody (404)", "GET /elsewhere HTTP/1.1\r\nConnection: close\r\n\r\n", 404],
  ];
  const idIn = ({ head }: { head: string }): string | undefined => /^X-Request-Id: (.*)$/im.exec(head)?.[1];
  for (const [what, request, status] of malformed) {
    it(`give a request id to the answer to ${what}`, async () => {
      const answers = [parseRaw(await sendRaw(served.port, request)), parseRaw(await sendRaw(served.port, request))];
      for (const answer of answers) {
        expect(answer.status).to.equal(status);
        expect(idIn(answer)).to.match(/^[0-9a-f]{12}-[0-9a-z]+$/);
      }
      expect(new Set(answers.map(idIn)).size).to.equal(2);
    });
  }

  it("give a refused Expect the request's own X-Request-Id", async () => {
    const request = "POST /api/things HTTP/1.1\r\nExpect: a miracle\r\nX-Request-Id: trace-1\r\nContent-Length: 2\r\n\r\n{}";
    expect(idIn(parseRaw(await sendRaw(served.port, request)))).to.equal("trace-1");
  });

  it("give a request id to the answer to an overdue request (408)", async () => {
    const client = connect(served.port, "127.0.0.1");
    const [peer] = (await once(served.server, "connection")) as [Socket];
    served.server.emit("clientError", Object.assign(new Error("overdue"), { code: "ERR_HTTP_REQUEST_TIMEOUT" }), peer);
    const answer = parseRaw(await textOf(client));
    expect(answer.status).to.equal(408);
    expect(idIn(answer)).to.match(/^[0-9a-f]{12}-[0-9a-z]+$/);
  });

  const exposed = [
    "API-Version",
    "ETag",
    "Retry-After",
    "WWW-Authenticate",
    "X-Block-Height",
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "X-Request-Id",
  ];

  it("let any origin read every reply, including errors", async () => {
    for (const path of replies) {
      const { headers } = await get(path, { Origin: "https://a.example" });
      expect(headers["access-control-allow-origin"], path).to.equal("*");
      expect(headers["access-control-expose-headers"]?.split(",")).to.deep.equal(exposed);
    }
  });

  it("answer a preflight request on every path", async () => {
    for (const path of ["/api/things", "/api/things/", "/api/v2/things/search", "/api/hooks", "/api/nothing"]) {
      const preflight = {
        Origin: "https://a.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "api-version,content-type",
      };
      const { status, headers, text } = await get(path, preflight, "OPTIONS");
      expect([status, text]).to.deep.equal([204, ""]);
      expect(headers).to.include({
        "access-control-allow-origin": "*",
        "access-control-allow-methods": "GET,HEAD,POST,PUT,PATCH,DELETE",
        "access-control-allow-headers": "api-version,content-type",
        "access-control-max-age": "600",
      });
    }
  });

  it("let only listed origins read when there is a list", () =>
    withThings({ cors: { origins: ["https://a.example", "https://b.example"] } }, {}, async ({ port }) => {
      for (const origin of ["https://a.example", "https://b.example", "https://c.example", undefined, "https://a.example"]) {
        const { headers } = await ask(port, "/api/v2/things?limit=1", {
          headers: origin === undefined ? {} : { Origin: origin },
        });
        const allowed = origin === "https://c.example" ? undefined : origin;
        expect(headers["access-control-allow-origin"]).to.equal(allowed);
        expect(headers.vary).to.equal("API-Amounts, Accept-Encoding, Origin");
        expect(headers["x-content-type-options"]).to.equal("nosniff");
      }
      const preflight = (origin: string) =>
        ask(port, "/api/things", { method: "OPTIONS", headers: { Origin: origin, "Access-Control-Request-Method": "GET" } });
      expect((await preflight("https://b.example")).headers["access-control-allow-origin"]).to.equal("https://b.example");
      const refused = await preflight("https://c.example");
      expect(refused.headers).not.to.have.any.keys("access-control-allow-origin", "access-control-allow-methods");
      expect([refused.status, refused.headers.allow]).to.deep.equal([204, "GET, HEAD, OPTIONS"]);
    }));

  it("include no CORS headers when CORS is off", () =>
    withThings({ cors: false }, {}, async ({ port }) => {
      const { headers } = await ask(port, "/api/things?limit=1", { headers: { Origin: "https://a.example" } });
      expect(headers).not.to.have.any.keys("access-control-allow-origin", "access-control-expose-headers");
      const options = await ask(port, "/api/things", {
        method: "OPTIONS",
        headers: { Origin: "https://a.example", "Access-Control-Request-Method": "GET" },
      });
      expect([options.status, options.headers.allow]).to.deep.equal([204, "GET, HEAD, OPTIONS"]);
    }));
});
