import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { expect } from "chai";
import { coreAssets } from "../../src/api/v2/transactions.js";
import { createChainRules } from "../../src/chain/rules.js";
import { loadChain } from "../data/read.js";
import { startStoredNode } from "../fixtures/stored-chain.js";

type Media = Record<string, { schema: object; example?: unknown }>;
interface Operation {
  operationId: string;
  parameters?: { in: string; name: string; example?: unknown; schema: object }[];
  requestBody?: { content: Media };
  responses: Record<string, { content?: Media }>;
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: { requestBody: { content: Media } } }>;
}

const name = "core3-custom-c";
const chain = loadChain(name);

/** Those that answer with themselves, with a page, or with bytes. */
const without = ["getDocs", "getLakeBlockFile", "getLakeOlderManifest", "getLakeSnapshotFile", "getOpenapiJson"];

const pointer = (...parts: string[]): string => parts.map((part) => `/${encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"))}`).join("");

const validators = (document: object): ((...parts: string[]) => ValidateFunction) => {
  const ajv = new Ajv2020({ strict: false, formats: { bigint: true, "date-time": (text: string) => !Number.isNaN(Date.parse(text)) } });
  ajv.addSchema(document, "openapi");
  return (...parts) => ajv.compile({ $ref: `openapi#${pointer(...parts)}` });
};

describe("the examples of the OpenAPI document", () => {
  let origin: string;
  const documentOf = async (prefix: string): Promise<Document> => (await (await fetch(`${origin}/api${prefix}/openapi.json`)).json()) as Document;

  before(async () => {
    ({ origin } = await startStoredNode(name, { options: { staleAfter: false, metrics: true } }));
  });

  for (const prefix of ["", "/numbers", "/strings"]) {
    it(`are there for each reply, request body and parameter of a path, and are as their schemas say${prefix === "" ? "" : `, below ${prefix}`}`, async () => {
      const document = await documentOf(prefix);
      const validatorOf = validators(document);
      const missing = new Set<string>();
      for (const [path, methods] of Object.entries(document.paths)) {
        for (const [method, { operationId, parameters = [], requestBody, responses }] of Object.entries(methods)) {
          const status = ["200", "201", "202", "default"].find((one) => responses[one]?.content !== undefined) ?? "";
          const content = responses[status]?.content ?? {};
          const described: [unknown, string[]][] = Object.entries(content).map(([type, { example }]) => [example, ["paths", path, method, "responses", status, "content", type, "schema"]]);
          if (requestBody !== undefined) described.push([requestBody.content["application/json"]?.example, ["paths", path, method, "requestBody", "content", "application/json", "schema"]]);
          parameters.forEach((parameter, place) => parameter.in === "path" && described.push([parameter.example, ["paths", path, method, "parameters", String(place), "schema"]]));
          for (const [example, at] of described) {
            if (example === undefined) missing.add(operationId);
            else {
              const validate = validatorOf(...at);
              expect(validate(example), `${operationId}: ${at.join(" ")} ${JSON.stringify(validate.errors)}`).to.equal(true);
            }
          }
        }
      }
      expect([...missing].sort()).to.deep.equal(without);
    });
  }

  it("write amounts below /strings as text", async () => {
    const { paths } = await documentOf("/strings");
    const reply = paths["/wallets/{id}"]?.get?.responses["200"]?.content?.["application/json"]?.example as { data: { balance: unknown } };
    expect(reply.data.balance).to.be.a("string").and.to.match(/^\d+$/);
  });

  it("have requests of webhooks that are as their schemas say, with data of each event's own", async () => {
    const document = await documentOf("");
    const validatorOf = validators(document);
    const titles = new Set<string>();
    for (const [event, { post }] of Object.entries(document.webhooks)) {
      const { example, schema } = post.requestBody.content["application/json"] ?? expect.fail(event);
      const validate = validatorOf("webhooks", event, "post", "requestBody", "content", "application/json", "schema");
      expect(validate(example), `${event}: ${JSON.stringify(validate.errors)}`).to.equal(true);
      expect(validate({ ...(example as object), [event === "batch" ? "events" : "event"]: "another.event" }), event).to.equal(false);
      titles.add(JSON.stringify(schema));
    }
    expect(titles.size).to.equal(Object.keys(document.webhooks).length);
  });

  it("describe what the events of a real chain carry", async () => {
    const document = await documentOf("");
    const validatorOf = validators(document);
    const seen = new Map<string, ValidateFunction>();
    for (let after = "genesis", more = true; more; ) {
      const { data, meta } = (await (await fetch(`${origin}/api/events/feed?limit=1000&after=${after}`)).json()) as { data: { event: string }[]; meta: { cursor: string; more: boolean } };
      for (const event of data) {
        const validate = seen.get(event.event) ?? validatorOf("webhooks", event.event, "post", "requestBody", "content", "application/json", "schema");
        seen.set(event.event, validate);
        expect(validate(event), `${JSON.stringify(event)} ${JSON.stringify(validate.errors)}`).to.equal(true);
      }
      [after, more] = [meta.cursor, meta.more];
    }
    expect([...seen.keys()]).to.include.members(["block.applied", "transaction.applied", "delegate.registered", "wallet.vote", "round.applied", "round.created"]);
  });

  it("describe the assets of every core type that a real chain has", () => {
    const ajv = new Ajv2020({ strict: false });
    const { types } = createChainRules(chain.network);
    const seen = new Map<string, ValidateFunction>();
    for (const transaction of chain.blocks.flatMap(({ transactions = [] }) => transactions)) {
      const { key } = types.of({ ...transaction, typeGroup: transaction.typeGroup ?? 1, version: transaction.version ?? 1 });
      if (transaction.typeGroup === 2 || transaction.asset === undefined || !(key in coreAssets)) continue;
      const schema: object = coreAssets[key as keyof typeof coreAssets];
      const validate = seen.get(key) ?? ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"type":"integer","x-amount":true', '"type":"string"')) as object);
      seen.set(key, validate);
      expect(validate(transaction.asset), `${key} ${JSON.stringify(transaction.asset)}`).to.equal(true);
    }
    expect([...seen.keys()].sort()).to.deep.equal(Object.keys(coreAssets).sort());
  });
});
