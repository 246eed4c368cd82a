import { expect } from "chai";
import { createLocate, createRouting } from "../../src/http/routing/router.js";
import { ask, type Question } from "./ask.js";
import { serveThings, type Served, withThings } from "./things.js";

describe("versions and paths", () => {
  let served: Served;
  before(async () => {
    served = await serveThings();
  });
  after(() => served.stop());
  const get = (path: string, headers: Record<string, string> = {}, rest: Question = {}) =>
    ask(served.port, path, { ...rest, headers });

  const forms: [string, Record<string, string>, number][] = [
    ["/api/both", {}, 2],
    ["/api/both", { "API-Version": "1" }, 1],
    ["/api/both", { "API-Version": "2" }, 2],
    ["/api/both", { "API-Version": "02" }, 2],
    ["/api/both", { Accept: "application/vnd.core-api.v1+json" }, 1],
    ["/api/both", { Accept: "application/vnd.core-api.v2+json" }, 2],
    ["/api/both", { Accept: "text/html, application/vnd.core-api.v1+json;q=0.9" }, 1],
    ["/api/both", { Accept: "application/vnd.core-api+json; version=1" }, 1],
    ["/api/both", { Accept: 'application/vnd.core-api+json;charset=utf-8; version="1"' }, 1],
    ["/api/both", { Accept: "application/vnd.ark.core-api.v1+json" }, 1],
    ["/api/both", { Accept: "APPLICATION/VND.CORE-API.V1+JSON" }, 1],
    ["/api/both", { Accept: "application/vnd.ark.core-api.v2+json, text/plain, */*" }, 2],
    ["/api/both", { Accept: "application/vnd.other.v1+json" }, 2],
    ["/api/both", { "API-Version": "1", Accept: "application/vnd.core-api.v2+json" }, 1],
    ["/api/both", { "API-Version": "one" }, 2],
    ["/api/both", { "API-Version": "1.0" }, 2],
    ["/api/both", { "API-Version": "" }, 2],
    ["/api/both", { "API-Version": "latest", Accept: "application/vnd.core-api.v1+json" }, 1],
    ["/api/v1/both", {}, 1],
    ["/api/v2/both", {}, 2],
    ["/api/v1/both", { "API-Version": "2" }, 1],
    ["/api/v2/both", { "API-Version": "3" }, 2],
    ["/api/v2/both", { Accept: "application/vnd.core-api.v1+json" }, 2],
  ];
  for (const [path, headers, generation] of forms) {
    it(`${path} ${JSON.stringify(headers)} is answered by generation ${generation}`, async () => {
      // twice, since the second request uses the cached decision
      for (const answer of [await get(path, headers), await get(path, headers)]) {
        expect(answer.status).to.equal(200);
        expect(answer.json).to.deep.equal({ generation });
        expect(answer.headers["api-version"]).to.equal(String(generation));
        const negotiated = path.includes("/v") ? "" : "API-Version, Accept, ";
        expect(answer.headers.vary).to.equal(`${negotiated}${generation === 2 ? "API-Amounts, " : ""}Accept-Encoding`);
      }
    });
  }

  for (const [path, headers] of [
    ["/api/both", { "API-Version": "3" }],
    ["/api/both", { "API-Version": "0" }],
    ["/api/both", { "API-Version": "99999999999999999999" }],
    ["/api/both", { Accept: "application/vnd.core-api.v3+json" }],
    ["/api/v3/both", {}],
    ["/api/v0/both", { "API-Version": "2" }],
    ["/api/v3/nothing", {}],
  ] as [string, Record<string, string>][]) {
    it(`${path} ${JSON.stringify(headers)} is refused`, async () => {
      const { status, json, headers: sent } = await get(path, headers);
      expect(status).to.equal(400);
      expect(json).to.deep.equal({
        statusCode: 400,
        error: "Bad Request",
        message: "The specified API version is not supported.",
        code: "UNSUPPORTED_VERSION",
      });
      expect(sent["api-version"]).to.equal("2");
    });
  }

  it("serves a path that only the other generation has from that one, if no version is named", async () => {
    const answer = await get("/api/old/get?name=thing004");
    expect([answer.status, answer.json, answer.headers["api-version"]]).to.deep.equal([200, { success: true, size: 4 }, "1"]);
    for (const named of [
      await get("/api/old/get?name=thing004", { "API-Version": "2" }),
      await get("/api/v2/old/get?name=thing004"),
    ]) {
      expect(named.status).to.equal(404);
      expect(named.json).to.deep.equal({ statusCode: 404, error: "Not Found", message: "Not Found", code: "NOT_FOUND", docs: "/api/docs" });
    }
    expect((await get("/api/v1/things/thing001")).status).to.equal(404);
  });

  it("serves a method that only the other generation has from that one, if no version is named", async () => {
    const { json, headers } = await get("/api/things/search?q=249");
    expect(json).to.deep.equal({ success: true, names: ["thing249"] });
    expect(headers["api-version"]).to.equal("1");
    // In the second generation, "search" is the name of a thing here.
    expect((await get("/api/v2/things/search?q=249")).json).to.deep.include({ message: '"q" is not allowed; there are none here. By POST, this path takes a JSON body instead.' });
  });

  it("serves the first generation if that is the default", () =>
    withThings({ defaultVersion: 1 }, {}, async ({ port }) => {
      expect((await ask(port, "/api/both")).json).to.deep.equal({ generation: 1 });
      expect((await ask(port, "/api/things?limit=1")).headers["api-version"]).to.equal("2");
      expect((await ask(port, "/api/nothing")).headers["api-version"]).to.equal("1");
    }));

  it("answers routes of both generations the same, whatever the version", async () => {
    for (const [path, headers] of [
      ["/api/hooks?limit=2", {}],
      ["/api/hooks?limit=2", { "API-Version": "1" }],
      ["/api/hooks?limit=2", { "API-Version": "3" }],
      ["/api/hooks?limit=2", { Accept: "application/vnd.core-api.v3+json" }],
      ["/api/v1/hooks?limit=2", {}],
      ["/api/v2/hooks?limit=2", {}],
    ] as [string, Record<string, string>][]) {
      await withThings({}, { authorize: () => true }, async ({ port }) => {
        const { json } = await ask(port, path, { headers });
        expect(json).to.have.property("meta").that.includes({ next: "/api/v2/hooks?limit=2&page=2", totalCount: 3 });
      });
    }
    const { status, headers } = await get("/api/hooks", { "API-Version": "1" });
    expect([status, headers["api-version"]]).to.deep.equal([401, "1"]);
  });

  it("redirects a trailing slash to the path without it, keeping the query", async () => {
    for (const [path, location] of [
      ["/api/things/?limit=1&orderBy=name:asc", "/api/things?limit=1&orderBy=name:asc"],
      ["/api/v2/things/thing001//", "/api/v2/things/thing001"],
      ["/api/nothing/", "/api/nothing"],
    ] as const) {
      const { status, headers, text } = await get(path);
      expect([status, headers.location, text]).to.deep.equal([301, location, ""]);
    }
    expect((await get("/api/")).headers.location).to.equal("/api");
  });

  it("redirects a trailing slash by 308 for anything but GET and HEAD, so that a POST stays one", async () => {
    expect((await get("/api/things/", {}, { method: "HEAD" })).status).to.equal(301);
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"]) {
      const { status, headers, text } = await get("/api/mirror/?a=b", {}, { method, body: "" });
      expect([status, headers.location, text], method).to.deep.equal([308, "/api/mirror?a=b", ""]);
    }
    const followed = await fetch(`${served.origin}/api/mirror/`, { method: "POST", body: '{"free":"sent"}' });
    expect([followed.status, await followed.json()]).to.deep.equal([201, { data: "sent" }]);
  });

  it("finds the trailing slash of a path in time that grows with its length alone", () => {
    const routing = createRouting<never>([]);
    const { locate } = createLocate({ basePath: "/api", defaultVersion: 2, amounts: "number", routings: { 1: routing, 2: routing } });
    const path = `/api${"/".repeat(1_000_000)}a`;
    expect(locate({ url: `${path}/`, method: "GET", headers: {} }).redirect).to.equal(path);
  });

  it("answers the base path with where to find the documents, in either generation", async () => {
    for (const [path, version] of [["/api", "2"], ["/api/v1", "1"], ["/api/v2", "2"]] as const) {
      const { status, headers, json } = await get(path);
      expect([status, headers["api-version"]], path).to.deep.equal([200, version]);
      expect(json).to.deep.equal({ data: { title: "Things", version: "1", openapi: "/api/openapi.json", docs: "/api/docs", health: "/api/health" } });
    }
  });

  it("never redirects to another host", () =>
    withThings({ basePath: "" }, {}, async ({ port }) => {
      for (const path of ["//evil.example/", "///evil.example//", "/%2F/evil.example/"]) {
        const { status, headers } = await ask(port, path);
        expect(status).to.be.oneOf([301, 404]);
        expect(headers.location ?? "/x").to.match(/^\/[^/]/);
      }
      for (const [path, location] of [["//", "/"], ["//?x", "/?x"]] as const) expect((await ask(port, path)).headers.location).to.equal(location);
    }));

  it("names the methods of a path if another is used", async () => {
    const { status, headers, json } = await get("/api/things", {}, { method: "DELETE" });
    expect([status, headers.allow]).to.deep.equal([405, "GET, HEAD, OPTIONS"]);
    expect(json).to.deep.equal({ statusCode: 405, error: "Method Not Allowed", message: "Method Not Allowed: use GET here.", code: "METHOD_NOT_ALLOWED" });
    expect((await get("/api/v2/things/all", {}, { method: "PUT" })).headers.allow).to.equal("GET, HEAD, OPTIONS");
    // A GET of "search" as a thing's name is answered too, and so are the other generation's methods if no version is named.
    expect((await get("/api/v2/things/search", {}, { method: "PUT" })).headers.allow).to.equal("POST, GET, HEAD, OPTIONS");
    expect((await get("/api/echo", {}, { method: "PROPFIND" })).headers.allow).to.equal("GET, HEAD, POST, OPTIONS");
    const first = await get("/api/v1/old/get", {}, { method: "POST" });
    expect([first.status, first.headers.allow]).to.deep.equal([405, "GET, HEAD, OPTIONS"]);
  });

  it("answers HEAD as GET, without a body", async () => {
    const whole = await get("/api/things?limit=3");
    for (const head of [
      await get("/api/things?limit=3", {}, { method: "HEAD" }),
      await get("/api/things?limit=3", {}, { method: "HEAD" }),
    ]) {
      expect(head.status).to.equal(200);
      expect(head.bytes.length).to.equal(0);
      expect(head.headers["content-length"]).to.equal(String(whole.bytes.length));
      expect(head.headers.etag).to.equal(whole.headers.etag);
    }
    const missing = await get("/api/things/nobody", {}, { method: "HEAD" });
    expect([missing.status, missing.text]).to.deep.equal([404, ""]);
  });

  it("answers OPTIONS with the methods of the path", async () => {
    const { status, headers, text } = await get("/api/things/thing001", {}, { method: "OPTIONS" });
    expect([status, headers.allow, text]).to.deep.equal([204, "GET, HEAD, OPTIONS", ""]);
    expect((await get("/api/nothing", {}, { method: "OPTIONS" })).status).to.equal(404);
  });

  it("prefers a literal path segment to a parameter", async () => {
    expect((await get("/api/things/all?limit=1")).json).to.have.property("meta");
    expect((await get("/api/v2/things/search")).json).to.deep.include({ message: "Wallet not found" });
  });

  it("treats paths as case-sensitive", async () => {
    expect((await get("/api/Things")).status).to.equal(404);
  });

  it("serves under the configured base path", () =>
    withThings({ basePath: "/chain/v4" }, {}, async ({ port }) => {
      const { json, status } = await ask(port, "/chain/v4/things?limit=1");
      expect(status).to.equal(200);
      expect(json).to.have.property("meta").that.includes({ self: "/chain/v4/v2/things?limit=1&page=1" });
      expect((await ask(port, "/chain/v4/v2/things?limit=1")).status).to.equal(200);
      for (const outside of ["/api/things", "/chain/v44/things", "/chain", "/"]) {
        const { status: found, json: told } = await ask(port, outside);
        expect([found, told]).to.deep.equal([404, { statusCode: 404, error: "Not Found", message: "Not Found", code: "NOT_FOUND" }]);
      }
    }));

  it("serves at the root if the base path is empty", () =>
    withThings({ basePath: "" }, {}, async ({ port }) => {
      expect((await ask(port, "/things?limit=1")).json)
        .to.have.property("meta")
        .that.includes({ self: "/v2/things?limit=1&page=1" });
      expect((await ask(port, "/")).json).to.deep.equal({ data: { title: "Things", version: "1", openapi: "/openapi.json", docs: "/docs", health: "/health" } });
      expect((await ask(port, "/v1/both")).json).to.deep.equal({ generation: 1 });
    }));
});
