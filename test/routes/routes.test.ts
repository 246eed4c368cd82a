import { expect } from "chai";
import { ask as askAt } from "../http/ask.js";
import { createReplyCheck } from "../e2e/reply-check.js";
import { type Asked, routeCases } from "./cases.js";
import { type RouteName, routeNames } from "./names.js";
import { startWholeNode, type WholeNode } from "./node.js";

interface Operation {
  operationId: RouteName;
  parameters?: { name?: string; $ref?: string }[];
  responses: Record<string, { content?: Record<string, unknown> }>;
}

describe("every route", () => {
  let node: WholeNode;
  let layers: Map<RouteName, { method: string; matches(path: string): boolean }>;
  let operations: Map<RouteName, Operation>;
  let check: ReturnType<typeof createReplyCheck>;

  before(async () => {
    node = await startWholeNode();
    const document = (await (await fetch(`${node.origin}/api/openapi.json`)).json()) as { paths: Record<string, Record<string, Operation>> };
    check = createReplyCheck(document);
    operations = new Map(Object.values(document.paths).flatMap((item) => Object.values(item).map((operation) => [operation.operationId, operation] as const)));
    layers = new Map(
      node.plugin.router.stack.flatMap((layer) => (layer.name === undefined ? [] : [[layer.name as RouteName, { method: layer.methods.at(-1)!, matches: (path: string) => layer.match(path) }] as const])),
    );
  });
  after(() => node.stop());

  /** Sends it to the route of this name and no other. Of a stream, reads the first part. */
  const ask = async (name: RouteName, asked: Asked, methodInstead?: string) => {
    const { method, matches } = layers.get(name)!;
    const { path, body } = typeof asked === "string" ? { path: asked, body: undefined } : asked;
    expect(matches(`/api${path}`.replace(/\?.*/, "")), `${path} is one of ${name}`).to.equal(true);
    const leaving = new AbortController();
    const response = await fetch(`${node.origin}/api${path}`, {
      method: methodInstead ?? method,
      headers: { authorization: node.token, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: leaving.signal,
    });
    const type = response.headers.get("content-type")?.split(";", 1)[0] ?? "";
    const parts: Uint8Array[] = [];
    for await (const part of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      parts.push(part);
      if (type === "text/event-stream") break;
    }
    leaving.abort();
    const bytes = Buffer.concat(parts);
    const replied = { method, path: `/api${path}`, status: response.status, body: type === "application/json" && bytes.length > 0 ? (JSON.parse(bytes.toString()) as Record<string, unknown>) : undefined };
    return { ...replied, declared: operations.get(name)?.responses[response.status], type, bytes, headers: response.headers };
  };

  it("has a name for which there is a case, and by which the document has it, but for the parts of a page", () => {
    expect([...layers.keys()].sort(), "`npm run docs` writes the names").to.deep.equal([...routeNames]);
    expect(routeNames.filter((name) => !operations.has(name))).to.deep.equal(["getDocsFile"]);
  });

  for (const name of routeNames) {
    const { answered, refused } = routeCases[name];
    it(`answers as its document says: ${name}`, async () => {
      const reply = await ask(name, answered(node.subjects));
      expect(reply.status, reply.bytes.toString()).to.be.within(200, 299);
      expect(reply.declared !== undefined, `the document has its ${reply.status}`).to.equal(operations.has(name));
      if (reply.declared?.content !== undefined) {
        expect(Object.keys(reply.declared.content)).to.include(reply.type);
        expect(reply.bytes.length).to.be.greaterThan(0);
      }
      if (reply.body !== undefined && reply.declared?.content?.["application/json"] !== undefined) check(reply);
      if (name.includes("V1")) expect(reply.body).to.have.property("success", true);
    });

    if (refused !== undefined) {
      it(`refuses as its document says: ${name}`, async () => {
        const reply = await ask(name, refused.ask(node.subjects));
        expect(reply.status, JSON.stringify(reply.body)).to.equal(refused.status);
        if (operations.has(name)) check(reply);
        expect(reply.body).to.include(name.includes("V1") ? { success: false } : { statusCode: refused.status });
      });
    }
  }

  it("has a strong ETag, by which it answers 304, if it is a GET that takes `at`, but for the statement, which is streamed", async () => {
    const takers = [...operations].filter(([name, { parameters = [] }]) => layers.get(name)!.method === "GET" && parameters.some((parameter) => parameter.name === "at" || parameter.$ref?.endsWith("/at")));
    expect(takers.length).to.be.above(20);
    const without: RouteName[] = [];
    for (const [name] of takers) {
      const asked = routeCases[name].answered(node.subjects);
      const path = typeof asked === "string" ? asked : asked.path;
      // Not by fetch, which adds `no-cache` to If-None-Match: then it is the whole.
      const get = (headers = {}) => askAt(Number(new URL(node.origin).port), `/api${path}`, { headers });
      const { etag } = (await get()).headers;
      if (etag === undefined) without.push(name);
      else {
        expect(etag).to.match(/^"[^"]+"$/);
        expect((await get({ "if-none-match": etag })).status, name).to.equal(304);
      }
    }
    expect(without).to.deep.equal(["getWalletStatement"]);
  });

  it("answers HEAD with the headers of GET, without a body", async () => {
    for (const name of routeNames) {
      if (layers.get(name)!.method !== "GET") continue;
      const asked = routeCases[name].answered(node.subjects);
      const [get, head] = [await ask(name, asked), await ask(name, asked, "HEAD")];
      expect([head.status, head.type, head.bytes.length], name).to.deep.equal([get.status, get.type, 0]);
    }
  });
});
