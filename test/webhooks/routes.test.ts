import type { ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { EventEmitter } from "eventemitter3";
import { expect } from "chai";
import { Validator } from "@seriousme/openapi-schema-validator";
import type { ApiPlugin } from "../../types/plugin.js";
import type { OpenApiDocument } from "../../src/http/openapi/document.js";
import { knownEvents } from "../../src/follow/event-catalogue.js";
import { bookingEvents } from "../../src/follow/event-names.js";
import { loadChain } from "../data/read.js";
import { startNode } from "../fixtures/node.js";
import { createMemoryAdapter } from "../memory-adapter/adapter.js";
import { createReceiver, type Received, type Receiver } from "./receiver.js";
import { eventually, localTargets } from "./stage.js";

const token = "the-operator's-token";

interface Answer {
  status: number;
  headers: Headers;
  text: string;
  body: { data?: unknown; meta?: unknown } & Record<string, unknown>;
}

/** Headers of answers that routes describe where they send them. */
const describedHeaders = ["X-Block-Height", "WWW-Authenticate", "Retry-After", "ETag"];

interface Reply {
  headers: object;
  content: { "application/json": { schema: object } };
}

interface OutgoingOperation {
  summary: string;
  parameters: { name: string }[];
  requestBody: { content: { "application/json": { schema: object; example: { event: string } } } };
}

describe("the webhook routes", () => {
  let plugin: ApiPlugin;
  let events: EventEmitter;
  let receiver: Receiver;
  let origin: string;
  let validate: (method: string, path: string, answer: Answer) => void;

  const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> => {
    const text = typeof body === "string" ? body : body === undefined ? undefined : JSON.stringify(body);
    const response = await fetch(`${origin}/api${path}`, {
      method,
      headers: { authorization: token, ...(text === undefined ? {} : { "content-type": "application/json" }), ...headers },
      ...(text === undefined ? {} : { body: text }),
    });
    const answered = await response.text();
    const answer: Answer = { status: response.status, headers: response.headers, text: answered, body: JSON.parse(answered) as Answer["body"] };
    validate(method, path, answer);
    return answer;
  };
  const get = (path: string, headers?: Record<string, string>) => send("GET", path, undefined, headers);
  const create = async (more: object = {}): Promise<Record<string, unknown>> => {
    const { body } = await send("POST", "/webhooks", { event: "peer.added", target: receiver.url, ...more });
    return body.data as Record<string, unknown>;
  };
  const settled = (id: unknown, state: string, total: number) =>
    eventually(() => (plugin.webhooks!.deliveries(Number(id), state as never, { offset: 0, limit: 1 }).total >= total ? true : undefined));

  before(async () => {
    receiver = await createReceiver();
    ({ plugin, events, origin } = await startNode({
      options: { webhooks: { tokens: [token, "another-token"], allowTargets: localTargets, events: ["fork.happened"], schedule: [] } },
    }));
    validate = await openApiCheck(origin);
  });
  beforeEach(async () => {
    const { rows } = plugin.webhooks!.list({ offset: 0, limit: 1_000 });
    for (const { id } of rows) plugin.webhooks!.remove(id);
    receiver.received.length = 0;
    receiver.answer = (_request, response) => response.end();
    await plugin.settled();
  });

  describe("authentication", () => {
    const paths = ["/webhooks", "/v1/webhooks", "/v2/webhooks", "/webhooks/1", "/webhooks/events", "/webhooks/1/deliveries", "/webhooks/1/deliveries/1"];
    for (const path of paths) {
      for (const authorization of ["", "wrong-token", "Bearer wrong-token", `${token}x`, `Basic ${token}`]) {
        it(`refuses GET ${path} with "${authorization}"`, async () => {
          const answer = await get(path, { authorization });
          expect(answer.status).to.equal(401);
          expect(answer.body).to.deep.equal({ statusCode: 401, error: "Unauthorized", message: "Missing or invalid webhook token. Send it in the Authorization header.", code: "UNAUTHORIZED" });
          expect(answer.headers.get("www-authenticate")).to.match(/^Bearer/);
        });
      }
    }

    it("comes before any other check of a request", async () => {
      for (const [method, path, body] of [
        ["POST", "/webhooks", "{not json"],
        ["POST", "/webhooks/dry-run", {}],
        ["PUT", "/webhooks/1", {}],
        ["DELETE", "/webhooks/1", undefined],
        ["POST", "/webhooks/1/ping", undefined],
        ["POST", "/webhooks/1/rotate", undefined],
        ["POST", "/webhooks/1/recover", {}],
        ["POST", "/webhooks/1/deliveries/1/redeliver", undefined],
      ] as const) {
        expect((await send(method, path, body, { authorization: "wrong-token" })).status, `${method} ${path}`).to.equal(401);
      }
    });

    for (const authorization of [token, `Bearer ${token}`, `bearer ${token}`, "another-token"]) {
      it(`accepts "${authorization}"`, async () => {
        expect((await get("/webhooks", { authorization })).status).to.equal(200);
      });
    }
  });

  describe("the contract", () => {
    it("says what a replacement needs, that PATCH changes a part, and which event a misspelt one may be", async () => {
      const told = async (method: string, path: string, body: unknown): Promise<unknown> => {
        const { status, body: reply } = await send(method, path, body);
        return [status, (reply as { message: string }).message];
      };
      const { id } = ((await send("POST", "/webhooks", { event: "block.applied", target: "http://example.org", enabled: false })).body as { data: { id: number } }).data;
      const whole = "PUT replaces the whole webhook; PATCH changes only what is given";
      expect(await told("PUT", `/webhooks/${id}`, { enabled: true })).to.deep.equal([400, `"target" is required: ${whole}`]);
      expect(await told("PUT", `/webhooks/${id}`, { target: "http://example.org" })).to.deep.equal([400, `"event" or "events" is required: ${whole}`]);
      expect(await told("POST", "/webhooks", { event: "block.applied" })).to.deep.equal([400, '"target" is required']);
      const [status, message] = (await told("POST", "/webhooks", { events: ["block.forgd"], target: "http://example.org" })) as [number, string];
      expect(status).to.equal(400);
      expect(message).to.match(/"events\.0" must be a pattern such as transaction\.\*, or one of .*block\.forged.*; did you mean "block\.forged"\?$/);
      expect((await send("DELETE", `/webhooks/${id}`)).status).to.equal(200);
    });

    it("creates, shows, lists, replaces and removes webhooks", async () => {
      const conditions = [{ key: "generatorPublicKey", condition: "eq", value: "02def27da9336e7fbf63131b8d7e5c9f45b296235db035f1f4242c507398f0f21d" }];
      const created = await send("POST", "/webhooks", { event: "block.forged", target: "https://example.com/hook?a=b", enabled: "true", conditions });
      expect(created.status).to.equal(201);
      const { id, token: secretToken, secret, ...rest } = created.body.data as Record<string, unknown>;
      expect(id).to.be.a("number");
      expect(secretToken).to.match(/^[0-9a-f]{64}$/);
      expect(secret).to.equal(`whsec_${Buffer.from(String(secretToken), "hex").toString("base64")}`);
      expect(rest).to.deep.include({ event: "block.forged", target: "https://example.com/hook?a=b", enabled: true, conditions, match: "any", confirmations: 0 });

      const shown = await get(`/webhooks/${String(id)}`);
      expect(shown.body).to.deep.equal({ data: { id, ...rest } });
      expect(shown.text).not.to.include(String(secretToken));
      const listed = await get("/webhooks");
      expect(listed.body).to.deep.equal({
        meta: {
          count: 1,
          pageCount: 1,
          totalCount: 1,
          next: null,
          previous: null,
          self: "/api/v2/webhooks?page=1&limit=100",
          first: "/api/v2/webhooks?page=1&limit=100",
          last: "/api/v2/webhooks?page=1&limit=100",
        },
        data: [{ id, ...rest }],
      });

      const replaced = await send("PUT", `/webhooks/${String(id)}`, { event: "block.applied", target: "http://example.org", enabled: false, conditions: [] });
      expect(replaced.status).to.equal(200);
      expect(replaced.text).to.equal("{}");
      expect((await get(`/webhooks/${String(id)}`)).body.data).to.deep.include({ id, event: "block.applied", enabled: false, conditions: [] });

      const removed = await send("DELETE", `/webhooks/${String(id)}`);
      expect([removed.status, removed.text]).to.deep.equal([200, "{}"]);
      expect((await get(`/webhooks/${String(id)}`)).status).to.equal(404);
    });

    it("takes names and patterns in `events`, which win over `event`, and in PUT what GET gives", async () => {
      const { id } = await create({ event: "peer.added", events: ["peer.*", "block.applied"], order: "none", batch: { size: 3, wait: 20 }, rate: 5, headers: { "x-own": "1" }, description: "all of it", tags: ["a"], confirmations: "final" });
      const path = `/webhooks/${String(id)}`;
      const { data } = (await get(path)).body;
      expect(data).to.deep.include({ event: "peer.*", events: ["peer.*", "block.applied"], order: "none", batch: { size: 3, wait: 20 }, rate: 5, headers: { "x-own": "1" }, description: "all of it", tags: ["a"], confirmations: "final", signature: "v1" });
      expect((await send("PUT", path, data)).status).to.equal(200);
      expect((await get(path)).body.data).to.deep.equal(data);
    });

    it("is the same under every version of the interface", async () => {
      await create();
      const bodies = await Promise.all([
        get("/webhooks"),
        get("/v2/webhooks"),
        get("/v1/webhooks"),
        get("/webhooks", { "api-version": "1" }),
        get("/webhooks", { "api-version": "2" }),
      ]);
      for (const { status, text } of bodies) expect([status, text]).to.deep.equal([200, bodies[0].text]);
    });

    it("returns pages, and keeps every digit of a condition's value", async () => {
      const text = `{"event":"block.applied","target":"${receiver.url}","conditions":[{"key":"reward","condition":"gt","value":12500000000000000001}]}`;
      for (let count = 0; count < 3; count++) await send("POST", "/webhooks", text);
      const second = await get("/webhooks?limit=2&page=2");
      expect(second.body.meta).to.deep.include({ count: 1, pageCount: 2, totalCount: 3, next: null, previous: "/api/v2/webhooks?limit=2&page=1" });
      expect(second.text).to.include('"value":12500000000000000001}');
    });

    it("show how long a target is paused, which PATCH ends with null and nothing else does", async () => {
      receiver.answer = (_request, response) => response.writeHead(429, { "retry-after": "600" }).end();
      const { id, pausedUntil } = await create();
      expect(pausedUntil).to.equal(null);
      events.emit("peer.added", {});
      await settled(id, "dead", 1);
      const path = `/webhooks/${String(id)}`;
      const { data } = (await get(path)).body as { data: { pausedUntil: number } };
      expect(data.pausedUntil - Date.now()).to.be.within(1, 600_000);
      expect((await get("/webhooks")).body.data).to.deep.equal([data]);
      expect((await send("PUT", path, data)).status).to.equal(200);
      expect(await create({ ...data })).to.include({ pausedUntil: data.pausedUntil });
      for (const value of [data.pausedUntil, 0, ""]) {
        const refused = await send("PATCH", path, { pausedUntil: value });
        expect([refused.status, refused.body.message, refused.body.validation]).to.deep.equal([400, '"pausedUntil" must be null, which ends the pause; only an answer of the target begins one', { source: "payload", keys: ["pausedUntil"] }]);
      }
      expect((await get(path)).body.data).to.include({ pausedUntil: data.pausedUntil });
      const ended = await send("PATCH", path, { pausedUntil: null });
      expect([ended.status, (ended.body.data as object)]).to.deep.equal([200, { ...data, pausedUntil: null }]);
      expect((await get(path)).body.data).to.include({ pausedUntil: null });
    });

    for (const id of ["999999", "0", "-1", "abc", "1.5", "1e3", "99999999999999999999", "constructor"]) {
      it(`answers 404 for webhook ${id}`, async () => {
        const missing = { statusCode: 404, error: "Not Found", message: "Webhook not found", code: "WEBHOOK_NOT_FOUND" };
        const valid = { event: "peer.added", target: "http://example.com" };
        for (const [method, suffix, body] of [
          ["GET", "", undefined],
          ["PUT", "", valid],
          ["DELETE", "", undefined],
          ["POST", "/ping", undefined],
          ["POST", "/rotate", undefined],
          ["POST", "/recover", { since: 0 }],
          ["GET", "/deliveries", undefined],
          ["GET", "/deliveries/1", undefined],
          ["POST", "/deliveries/1/redeliver", undefined],
        ] as const) {
          const answer = await send(method, `/webhooks/${id}${suffix}`, body);
          expect([answer.status, answer.body], `${method} ${suffix}`).to.deep.equal([404, missing]);
        }
      });
    }

    it("take a list of 100,000 addresses, and no body of more than 8 MiB", async () => {
      const addresses = Array.from({ length: 100_000 }, (_unused, index) => `A${String(index).padStart(33, "x")}`);
      const conditions = [{ key: "addresses.*", condition: "in", value: addresses }];
      const { id } = await create({ conditions });
      const { body } = await get(`/webhooks/${String(id)}`);
      expect((body.data as { conditions: unknown }).conditions).to.deep.equal(conditions);
      const changed = await send("PATCH", `/webhooks/${String(id)}`, { description: "many" });
      expect(changed.status).to.equal(200);
      expect((await get("/webhooks")).body.data).to.deep.equal([{ ...(body.data as object), description: "many" }]);
      const put = await send("PUT", `/webhooks/${String(id)}`, { event: "peer.added", target: receiver.url, conditions: [{ ...conditions[0], value: [...addresses, "one more"] }] });
      expect([put.status, put.body.message]).to.deep.equal([400, '"conditions.0.value" must be a list of at most 100000 numbers and strings']);
      const large = await send("POST", "/webhooks", { event: "peer.added", target: `${receiver.url}?${"x".repeat(8_388_608)}` });
      expect(large.status).to.equal(413);
      expect(large.body.message).to.equal("The request body is too large: this route takes up to 8388608 bytes.");
      const recover = await send("POST", `/webhooks/${String(id)}/recover`, { since: "x".repeat(1_048_576) });
      expect([recover.status, recover.body.message], "other routes take what they did").to.deep.equal([413, "The request body is too large: this route takes up to 1048576 bytes."]);
      await send("DELETE", `/webhooks/${String(id)}`);
    });

    it("names the allowed methods of a path", async () => {
      const answer = await send("POST", "/webhooks/1", {});
      expect(answer.status).to.equal(405);
      expect(answer.headers.get("allow")).to.equal("GET, HEAD, PUT, PATCH, DELETE, OPTIONS");
    });
  });

  describe("bad input", () => {
    const valid = { event: "peer.added", target: "https://example.com/" };
    const condition = (changed: object): object => ({ ...valid, conditions: [{ key: "a", condition: "eq", value: 1, ...changed }] });
    const cases: [string, unknown, string, RegExp][] = [
      ["no event", { target: valid.target }, "event", /"event" or "events" is required/],
      ["no target", { event: valid.event }, "target", /"target" is required/],
      ["an unknown event", { ...valid, event: "block.lost" }, "event", /"event" must be one of block\.applied, .*, fork\.happened/],
      ["a number as the event", { ...valid, event: 5 }, "event", /"event" must be string/],
      ["a target that is not a URL", { ...valid, target: "example.com" }, "target", /"target" must be an http or https URL/],
      ["a target with a line end", { ...valid, target: "https://example.com/a\nb" }, "target", /"target" must be an http or https URL/],
      ["a target with a space before it", { ...valid, target: " https://example.com/" }, "target", /"target" must be an http or https URL/],
      ["an ftp target", { ...valid, target: "ftp://example.com" }, "target", /"target" must be an http or https URL/],
      ["a private target", { ...valid, target: "http://192.168.0.1/" }, "target", /"target" must not be the special address 192\.168\.0\.1/],
      ["a disguised target", { ...valid, target: "http://0xa9fea9fe/" }, "target", /"target" must not be the special address 169\.254\.169\.254/],
      ["an `enabled` that is neither true nor false", { ...valid, enabled: "yes" }, "enabled", /"enabled" must be true or false/],
      ["conditions that are not a list", { ...valid, conditions: {} }, "conditions", /"conditions" must be array/],
      ["a condition without a key", { ...valid, conditions: [{ condition: "eq", value: 1 }] }, "conditions.0.key", /is required/],
      ["an unknown operator", condition({ condition: "like" }), "conditions.0.condition", /must be one of "between", "contains"/],
      ["an unknown member of a condition", condition({ extra: 1 }), "conditions.0.extra", /is not allowed/],
      ["a pattern that does not compile", condition({ condition: "regexp", value: "(?=a)" }), "conditions.0.value", /does not compile/],
      ["a malformed range", condition({ condition: "between", value: [1, 2] }), "conditions.0.value", /must be \{min, max\}/],
      ["an unknown member", { ...valid, colour: "red" }, "colour", /"colour" is not allowed/],
      ["101 conditions", { ...valid, conditions: Array.from({ length: 101 }, () => ({ key: "a", condition: "truthy" })) }, "conditions", /must NOT have more than 100 items/],
      ["a key of 201 characters", condition({ key: "a".repeat(201) }), "conditions.0.key", /must NOT have more than 200 characters/],
      ["100,001 confirmations", { ...valid, event: "block.applied", confirmations: 100_001 }, "confirmations", /must be a whole number from 0 to 100000, or "final"/],
      ["a header of HTTP itself", { ...valid, headers: { "Transfer-Encoding": "chunked" } }, "headers.Transfer-Encoding", /./],
      ["a header of the signature", { ...valid, headers: { "Webhook-Id": "1" } }, "headers.Webhook-Id", /./],
      ["a header that is given twice", { ...valid, headers: { "X-A": "1", "x-a": "2" } }, "headers.x-a", /"headers.x-a" is given twice/],
      ["an empty tag", { ...valid, tags: ["a", ""] }, "tags.1", /"tags.1" must NOT have fewer than 1 characters/],
      ["batches of none", { ...valid, batch: { size: 0, wait: 0 } }, "batch.size", /must be >= 1/],
      ["batches of 101", { ...valid, batch: { size: 101, wait: 0 } }, "batch.size", /must be <= 100/],
      ["a batch that waits for more than a minute", { ...valid, batch: { size: 2, wait: 60_001 } }, "batch.wait", /must be <= 60000/],
      ["an unknown order", { ...valid, order: "last" }, "order", /must be one of/],
      ["a rate of nothing", { ...valid, rate: 0 }, "rate", /./],
      ["an unknown signature", { ...valid, signature: "v2" }, "signature", /must be one of/],
      ["a place that is none", { ...valid, from: "yesterday" }, "from", /must be tip, genesis, a height or a cursor/],
      ["a height above the tip", { ...valid, from: 99_999_999 }, "from", /^"from" must not be above the height of the tip \(\d+\)$/],
      ["33 cursors", { ...valid, from: Array.from({ length: 33 }, () => 1).join() }, "from", /^"from" must not have more than 32 cursors$/],
    ];
    for (const [what, body, key, message] of cases) {
      for (const [method, path] of [
        ["POST", "/webhooks"],
        ["PUT", "/webhooks/ID"],
      ] as const) {
        it(`is refused by ${method}: ${what}`, async () => {
          const { id } = await create();
          const answer = await send(method, path.replace("ID", String(id)), body);
          expect(answer.status).to.equal(400);
          expect(answer.body).to.deep.include({ statusCode: 400, error: "Bad Request", validation: { source: "payload", keys: [key] } });
          expect(answer.body["message"]).to.match(message);
        });
      }
    }

    for (const path of ["/webhooks", "/webhooks/dry-run"]) {
      it(`is refused by POST ${path} when it is not declared as JSON`, async () => {
        for (const type of ["text/plain", "application/x-www-form-urlencoded"]) {
          expect((await send("POST", path, JSON.stringify(valid), { "content-type": type })).status).to.equal(415);
        }
        const bare = await fetch(`${origin}/api${path}`, { method: "POST", headers: { authorization: token }, body: Buffer.from(JSON.stringify(valid)) });
        expect(bare.status).to.equal(415);
      });
    }
    it("is refused by PUT when it is not declared as JSON", async () => {
      const { id } = await create();
      expect((await send("PUT", `/webhooks/${String(id)}`, JSON.stringify(valid), { "content-type": "text/plain" })).status).to.equal(415);
    });
    it("is refused when it is not valid JSON", async () => {
      expect((await send("POST", "/webhooks", "{")).status).to.equal(400);
    });
  });

  describe("beyond the contract", () => {
    it("lists the events, each with an example", async () => {
      const { body } = await get("/webhooks/events");
      const listed = body.data as { event: string; example: unknown }[];
      expect(listed.map(({ event }) => event)).to.deep.equal([...Object.keys(knownEvents), ...bookingEvents, "fork.happened", "webhook.disabled", "webhook.failing", "webhook.enabled", "delivery.dead"]);
      expect(listed.find(({ event }) => event === "peer.added")?.example).to.deep.equal(knownEvents["peer.added"].example);
      expect(body.meta).to.deep.include({ totalCount: listed.length });
    });

    it("shows deliveries with their attempts, redelivers and recovers", async () => {
      const { id } = await create();
      receiver.answer = (_request, response) => response.writeHead(500).end("broken");
      events.emit("peer.added", { ip: "1.2.3.4" });
      await settled(id, "dead", 1);
      const listed = await get(`/webhooks/${String(id)}/deliveries?state=dead`);
      expect(listed.body.meta).to.deep.include({ totalCount: 1, self: `/api/v2/webhooks/${String(id)}/deliveries?state=dead&page=1&limit=100` });
      const [delivery] = listed.body.data as Record<string, unknown>[];
      expect(delivery).to.deep.include({ webhookId: id, event: "peer.added", state: "dead", dueAt: null, attemptCount: 1 });
      expect((delivery?.["attempts"] as object[])[0]).to.deep.include({ status: 500, stage: "status", error: "The target answered 500.", body: "broken" });
      expect((await get(`/webhooks/${String(id)}/deliveries?state=delivered`)).body.data).to.deep.equal([]);
      const path = `/webhooks/${String(id)}/deliveries/${String(delivery?.["id"])}`;
      expect((await get(path)).body.data).to.deep.equal({ ...delivery, payload: { ip: "1.2.3.4" } });

      const again = await send("POST", `${path}/redeliver`);
      expect(again.status).to.equal(202);
      expect(again.body.data).to.deep.include({ id: delivery?.["id"], state: "retrying" });
      await receiver.until(2);
      await settled(id, "dead", 1);
      receiver.answer = (_request, response) => response.end();
      const recovered = await send("POST", `/webhooks/${String(id)}/recover`, { since: "2020-01-01T00:00:00Z" });
      expect([recovered.status, recovered.text]).to.deep.equal([200, '{"data":{"recovered":1}}']);
      await settled(id, "delivered", 1);
      const outside = await send("POST", `/webhooks/${String(id)}/recover`, { since: 0, until: "2020-01-01T00:00:00Z" });
      expect(outside.text).to.equal('{"data":{"recovered":0}}');
    });

    for (const [what, path, body, key] of [
      ["an unknown state", "GET /deliveries?state=lost", undefined, "state"],
      ["a malformed time", "POST /recover", { since: "yesterday" }, "since"],
      ["a missing time", "POST /recover", {}, "since"],
      ["an unknown query parameter", "GET /deliveries?status=dead", undefined, "status"],
    ] as const) {
      it(`refuses ${what}`, async () => {
        const { id } = await create();
        const [method = "", suffix = ""] = path.split(" ");
        const answer = await send(method, `/webhooks/${String(id)}${suffix}`, body);
        expect(answer.status).to.equal(400);
        expect((answer.body["validation"] as { keys: string[] }).keys).to.deep.equal([key]);
      });
    }

    it("answers 404 for an unknown delivery", async () => {
      const { id } = await create();
      for (const delivery of ["1000000", "x"]) {
        const answer = await get(`/webhooks/${String(id)}/deliveries/${delivery}`);
        expect([answer.status, answer.body["message"]]).to.deep.equal([404, "Delivery not found"]);
      }
    });

    it("sends a ping", async () => {
      const { id } = await create({ conditions: [{ key: "never", condition: "truthy" }] });
      const answer = await send("POST", `/webhooks/${String(id)}/ping`);
      expect(answer.status).to.equal(202);
      expect(answer.body.data).to.deep.include({ webhookId: id, event: "ping" });
      expect((await receiver.until(1))[0]?.json).to.deep.include({ event: "ping", data: { webhook: id } });
    });

    it("rotates the token and the secret", async () => {
      const { id, token: first } = await create();
      const { body } = await send("POST", `/webhooks/${String(id)}/rotate`);
      const rotated = body.data as { token: string; secret: string };
      expect(rotated.token).to.match(/^[0-9a-f]{64}$/).and.not.equal(first);
      events.emit("peer.added", {});
      const [request] = await receiver.until(1);
      expect(request?.headers.authorization).to.equal(rotated.token.slice(0, 32));
      expect(String(request?.headers["webhook-signature"]).split(" ")).to.have.length(2);
    });

    it("answers a dry run briefly, however long the numbers and many the conditions", async () => {
      const conditions = Array.from({ length: 100 }, () => ({ key: "list", condition: "contains", value: 5 }));
      const run = (count: number) => send("POST", "/webhooks/dry-run", `{"conditions":${JSON.stringify(conditions)},"payload":{"list":[${"1e99,".repeat(count)}5]}}`);
      const answer = await run(600);
      expect([answer.status, answer.body.data]).to.have.nested.property("[1][0].matches", true);
      expect(answer.text.length).to.be.below(200_000);
      expect((await run(100_000)).status).to.equal(400);
    });

    it("tries a list of 100,000 addresses", async () => {
      const value = Array.from({ length: 100_000 }, (_unused, index) => `A${String(index).padStart(33, "x")}`);
      const tried = await send("POST", "/webhooks/dry-run", { conditions: [{ key: "to", condition: "in", value }], payload: { to: value.at(-1) } });
      expect(tried.status).to.equal(200);
      const [{ matches, conditions }] = tried.body.data as [{ matches: boolean; conditions: [{ value: unknown; reason: string }] }];
      expect(matches).to.equal(true);
      // The client has it, and it would be in the reply once for each payload.
      expect(conditions[0]).not.to.have.property("value");
      expect(conditions[0].reason).to.equal(`"to" fulfils "is any of the list" (${JSON.stringify(value).slice(0, 200)}…): it is "${String(value.at(-1))}"`);
    });

    it("tries conditions on a sample or on real payloads, and says why they fail", async () => {
      const conditions = [{ key: "amount", condition: "gte", value: "100" }];
      const answer = await send("POST", "/webhooks/dry-run", `{"conditions":${JSON.stringify(conditions)},"payload":{"amount":12500000000000000001}}`);
      expect(answer.status).to.equal(200);
      expect(answer.text).to.include('"payload":{"amount":12500000000000000001}').and.include('"matches":true');
      const failing = await send("POST", "/webhooks/dry-run", { conditions, payload: { amount: "99" } });
      expect(failing.body.data).to.deep.equal([
        {
          matches: false,
          timestamp: null,
          payload: { amount: "99" },
          conditions: [
            { ...conditions[0], holds: false, actual: "99", reason: '"amount" does not fulfil "is greater than or equal to the value" ("100"): it is "99"' },
          ],
        },
      ]);
      events.emit("peer.removed", { ip: "5.6.7.8" });
      await plugin.settled();
      const real = await send("POST", "/webhooks/dry-run", { event: "peer.removed", conditions: [], last: 1 });
      expect((real.body.data as { payload: unknown }[]).map(({ payload }) => payload)).to.deep.equal([{ ip: "5.6.7.8" }]);
    });
  });

  it("are described with their responses for a node without webhooks or not ready, and with every form of `enabled`", async () => {
    const { paths, components } = (await (await fetch(`${origin}/api/openapi.json`)).json()) as OpenApiDocument;
    const operations = Object.entries(paths).flatMap(([path, methods]) => (path.startsWith("/webhooks") ? Object.values(methods) : []));
    expect(operations).to.have.length(16);
    for (const { operationId, responses } of operations) expect(responses, String(operationId)).to.include.keys(...(operationId === "getWebhooksKeys" ? [] : ["401"]), "501", "503");
    const { requestBody } = paths["/webhooks"]?.post as { requestBody: Reply };
    const ajv = new Ajv2020({ strict: true, strictTypes: false, formats: { bigint: true } });
    ajv.addVocabulary(["components", "discriminator"]);
    const accepts = ajv.compile({ ...requestBody.content["application/json"].schema, components });
    const accepted = [true, false, "true", "false", "yes", 1].map((enabled) => accepts({ event: "peer.added", target: receiver.url, enabled }));
    expect(accepted).to.deep.equal([true, true, true, true, false, false]);
    const mixed = JSON.stringify({ paths, components }).match(/"enum":\[(?:true|false),(?:true|false),"[^\]]*\]/g);
    expect(mixed, "enums of values of several types, which generators cannot read").to.equal(null);
  });

  it("are described with the events that they list, also where a host's own chain offers its changes", async () => {
    const node = await startNode({ chain: createMemoryAdapter(loadChain("core3-testnet-a").network) });
    const { webhooks } = (await node.get("/openapi.json")).json as OpenApiDocument;
    const listed = node.plugin.webhooks?.events().map(({ event }) => event);
    expect(Object.keys(webhooks)).to.deep.equal([...(listed ?? []), "batch", "ping"]);
  });

  it("are accompanied by a description of the request that targets get for every event", async () => {
    const document = (await (await fetch(`${origin}/api/openapi.json`)).json()) as OpenApiDocument;
    const { valid, errors } = await new Validator().validate({ ...document });
    expect(valid, JSON.stringify(errors)).to.equal(true);
    const { webhooks, components } = document;
    expect(Object.keys(webhooks)).to.deep.equal([...Object.keys(knownEvents), ...bookingEvents, "fork.happened", "webhook.disabled", "webhook.failing", "webhook.enabled", "delivery.dead", "batch", "ping"]);
    const ajv = new Ajv2020({ strict: true, strictTypes: false, formats: { bigint: true } });
    ajv.addVocabulary(["components", "discriminator"]);
    const checks = Object.entries(webhooks).map(([event, item]) => {
      const { summary, parameters, requestBody } = item.post as OutgoingOperation;
      const { schema, example } = requestBody.content["application/json"];
      const accepts = ajv.compile({ ...schema, components });
      expect(accepts(example), event).to.equal(true);
      if (event !== "batch") expect(example.event).to.equal(event);
      expect(summary).to.be.a("string").that.is.not.empty;
      return { event, parameters, accepts };
    });
    await create();
    events.emit("peer.added", { ip: "1.2.3.4" });
    const [{ headers, json }] = (await receiver.until(1)) as [Received];
    const check = checks.find(({ event }) => event === "peer.added")!;
    expect(check.accepts(json)).to.equal(true);
    expect(Object.keys(json)).to.deep.equal(["timestamp", "data", "event", "id", "cursor", "block"]);
    const { example } = (webhooks["peer.added"]?.post as OutgoingOperation).requestBody.content["application/json"];
    expect(Object.keys(example)).to.deep.equal(Object.keys(json));
    expect(check.parameters.map(({ name }) => name)).to.deep.equal(["webhook-id", "webhook-timestamp", "webhook-signature"]);
    for (const { name } of check.parameters) expect(headers, name).to.have.property(name);
  });

  it("describe the requests of batches and pings, and what their events lack, as targets get them", async () => {
    const { webhooks, components } = (await (await fetch(`${origin}/api/openapi.json`)).json()) as OpenApiDocument;
    const ajv = new Ajv2020({ strict: true, strictTypes: false, formats: { bigint: true } });
    ajv.addVocabulary(["components", "discriminator"]);
    const described = (name: string) => (webhooks[name]?.post as OutgoingOperation).requestBody.content["application/json"];
    const refuses = (name: string, json: object): string | undefined => {
      const accepts = ajv.compile({ ...described(name).schema, components });
      return accepts(json) ? undefined : ajv.errorsText(accepts.errors);
    };
    const { id } = await create({ event: "peer.removed", batch: { size: 2, wait: 60_000 } });
    events.emit("peer.removed", { ip: "1.2.3.4" });
    events.emit("peer.removed", { ip: "1.2.3.5" });
    const [batch] = (await receiver.until(1)) as [Received];
    expect(refuses("batch", batch.json)).to.equal(undefined);
    const [first] = (batch.json as unknown as { events: [object, object] }).events;
    const shown = (described("batch").example as unknown as { events: [object] }).events[0];
    expect(Object.keys(shown)).to.deep.equal(Object.keys(first));
    expect(refuses("batch", { events: [{ ...first, "webhook-id": undefined }] })).to.match(/webhook-id/);
    expect(refuses("batch", { events: [{ ...first, event: "peer.lost" }] })).to.be.a("string");

    await send("POST", `/webhooks/${String(id)}/ping`);
    const ping = (await receiver.until(2))[1]!;
    expect(refuses("ping", ping.json)).to.equal(undefined);
    expect(Object.keys(described("ping").example)).to.deep.equal(Object.keys(ping.json));

    await create({ event: "webhook.enabled" });
    for (const enabled of [false, true]) await send("PATCH", `/webhooks/${String(id)}`, { enabled });
    const own = (await receiver.until(3))[2]!;
    expect(refuses("webhook.enabled", own.json)).to.equal(undefined);
    expect(Object.keys(described("webhook.enabled").example)).to.deep.equal(Object.keys(own.json));
  });

  it("describe the header that creation reads, and that PUT moves the cursor", async () => {
    const { paths } = (await (await fetch(`${origin}/api/openapi.json`)).json()) as OpenApiDocument;
    const { parameters } = paths["/webhooks"]?.post as { parameters: { name: string; in: string; required: boolean; schema: object }[] };
    expect(parameters.map(({ name, in: place, required, schema }) => ({ name, place, required, schema }))).to.deep.equal([
      { name: "Idempotency-Key", place: "header", required: false, schema: { minLength: 1, maxLength: 255, type: "string" } },
    ]);
    const { id } = await create();
    for (const method of ["PUT", "PATCH"]) {
      // Is checked against the document, as all answers here are.
      const answer = await send(method, `/webhooks/${String(id)}`, { event: "peer.added", target: receiver.url, from: "1-99" });
      expect([answer.status, answer.body.code], method).to.deep.equal([410, "CURSOR_UNKNOWN"]);
    }
  });

  it("have events told apart by their names, in batches and in the feed", async () => {
    const { components } = (await (await fetch(`${origin}/api/openapi.json`)).json()) as OpenApiDocument;
    const schemas = components.schemas as Record<string, { anyOf: { $ref: string }[]; discriminator: { propertyName: string; mapping: Record<string, string> }; properties: Record<string, Record<string, unknown>> }>;
    const { anyOf, discriminator } = schemas.FollowedEvent ?? expect.fail();
    expect(Object.values(discriminator.mapping)).to.deep.equal(anyOf.map(({ $ref }) => $ref));
    expect(discriminator.mapping).to.include({ "peer.added": "#/components/schemas/PeerAddedInFeed" });
    expect(schemas.PeerAddedInFeed?.properties).to.deep.include({ event: { const: "peer.added", type: "string" }, data: { $ref: "#/components/schemas/PeerOfHost" } });
    expect((schemas.Batch?.properties.events?.items as typeof schemas.Batch)?.discriminator.mapping).to.include({ "peer.added": "#/components/schemas/PeerAddedRequest" });
  });

  it("are described with a name of its own for each event, however a host calls its events", async () => {
    const names = ["peer-added", "peer:added", "Peer.added", "peer.Added", ".peer.added", "followed", "block.of", "ping", "batch", "1", "ü"];
    const { url } = await startNode({ options: { webhooks: { events: names } } });
    const { webhooks, components } = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApiDocument;
    expect(webhooks).to.include.keys(names);
    const ids = Object.values(webhooks).map(({ post }) => (post as { operationId: string }).operationId);
    expect(ids).to.have.length(new Set(ids).size);
    expect(ids).to.include.members(["onPeerAdded", "onPeer_45_added", "onState_58_started"]);
    const { mapping } = (components.schemas as Record<string, { discriminator: { mapping: object } }>).FollowedEvent?.discriminator ?? expect.fail();
    expect(mapping).to.include.keys(names).and.to.satisfy((references: object) => new Set(Object.values(references)).size === Object.keys(references).length);
  });

  it("describe no such requests when webhooks are off", async () => {
    const { url } = await startNode({ options: { webhooks: false } });
    const { webhooks } = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApiDocument;
    expect(webhooks).to.deep.equal({});
  });
});

/** Checks responses against the OpenAPI document that the interface itself serves. */
const openApiCheck = async (origin: string): Promise<(method: string, path: string, answer: Answer) => void> => {
  const document = (await (await fetch(`${origin}/api/openapi.json`)).json()) as OpenApiDocument;
  const ajv = new Ajv2020({ strict: true, strictTypes: false, formats: { bigint: true } });
  ajv.addVocabulary(["components", "discriminator"]);
  const pattern = (path: string): RegExp => new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
  // Literal segments before parameters, as the interface matches them.
  const paths = Object.keys(document.paths).sort((a, b) => a.split("{").length - b.split("{").length);
  const compiled = new Map<string, ValidateFunction>();

  const replyOf = (path: string, method: string, status: number): Reply => {
    const { responses } = document.paths[path]![method] as { responses: Record<string, Reply & { $ref?: string }> };
    const response = responses[status] ?? expect.fail(`${method} ${path} is answered ${status}`);
    const name = response.$ref?.split("/").at(-1);
    return name === undefined ? response : (document.components.responses as Record<string, Reply>)[name]!;
  };
  const compile = (path: string, method: string, status: number): ValidateFunction =>
    ajv.compile({ ...replyOf(path, method, status).content["application/json"].schema, components: document.components, $id: `${method} ${path} ${status}` });

  return (method, path, { status, headers, body }) => {
    const asked = path.split("?", 1)[0]?.replace(/^\/v2/, "") ?? "";
    const found = paths.find((one) => pattern(one).test(asked));
    if (found === undefined || status === 405 || path.startsWith("/v1")) return;
    const key = `${method.toLowerCase()} ${found} ${status}`;
    const check = compiled.get(key) ?? compile(found, method.toLowerCase(), status);
    compiled.set(key, check);
    const sent = describedHeaders.filter((name) => headers.has(name));
    expect(Object.keys(replyOf(found, method.toLowerCase(), status).headers), key).to.include.members(sent);
    expect(check(body), `${key}: ${ajv.errorsText(check.errors)}`).to.equal(true);
  };
};
