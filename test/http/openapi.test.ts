import { STATUS_CODES } from "node:http";
import { expect } from "chai";
import { Ajv2020 } from "ajv/dist/2020.js";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Type } from "@sinclair/typebox";
import { v1Routes } from "../../src/api/v1/index.js";
import { v2Routes } from "../../src/api/index.js";
import { createOpenApi, type OpenApiDocument } from "../../src/http/openapi/document.js";
import { routesOf } from "../../src/http/route.js";
import { ask } from "./ask.js";
import { routes, type Served, serveThings, type ThingState, withThings } from "./things.js";

type Node = Record<string, unknown>;
const info = { title: "Things", version: "1" };
const options = { basePath: "/api", defaultVersion: 2, amounts: "number" } as const;

/** Every object in a document, at any depth. */
const nodes = (value: unknown): Node[] => {
  if (typeof value !== "object" || value === null) {
    return [];
  }
  return [...(Array.isArray(value) ? [] : [value as Node]), ...Object.values(value).flatMap(nodes)];
};

const at = (document: OpenApiDocument, pointer: string): unknown =>
  pointer
    .slice(2)
    .split("/")
    .reduce<unknown>((node, key) => (node as Node | undefined)?.[key], document);

/** What the document says of a reply. */
const described = (document: OpenApiDocument, path: string, method: string, status: string): { headers: Node; content: Node } => {
  const { responses } = document.paths[path]![method] as { responses: Record<string, Node> };
  const response = responses[status] ?? responses.default;
  return (typeof response?.$ref === "string" ? at(document, response.$ref) : response) as { headers: Node; content: Node };
};

/** Compiles a validator for a reply's schema. */
const validator = (document: OpenApiDocument, path: string, method: string, status: string) => {
  const content = described(document, path, method, status).content["application/json"] as { schema: Node };
  const ajv = new Ajv2020({ strict: true, strictTypes: false, formats: { bigint: true } });
  ajv.addVocabulary(["components"]);
  return ajv.compile({ ...content.schema, components: document.components, $id: "document" });
};

describe("the OpenAPI document", () => {
  let served: Served;
  let document: OpenApiDocument;
  before(async () => {
    served = await serveThings();
    document = (await ask(served.port, "/api/openapi.json")).json as OpenApiDocument;
  });
  after(() => served.stop());

  it("names paths of the server that it was asked of, also behind a proxy that strips what it has put before them", async () => {
    for (const basePath of ["/api", "/node/api", ""]) {
      await withThings({ basePath }, {}, async ({ port }) => {
        for (const folder of ["", "/v2", "/v1", "/strings", "/numbers/v2"]) {
          const path = `${basePath}${folder}/openapi.json`;
          const { servers } = (await ask(port, path)).json as { servers: { url: string }[] };
          expect(new URL(servers[0]?.url ?? "", `https://example.org/prefix${path}`).href.replace(/\/$/, ""), path).to.equal(`https://example.org/prefix${basePath}${folder.replace(/\/v\d$/, "")}`);
        }
      });
    }
  });

  it("is served as the edge built it, with an ETag", async () => {
    expect(document).to.deep.equal(JSON.parse(JSON.stringify(served.edge.openapi)));
    expect(document).to.include({ openapi: "3.1.0" });
    expect(document.info).to.deep.equal(info);
    const { headers } = await ask(served.port, "/api/v1/openapi.json");
    expect(headers).to.have.property("etag");
  });

  it("is valid by the schema of OpenAPI 3.1", async () => {
    for (const prefix of ["", "/numbers", "/strings"] as const) {
      const { valid, errors } = await new Validator().validate({ ...createOpenApi(routes, { ...options, prefix }, info) });
      expect(valid, JSON.stringify(errors)).to.equal(true);
    }
  });

  it("lists every route under a path where it can be called", () => {
    const expected = routes.map(
      ({ method, path, versions }) => `${method.toLowerCase()} ${versions.includes(2) ? "" : "/v1"}${path}`,
    );
    const written = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method} ${path}`),
    );
    expect(written.sort()).to.deep.equal([...expected, "get /", "get /docs", "get /health", "get /openapi.json"].sort());
    expect(document.tags.map(({ name }) => name)).to.deep.equal(["things", "hooks", "things (first generation)", "node"]);
    for (const { description } of document.tags) expect(description).to.match(/^[A-Z].+\.$/);
  });

  it("says of every operation and parameter what it is", () => {
    const made = createOpenApi([...v2Routes, ...v1Routes], options, info);
    for (const [path, item] of Object.entries(made.paths)) {
      for (const [method, { description, parameters = [] }] of Object.entries(item as Record<string, { description?: string; parameters?: { name: string; description?: string }[] }>)) {
        expect(description, `${method} ${path}`).to.match(/^[A-Z].+\.$/s);
        for (const parameter of parameters) expect(parameter.description, `${method} ${path}: ${parameter.name}`).to.match(/^[A-Z\d].+\.$/s);
      }
    }
    expect([made.servers, made.security]).to.deep.equal([[{ url: "../api", description: "This node." }], []]);
  });

  it("says of the timestamp filters of transactions that they go by the transaction's own time in version 1", () => {
    const made = createOpenApi([...v2Routes, ...v1Routes], options, info);
    for (const path of ["/transactions", "/votes", "/wallets/{id}/transactions", "/v1/transactions"]) {
      const { parameters } = made.paths[path]?.get as { parameters: { name: string; description: string }[] };
      const described = parameters.filter(({ name }) => /^timestamp(\.from|\.to)?$/.test(name)).map(({ description }) => description);
      expect(described, path).not.to.be.empty;
      for (const text of described) expect(text, path).to.match(/^Its own time in version 1, that of its block otherwise/);
    }
  });

  it("has only paths that begin with a slash, whatever the base path", () =>
    withThings({ basePath: "" }, {}, ({ edge: { openapi: { paths } } }) => {
      expect(paths["/"]).to.have.property("get");
      expect(Object.keys(paths).filter((path) => !path.startsWith("/"))).to.deep.equal([]);
      return Promise.resolve();
    }));

  it("follows the default generation", () => {
    const first = createOpenApi(routes, { ...options, defaultVersion: 1, basePath: "/x" }, info);
    expect(Object.keys(first.paths)).to.include.members(["/old/get", "/v2/things", "/hooks", "/both", "/v2/both"]);
  });

  it("gives every operation an id of its own", () => {
    const ids = Object.values(document.paths).flatMap((item) => Object.values(item).map(({ operationId }) => operationId));
    expect(new Set(ids).size).to.equal(ids.length);
    expect(ids).to.include.members(["getThings", "searchThings", "getThing", "getV1Old"]);
  });

  it("has no dangling references", () => {
    const references = nodes(document).flatMap(({ $ref }) => (typeof $ref === "string" ? [$ref] : []));
    expect(references).to.include("#/components/schemas/Thing");
    for (const reference of new Set(references)) {
      expect(at(document, reference), reference).to.be.an("object");
    }
    expect(document.components.schemas).to.include.keys("Thing", "Meta", "Amount", "GetThingsReply", "SearchThingsBody", "Failure", "FirstGenerationFailure", "Front", "Health");
  });

  it("exposes no internal annotations", () => {
    for (const node of nodes(document)) {
      expect(Object.keys(node).filter((key) => key.startsWith("x-"))).to.deep.equal([]);
    }
  });

  it("shows parameters as clients write them", () => {
    const { parameters } = document.paths["/echo"]?.get as {
      parameters: { name: string; required: boolean; schema: Node; explode?: boolean }[];
    };
    const byName = new Map(parameters.map((parameter) => [parameter.name, parameter]));
    expect([...byName.keys()]).to.deep.equal([
      "count",
      "plain",
      "share",
      "flag",
      "kind",
      "numbers",
      "amount",
      "height",
      "height.from",
      "height.to",
      "size.from",
      "size.to",
      "even",
      "orderBy",
    ]);
    expect(parameters.filter(({ required }) => required)).to.deep.equal([]);
    expect(byName.get("count")?.schema).to.deep.equal({ type: "integer", minimum: 0, maximum: 50, default: 7 });
    expect(byName.get("numbers")).to.include({ style: "form", explode: false });
    expect(byName.get("even")?.schema).to.deep.equal({ type: "integer", multipleOf: 2 });
    const order = byName.get("orderBy")?.schema as { enum: string[]; default: string };
    expect(order.default).to.equal("votes:desc");
    expect(order.enum).to.include.members(["votes:asc", "votes:desc", "producedBlocks:desc"]).and.to.not.include.members(["produced_blocks:desc", "votes"]);
    const old = document.paths["/v1/old/get"]?.get as { parameters: { name: string; required: boolean }[] };
    expect(old.parameters.map(({ name, required }) => [name, required])).to.deep.equal([
      ["name", true],
      ["limit", false],
    ]);
    const list = document.paths["/things/{name}/parts"]?.get as { parameters: { name: string; in: string }[] };
    expect(list.parameters.map(({ name, in: place }) => `${place} ${name}`)).to.deep.equal([
      "path name",
      "query page",
      "query limit",
      "query offset",
      "header API-Amounts",
    ]);
  });

  it("describes bodies as strictly as they are checked", () => {
    const { requestBody } = document.paths["/things/search"]?.post as {
      requestBody: { required: boolean; content: Record<string, { schema: Node }> };
    };
    expect(requestBody.required).to.equal(false);
    const schema = requestBody.content["application/json"]?.schema ?? {};
    const validate = new Ajv2020({ strict: true, strictTypes: false, formats: { bigint: true } }).addVocabulary(["components"]).compile({ ...schema, components: document.components });
    expect([
      validate({ size: { from: 1, to: "2" } }),
      validate({}),
      validate({ foo: 1 }),
      validate({ size: { form: 1 } }),
    ]).to.deep.equal([true, true, false, false]);
  });

  it("says of every operation that it may be answered with 503, as all are while the node is stopping", () => {
    for (const [path, item] of Object.entries(document.paths)) {
      for (const { responses } of Object.values(item)) expect(Object.keys(responses as Node), path).to.include(path === "/health" ? "default" : "503");
    }
  });

  it("says of every operation that it may be refused before it is one: as malformed, overdue, unmet in its Expect or too large", () => {
    for (const [path, item] of Object.entries(document.paths)) {
      for (const { responses } of Object.values(item)) expect(responses, path).to.include.keys("400", "408", "417", "431");
    }
    for (const status of ["408", "417", "431"]) {
      expect(described(document, "/things", "get", status).headers).to.have.all.keys("X-Request-Id");
      const validate = validator(document, "/things", "get", status);
      const reason = STATUS_CODES[status];
      expect(validate({ statusCode: Number(status), error: reason, message: reason, code: "INTERNAL" }), JSON.stringify(validate.errors)).to.equal(true);
    }
  });

  it("shows which operations need a token", () => {
    expect(document.paths["/hooks"]?.get)
      .to.have.property("security")
      .that.deep.equals([{ token: [] }]);
    expect(document.paths["/things"]?.get).not.to.have.property("security");
  });

  const replies: [string, string, string, string?][] = [
    ["/things", "/api/things?limit=3&page=2", "200"],
    ["/things", "/api/things?limit=300", "400"],
    ["/things/{name}", "/api/things/thing003", "200"],
    ["/things/{name}", "/api/things/nobody", "404"],
    ["/failing", "/api/failing", "500"],
    ["/", "/api", "200"],
    ["/health", "/api/health", "200"],
    ["/hooks", "/api/hooks", "401"],
    ["/v1/old/get", "/api/v1/old/get?name=thing003", "200"],
    ["/v1/old/get", "/api/v1/old/get?name=nobody", "200"],
    ["/openapi.json", "/api/openapi.json", "200"],
  ];
  for (const amounts of ["number", "string"] as const) {
    it(`describes the actual replies, with amounts as ${amounts}`, () =>
      withThings({ amounts }, {}, async ({ port, edge }) => {
        for (const [path, target, status] of replies) {
          const answer = await ask(port, target);
          expect(answer.status, target).to.equal(Number(status));
          const validate = validator(edge.openapi, path, "get", status);
          expect(validate(answer.json), `${target} ${JSON.stringify(validate.errors)}`).to.equal(true);
          if ((answer.json as Node).success === false) continue; // a failure of the first generation
          const headers = Object.keys(described(edge.openapi, path, "get", status).headers);
          expect(headers.includes("ETag"), `${target}: ETag`).to.equal(answer.headers.etag !== undefined);
          for (const name of ["X-Block-Height", "WWW-Authenticate"]) expect(headers.includes(name) || answer.headers[name.toLowerCase()] === undefined, `${target}: ${name}`).to.equal(true);
        }
      }));
  }

  for (const [prefix, schema] of [
    ["", { anyOf: [{ type: "integer", format: "bigint" }, { type: "string", pattern: "^-?\\d{1,40}$", format: "bigint" }], format: "bigint" }],
    ["/numbers", { type: "integer", format: "bigint" }],
    ["/strings", { type: "string", pattern: "^-?\\d{1,40}$", format: "bigint" }],
  ] as const) {
    it(`describes amounts in ${prefix === "" ? "either form" : `one form below ${prefix}`}, and the actual replies there`, async () => {
      const { json } = await ask(served.port, `/api${prefix}/openapi.json`);
      const described = json as OpenApiDocument;
      const thing = (described.components.schemas as Record<string, { properties: Node }>).Thing;
      expect(thing?.properties.size).to.deep.equal({ $ref: "#/components/schemas/Amount" });
      expect(at(described, "#/components/schemas/Amount")).to.deep.equal(schema);
      const accepted = (text: string) => validator(described, "/things/{name}", "get", "200")(JSON.parse(text));
      for (const form of ["numbers", "strings"]) {
        const { text } = await ask(served.port, `/api/${form}/things/thing003`);
        expect(accepted(text), form).to.equal(prefix === "" || prefix === `/${form}`);
      }
    });
  }

  it("has a generation alone where it is asked for, with only the schemas of that", async () => {
    const [first, second, none] = await Promise.all([1, 2, 3].map((generation) => ask(served.port, `/api/openapi.json?generation=${generation}`)));
    const pathsOf = (answer = second) => Object.keys((answer?.json as OpenApiDocument).paths);
    expect(pathsOf(first)).to.include.members(["/v1/old/get", "/v1/both", "/hooks"]).and.to.not.include("/things");
    expect(pathsOf()).to.include.members(["/things", "/both", "/hooks"]);
    expect(pathsOf().filter((path) => path.startsWith("/v1"))).to.deep.equal([]);
    expect((second?.json as OpenApiDocument).components.schemas).to.not.have.property("FirstGenerationFailure");
    expect(none?.status).to.equal(400);
  });

  it("refuses two different schemas with one name", () => {
    const route = (path: string, reply: ReturnType<typeof Type.Object>) =>
      routesOf<ThingState>().item({
        method: "GET",
        path,
        versions: [2],
        resource: "x",
        summary: "X.",
        reply,
        answer: () => ({}),
      });
    const named = (path: string, more: Record<string, ReturnType<typeof Type.String>>) =>
      route(path, Type.Object(more, { title: "Thing" }));
    expect(() => createOpenApi([named("/a", {}), named("/b", {})], options, info)).not.to.throw();
    expect(() => createOpenApi([named("/a", {}), named("/b", { c: Type.String() })], options, info)).to.throw(
      'Two schemas are called "Thing".',
    );
  });
});
