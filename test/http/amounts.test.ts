import { expect } from "chai";
import { ask, type Question } from "./ask.js";
import { type Served, serveThings, type Thing, withThings } from "./things.js";

const size = 12500000000000000001n;
const things: Thing[] = [
  { name: "a", size, debt: -size },
  { name: "b", size: 1n, debt: null },
];
const asText = { number: `"size":${size},"debt":-${size}`, string: `"size":"${size}","debt":"-${size}"` };
const named = (form: string): Record<string, string> => ({ "API-Amounts": form });

describe("the form of amounts", () => {
  let served: Served;
  before(async () => {
    served = await serveThings({}, { things, authorize: () => true });
  });
  after(() => served.stop());
  const get = (path: string, headers: Record<string, string> = {}, rest: Question = {}) => ask(served.port, path, { ...rest, headers });

  for (const amounts of ["number", "string"] as const) {
    const requests: [path: string, headers: Record<string, string>, form: "number" | "string"][] = [
      ["/api/things/a", {}, amounts],
      ["/api/things/a", named("number"), "number"],
      ["/api/things/a", named("string"), "string"],
      ["/api/v2/things/a", named("number"), "number"],
      ["/api/v2/things/a", named("string"), "string"],
      ["/api/strings/things/a", {}, "string"],
      ["/api/strings/v2/things/a", {}, "string"],
      ["/api/strings/things/a", named("number"), "string"],
      ["/api/strings/things/a", named("odd"), "string"],
      ["/api/numbers/things/a", {}, "number"],
      ["/api/numbers/v2/things/a", named("string"), "number"],
      ["/api/things", named("string"), "string"],
      ["/api/things", named("number"), "number"],
      ["/api/strings/things", {}, "string"],
    ];
    it(`is chosen by one request, by its header API-Amounts or by its path, which wins (option amounts: ${amounts})`, () =>
      withThings({ amounts }, { things }, async ({ port }) => {
        // Several times, since repeated requests are answered from caches: once in this order, once in the other.
        for (const [path, headers, form] of [...requests, ...requests, ...requests.toReversed()]) {
          const { status, text } = await ask(port, path, { headers });
          expect([status, text.includes(asText[form])], `${path} ${JSON.stringify(headers)}`).to.deep.equal([200, true]);
        }
        for (const [path, headers, form] of [
          ["/api/things/search", named("string"), "string"],
          ["/api/things/search", named("number"), "number"],
          ["/api/strings/things/search", {}, "string"],
        ] as const) {
          expect((await ask(port, path, { method: "POST", headers })).text).to.include(asText[form]);
        }
      }));
  }

  it("is the same, with the same ETag, from a kept reply as from a new one", async () => {
    const etags = { number: new Set<unknown>(), string: new Set<unknown>() };
    for (let time = 0; time < 3; time++) {
      for (const form of ["number", "string"] as const) {
        const { headers } = await get("/api/things?limit=1", named(form));
        etags[form].add(headers.etag);
        const again = await get("/api/things?limit=1", { ...named(form), "If-None-Match": headers.etag ?? "" });
        expect([again.status, again.headers.vary]).to.deep.equal([304, "API-Version, Accept, API-Amounts, Accept-Encoding"]);
      }
    }
    expect([etags.number.size, etags.string.size, new Set([...etags.number, ...etags.string]).size]).to.deep.equal([1, 1, 2]);
  });

  const metaOf = async (path: string) => {
    const { status, json } = await get(path);
    expect(status, path).to.equal(200);
    return (json as { meta: Record<"next" | "previous", string | null> & Record<"self" | "first" | "last", string> }).meta;
  };

  it("in the path stays in every link of a paged reply, and every link resolves", async () => {
    for (const prefix of ["strings", "numbers"]) {
      for (const path of ["/things?limit=1", "/v2/things?limit=1", "/things/a/parts", "/hooks?limit=2", "/v1/hooks?limit=2"]) {
        const { next, previous, self, first, last } = await metaOf(`/api/${prefix}${path}`);
        for (const link of [next, previous, self, first, last].filter((given) => given !== null)) {
          expect(link).to.match(new RegExp(`^/api/${prefix}/v2/`));
          expect((await metaOf(link)).self).to.equal(link);
        }
      }
    }
    const { json } = await get("/api/things?limit=1", named("string"));
    expect(json).to.have.property("meta").that.includes({ next: "/api/v2/things?limit=1&page=2" });
  });

  it("in the path stays in what the root and redirects lead to", async () => {
    for (const [path, below] of [["/api/strings", "/api/strings"], ["/api/numbers/v2", "/api/numbers"], ["/api/strings/v1", "/api/strings"], ["/api", "/api"]] as const) {
      const { status, json } = await get(path);
      expect(status, path).to.equal(200);
      expect(json).to.deep.equal({ data: { title: "Things", version: "1", openapi: `${below}/openapi.json`, docs: `${below}/docs`, health: `${below}/health` } });
    }
    for (const [path, location] of [["/api/strings/", "/api/strings"], ["/api/strings/things/?limit=1", "/api/strings/things?limit=1"]] as const) {
      const { status, headers } = await get(path);
      expect([status, headers.location]).to.deep.equal([301, location]);
    }
    expect((await get("/api/strings/health")).status).to.equal(200);
  });

  it("in the path changes nothing else: methods, unknown paths and errors are as without it", async () => {
    expect((await get("/api/strings/things", {}, { method: "DELETE" })).headers.allow).to.equal("GET, HEAD, OPTIONS");
    expect((await get("/api/strings/things", {}, { method: "OPTIONS" })).headers.allow).to.equal("GET, HEAD, OPTIONS");
    for (const path of ["/api/strings/nothing", "/api/strings/strings/things", "/api/strings/numbers/things", "/api/v2/strings/things", "/api/Strings/things", "/api/stringsx"]) {
      expect((await get(path)).status, path).to.equal(404);
    }
    expect((await get("/api/strings/v3/things")).json).to.have.property("message", "The specified API version is not supported.");
    const head = await get("/api/strings/things/a", {}, { method: "HEAD" });
    expect([head.status, head.headers["content-length"]]).to.deep.equal([200, String((await get("/api/strings/things/a")).bytes.length)]);
  });

  it("is a 400 if the header API-Amounts names none", async () => {
    for (const odd of ["strings", "String", "1", "", "string, string", "number;q=1"]) {
      for (const [path, method] of [["/api/things/a", "GET"], ["/api/v2/things", "GET"], ["/api/hooks", "GET"], ["/api/things/search", "POST"]] as const) {
        const { status, json, headers } = await get(path, named(odd), { method });
        expect([status, json], `${path} ${odd}`).to.deep.equal([
          400,
          {
            statusCode: 400,
            error: "Bad Request",
            message: '"API-Amounts" must be one of number, string',
            code: "BAD_REQUEST",
            validation: { source: "headers", keys: ["API-Amounts"] },
          },
        ]);
        expect(headers.vary).to.include("API-Amounts");
      }
    }
  });

  it("is named in Vary where the header decides it", async () => {
    for (const [path, vary] of [
      ["/api/things", "API-Version, Accept, API-Amounts, Accept-Encoding"],
      ["/api/v2/things", "API-Amounts, Accept-Encoding"],
      ["/api/strings/things", "API-Version, Accept, Accept-Encoding"],
      ["/api/strings/v2/things", "Accept-Encoding"],
      ["/api/v1/old/get?name=a", "Accept-Encoding"],
      ["/api/old/get?name=a", "API-Version, Accept, Accept-Encoding"],
      ["/api/v2/things/nobody", "API-Amounts, Accept-Encoding"],
    ] as const) {
      for (const headers of [{}, named("string")]) expect((await get(path, headers)).headers.vary, path).to.equal(vary);
    }
  });

  it("is not up to requests of the first generation: its routes are called below the prefix, too, and ignore the header", async () => {
    for (const [path, headers] of [
      ["/api/v1/old/get?name=a", {}],
      ["/api/v1/old/get?name=a", named("string")],
      ["/api/v1/old/get?name=a", named("odd")],
      ["/api/old/get?name=a", named("odd")],
      ["/api/strings/v1/old/get?name=a", {}],
      ["/api/strings/old/get?name=a", {}],
    ] as const) {
      const { status, text } = await get(path, headers);
      expect([status, text], path).to.deep.equal([200, `{"success":true,"size":${size}}`]);
    }
  });

  it("is chosen by the path wherever the interface is mounted", async () => {
    for (const [basePath, base] of [["/chain/v4", "/chain/v4"], ["/strings", "/strings"], ["", ""]] as const) {
      await withThings({ basePath }, { things }, async ({ port }) => {
        for (const [path, form] of [["/things?limit=1", "number"], ["/strings/things?limit=1", "string"], ["/numbers/v2/things?limit=1", "number"]] as const) {
          const { text, json } = await ask(port, base + path);
          expect(text, base + path).to.include(asText[form]);
          const prefix = /^\/(?:strings|numbers)/.exec(path)?.[0] ?? "";
          expect(json).to.have.property("meta").that.includes({ next: `${base}${prefix}/v2/things?limit=1&page=2` });
        }
        expect((await ask(port, `${base}/strings`)).json).to.have.nested.property("data.health", `${base}/strings/health`);
      });
    }
  });

  describe("in the OpenAPI document", () => {
    type Node = Record<string, unknown>;
    const documentAt = async (path: string) => {
      const { json } = await get(path);
      return json as { paths: Record<string, { get?: { parameters?: { name: string; in: string }[] } }>; servers: { url: string }[]; components: { schemas: { Amount: Node } } };
    };
    const amountIn = ({ components }: Awaited<ReturnType<typeof documentAt>>): unknown => components.schemas.Amount;
    const headersOf = (parameters: { name: string; in: string }[] = []) => parameters.filter((parameter) => parameter.in === "header");

    it("is either where a header chooses it, and the header is described where a reply has amounts", async () => {
      const document = await documentAt("/api/openapi.json");
      expect(amountIn(document)).to.deep.equal({ anyOf: [{ type: "integer", format: "bigint" }, { type: "string", pattern: "^-?\\d{1,40}$", format: "bigint" }], format: "bigint" });
      for (const path of ["/things", "/things/{name}"]) {
        const [header, ...others] = headersOf(document.paths[path]?.get?.parameters);
        expect(header).to.deep.include({ name: "API-Amounts", required: false, schema: { type: "string", enum: ["number", "string"], default: "number" } });
        expect(others).to.deep.equal([]);
      }
      for (const path of ["/echo", "/health", "/v1/old/get"]) {
        expect(headersOf(document.paths[path]?.get?.parameters), path).to.deep.equal([]);
      }
    });

    it("is one form where the path chooses it, with the prefix in its server and no header", async () => {
      for (const [prefix, schema] of [["strings", { type: "string", pattern: "^-?\\d{1,40}$", format: "bigint" }], ["numbers", { type: "integer", format: "bigint" }]] as const) {
        const document = await documentAt(`/api/${prefix}/openapi.json`);
        expect(amountIn(document)).to.deep.equal(schema);
        expect(document.servers.map(({ url }) => url)).to.deep.equal([`../${prefix}`]);
        expect(document.paths).to.include.keys("/things", "/v1/old/get", "/");
        for (const { get: operation } of Object.values(document.paths)) expect(headersOf(operation?.parameters)).to.deep.equal([]);
      }
    });
  });
});
