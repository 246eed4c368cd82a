import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { expect } from "chai";
import fc from "fast-check";
import { stringify } from "lossless-json";
import { loadChain } from "../data/read.js";
import { createReplyCheck } from "../e2e/reply-check.js";
import { count } from "../fixtures/long.js";
import { startNode } from "../fixtures/node.js";

interface Parameter {
  name: string;
  in: string;
  schema: Schema;
}

type Schema = Record<string, unknown> & { $ref?: string; properties?: Record<string, Schema>; items?: Schema; anyOf?: Schema[]; enum?: unknown[]; type?: string | string[] };

interface Operation {
  method: string;
  path: string;
  parameters: Parameter[];
  body: Schema | undefined;
}

interface Document {
  paths: Record<string, Record<string, { parameters?: (Parameter & { $ref?: string })[]; requestBody?: { content: Record<string, { schema: Schema }> } }>>;
}

interface Sent {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer | undefined;
}

/** Milliseconds that a reply may take. */
const longest = 250;

/** Milliseconds for which this process's threads were ready to run and had no processor, all together: what a machine that others use adds to a reply. Linux. */
const heldUp = (): number =>
  readdirSync("/proc/self/task").reduce((sum, thread) => {
    try {
      return sum + Number(readFileSync(`/proc/self/task/${thread}/schedstat`, "utf8").split(" ")[1]) / 1e6;
    } catch {
      // It has ended.
      return sum;
    }
  }, 0);

const token = "a-token-of-thirty-two-characters!";
const chain = loadChain("core3-custom-c");
const blocks = chain.blocks.slice(0, 120);

/** What the chain has, and what looks like it. */
const known = blocks.flatMap(({ id, height, generatorPublicKey, transactions = [] }) => [
  id,
  String(height),
  generatorPublicKey,
  ...transactions.flatMap((one) => [one.id, one.senderPublicKey, one.recipientId, one.vendorField]).filter((text) => typeof text === "string"),
]);

const odd = ["", " ", "0", "-1", "1e3", "1.5", "00", "NaN", "9007199254740993", "9".repeat(400), "true", "null", "{}", "[]", "__proto__", "constructor", "toString", "\u0000", "é\u0301", "\ud800", "%", "..", "../..", "x".repeat(3_000), "1,2,3", "asc", "amount:desc", ":", "genesis", "tip"];

const text = fc.oneof(fc.constantFrom(...known), fc.constantFrom(...odd), fc.string({ maxLength: 20 }), fc.integer().map(String), fc.bigInt().map(String));

/** Any JSON, with a taste for what breaks things. */
const anything: fc.Arbitrary<unknown> = fc.oneof(
  text,
  fc.integer(),
  fc.double(),
  fc.constantFrom(null, true, false, 1e22, 9007199254740993n, -0),
  fc.array(fc.jsonValue({ maxDepth: 2 }), { maxLength: 4 }),
  fc.jsonValue({ maxDepth: 3 }),
);

/** Bigints become numbers with all their digits. */
const jsonOf = (value: unknown): string => stringify(value) ?? "null";

describe("random requests made from the OpenAPI document", () => {
  let port: number;
  let document: Document;
  let operations: Operation[];
  const errors: string[] = [];
  // One connection: it has to be usable after whatever was sent.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });

  before(async () => {
    ({ port } = await startNode({
      network: chain.network,
      blocks,
      pool: { list: () => [], get: () => undefined, submit: (given) => ({ accept: given.map(({ id }) => id), broadcast: [], excess: [], invalid: [] }) },
      peers: { list: () => [] },
      logger: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: (message) => void errors.push(message) },
      options: { staleAfter: false, webhooks: { tokens: [token] } },
    }));
    document = JSON.parse((await send({ method: "GET", path: "/api/openapi.json", headers: {}, body: undefined })).text) as Document;
    operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { parameters = [], requestBody }]) => ({
        method: method.toUpperCase(),
        path,
        parameters: parameters.map((one) => resolved(one as unknown as Schema) as unknown as Parameter),
        body: requestBody && resolved(Object.values(requestBody.content)[0]?.schema ?? {}),
      })),
    );
    // What has no end of its own, or is no JSON.
    operations = operations.filter(({ path }) => !/\/(?:events|changes|lake|metrics|docs|console)\b/.test(path) || path.includes("/webhooks"));
  });
  after(() => agent.destroy());

  const resolved = (schema: Schema): Schema => {
    if (schema.$ref === undefined) return schema;
    return resolved(schema.$ref.slice(2).split("/").reduce<unknown>((at, part) => (at as Record<string, unknown>)[decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~")], document) as Schema);
  };

  const send = async ({ method, path, headers, body }: Sent): Promise<{ status: number; text: string; type: string; waited: number }> => {
    const begun = performance.now();
    const sent = request({ host: "127.0.0.1", port, method, path, headers, agent });
    sent.end(body);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    return { status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8"), type: response.headers["content-type"] ?? "", waited: performance.now() - begun };
  };

  /** The least of some tries: what they all take is the request's own, not a collection of garbage or a compilation. */
  const leastTime = async (sent: Sent): Promise<number> => {
    let least = Infinity;
    for (let tries = 0; tries < 5 && least > longest; tries++) {
      const before = heldUp();
      const { waited } = await send(sent);
      least = Math.min(least, waited - (heldUp() - before));
    }
    return least;
  };

  /** A value that a schema may have, or not quite. */
  const valueOf = (given: Schema, depth = 0): fc.Arbitrary<unknown> => {
    const schema = resolved(given);
    if (depth > 4) return anything;
    const choices: fc.Arbitrary<unknown>[] = [anything];
    if (schema.enum !== undefined) choices.push(fc.constantFrom(...schema.enum));
    for (const one of schema.anyOf ?? []) choices.push(valueOf(one, depth + 1));
    if (schema.properties !== undefined) {
      const members = Object.fromEntries(Object.entries(schema.properties).map(([name, one]) => [name, valueOf(one, depth + 1)]));
      choices.push(fc.record(members, { requiredKeys: [] }), fc.record(members, { requiredKeys: [] }));
    }
    if (schema.items !== undefined) choices.push(fc.array(valueOf(schema.items, depth + 1), { maxLength: 5 }));
    const types = [schema.type ?? []].flat();
    if (types.includes("integer") || types.includes("number")) choices.push(fc.integer({ min: -2, max: 200 }), fc.integer());
    if (types.includes("string")) choices.push(text);
    return fc.oneof(...choices);
  };

  const inPath = (value: unknown): string => encodeURIComponent((typeof value === "string" || typeof value === "number" ? String(value) : jsonOf(value)).replace(/[\ud800-\udfff]/g, "") || "0");

  const requestFor = ({ method, path, parameters, body }: Operation): fc.Arbitrary<Sent> => {
    const named = (where: string) => parameters.filter((one) => one.in === where);
    const pathArbitrary = fc.tuple(...named("path").map(({ name, schema }) => fc.oneof(text, valueOf(schema)).map((value) => [name, inPath(value)] as const)));
    const pair = fc.oneof(
      ...named("query").map(({ name, schema }) => fc.oneof(valueOf(schema), text).map((value) => `${name}=${inPath(value)}`)),
      fc.tuple(text, text).map(([name, value]) => `${inPath(name)}=${inPath(value)}`),
      fc.constantFrom("page=0", "limit=101", "limit=1&limit=2", "page[a]=1", "transform=false", "a.b.c=1"),
    );
    const headers = fc.record({ authorization: fc.constantFrom(`Bearer ${token}`, `Bearer ${token}`, "Bearer x", ""), "content-type": fc.constantFrom("application/json", "application/json", "text/plain", "application/json;charset=latin1"), "api-amounts": fc.constantFrom("string", "number", "both") }, { requiredKeys: [] });
    const bodyText = body === undefined ? fc.constant(undefined) : fc.oneof({ weight: 8, arbitrary: valueOf(body).map(jsonOf) }, { weight: 1, arbitrary: fc.string() }, { weight: 1, arbitrary: fc.constant(undefined) });
    const coding = fc.constantFrom("", "", "", "gzip", "br", "deflate", "gzip, gzip");
    return fc.tuple(pathArbitrary, fc.array(pair, { maxLength: 4 }), headers, bodyText, coding).map(([values, pairs, given, json, encoding]) => {
      const filled = values.reduce((so, [name, value]) => so.replace(`{${name}}`, value), `/api${path}`);
      const bytes = json === undefined ? undefined : encoding === "gzip" ? gzipSync(json) : encoding === "br" ? brotliCompressSync(json) : Buffer.from(json);
      const sentHeaders = { ...given, ...(json !== undefined && encoding !== "" ? { "content-encoding": encoding } : {}), ...(bytes === undefined ? {} : { "content-length": String(bytes.length) }) };
      return { method, path: pairs.length === 0 ? filled : `${filled}?${pairs.join("&")}`, headers: sentHeaders, body: bytes };
    });
  };

  it("get replies that it describes within 250 ms, never a 5xx that it does not expect, and leave the connection usable", async () => {
    const check = createReplyCheck(document);
    const runs = count(120, 200_000);
    const slowest = { waited: 0, what: "" };
    const statuses: Record<number, number> = {};
    const one = fc.nat().chain((at) => requestFor(operations[at % operations.length] as Operation));
    await fc.assert(
      fc.asyncProperty(one, async (sent) => {
        const { status, text: body, type, waited: first } = await send(sent);
        statuses[status] = (statuses[status] ?? 0) + 1;
        const waited = first > longest ? await leastTime(sent) : first;
        expect(waited, `${sent.method} ${sent.path.slice(0, 200)}`).to.be.at.most(longest);
        if (waited > slowest.waited) Object.assign(slowest, { waited, what: `${sent.method} ${sent.path.slice(0, 200)}` });
        expect(status, body).to.be.oneOf([200, 201, 204, 301, 308, 400, 401, 404, 405, 409, 410, 413, 415, 422, 501]);
        if (type.startsWith("application/json")) check({ method: sent.method, path: sent.path, status, body: JSON.parse(body) });
        else expect(status).to.be.below(400);
      }),
      { numRuns: runs, endOnFailure: runs > 1_000 },
    );
    expect(errors).to.deep.equal([]);
    expect((await send({ method: "GET", path: "/api/blockchain", headers: {}, body: undefined })).status).to.equal(200);
    if (runs > 1_000) console.log(statuses, slowest);
    expect(statuses).to.include.keys(runs > 1_000 ? [200, 400, 401, 404] : [200, 400]);
  });
});
