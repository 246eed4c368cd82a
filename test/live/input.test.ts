import { expect } from "chai";
import { request } from "undici";
import { createMemoryAdapter } from "../memory-adapter/adapter.js";
import { startNode } from "../fixtures/node.js";
import { at, chain } from "../store/branches.js";

const height = 10;

interface Reply {
  status: number;
  body: { data: { event: string; data: { number?: string } }[]; message?: string; code?: string; validation?: { source: string; keys: string[] } };
}

describe("What a reader of events asks for", () => {
  let api: string;

  before(async () => {
    const memory = createMemoryAdapter(chain.network);
    for (let next = 1; next <= height; next++) memory.apply(at(next));
    const { plugin, events, url } = await startNode({ network: chain.network, chain: memory, options: { rateLimit: false } });
    api = url;
    for (const number of ["9007199254740992", "9007199254740993"]) events.emit("peer.added", { number });
    events.emit("state.started", null);
    await plugin.settled();
  });

  const send = async (path: string, options: { method?: "GET" | "POST"; body?: string; headers?: Record<string, string> } = {}): Promise<Reply> => {
    const { statusCode, body } = await request(api + path, options);
    return { status: statusCode, body: (await body.json()) as Reply["body"] };
  };
  const get = (path: string, query: Record<string, string>): Promise<Reply> => send(`${path}?${new URLSearchParams(query).toString()}`);
  const post = (body: object): Promise<Reply> => send("/events/feed", { method: "POST", body: JSON.stringify(body) });
  const refusalOf = ({ status, body: { code, validation, message } }: Reply): unknown[] => [status, code, validation?.source, validation?.keys, message];

  /** The first events of a stream, as long as one of a name has not come. */
  const streamUntil = async (last: string, query: Record<string, string>): Promise<string> => {
    const { body } = await request(`${api}/events?${new URLSearchParams(query).toString()}`);
    let text = "";
    for await (const chunk of body) {
      text += String(chunk);
      if (text.includes(`event: ${last}\n`)) break;
    }
    return text;
  };

  describe("by conditions", () => {
    const good = { key: "number", condition: "eq", value: 1 };
    for (const [what, conditions, key, rule] of [
      ["null", [null], "conditions.0", "must be object"],
      ["a number", [good, 5], "conditions.1", "must be object"],
      ["a text", ["number"], "conditions.0", "must be object"],
      ["a list", [[good]], "conditions.0", "must be object"],
      ["one with an unknown member", [{ ...good, extra: 1 }], "conditions.0.extra", "is not allowed; allowed: key, condition, value"],
      ["one without a key", [{ condition: "eq", value: 1 }], "conditions.0.key", "is required"],
      ["one with a value of the wrong form", [{ key: "number", condition: "gt", value: [1] }], "conditions.0.value", "must be a number or a string"],
      ["101", Array.from({ length: 101 }, () => good), "conditions", "must NOT have more than 100 items"],
    ] as const) {
      it(`is refused ${what}, as by a webhook`, async () => {
        const message = `"${key}" ${rule}`;
        const text = JSON.stringify(conditions);
        for (const path of ["/events", "/events/feed"]) expect(refusalOf(await get(path, { conditions: text })), path).to.deep.equal([400, "BAD_REQUEST", "query", [key], message]);
        for (const given of [conditions, text]) expect(refusalOf(await post({ conditions: given }))).to.deep.equal([400, "BAD_REQUEST", "payload", [key], message]);
      });
    }

    it("is told that they are a list, as JSON", async () => {
      const deep = `[{"key":"a","condition":"eq","value":${"[".repeat(200)}${"]".repeat(200)}}]`;
      for (const text of ["", "null", "{}", "5", "[", '[{"key":"a"', deep]) {
        expect(refusalOf(await get("/events/feed", { conditions: text })), text).to.deep.equal([400, "BAD_REQUEST", "query", ["conditions"], '"conditions" must be a list, as JSON']);
      }
      for (const conditions of [null, {}, 5, "x"]) expect(refusalOf(await post({ conditions }))).to.deep.equal([400, "BAD_REQUEST", "payload", ["conditions"], '"conditions" must be a list, as JSON']);
    });

    it("compares numbers exactly beyond 2^53, however the conditions come", async () => {
      const conditions = '[{"key":"number","condition":"eq","value":9007199254740993}]';
      const whole = (reply: Reply): unknown[] => [reply.status, reply.body.data.map(({ data }) => data.number)];
      const expected = [200, ["9007199254740993"]];
      expect(whole(await get("/events/feed", { after: "genesis", event: "peer.added", conditions }))).to.deep.equal(expected);
      expect(whole(await post({ after: "genesis", event: ["peer.added"], conditions }))).to.deep.equal(expected);
      expect(whole(await send("/events/feed", { method: "POST", body: `{"after":"genesis","event":["peer.added"],"conditions":${conditions}}` }))).to.deep.equal(expected);
      const told = await streamUntil("peer.added", { after: "genesis", event: "peer.added", conditions });
      expect([...told.matchAll(/"number":"(\d+)"/g)].map(([, number]) => number)).to.deep.equal(["9007199254740993"]);
    });
  });

  describe("by names", () => {
    const told = ({ status, body }: Reply): unknown[] => [status, ...body.data.map(({ event }) => event)];

    it("gets an event by its second name, and by a pattern of it", async () => {
      for (const event of ["state:started", "state.started", "state.*"]) {
        expect(told(await get("/events/feed", { after: "genesis", event })), event).to.deep.equal([200, "state:started"]);
        expect(await streamUntil("state:started", { after: "genesis", event })).to.contain("event: state:started\n");
      }
    });

    it("is refused patterns that mean no event, and lists without any", async () => {
      for (const name of ["foo.*", ".*", "webhook.*", "block.applied.*", "block*", "state:*"]) {
        for (const path of ["/events", "/events/feed"]) {
          const [status, code, source, keys, message] = refusalOf(await get(path, { event: `block.*,${name}` }));
          expect([status, code, source, keys], name).to.deep.equal([400, "BAD_REQUEST", "query", ["event"]]);
          expect(message).to.match(/^"event" must be patterns such as block\.\*, or names among /).and.contain(`; not "${name}"`);
        }
        expect(refusalOf(await post({ event: [name] })).slice(0, 4), name).to.deep.equal([400, "BAD_REQUEST", "payload", ["event"]]);
      }
      expect(refusalOf(await post({ event: [] }))).to.deep.equal([400, "BAD_REQUEST", "payload", ["event"], '"event" must NOT have fewer than 1 items']);
    });

    it("may write them as one text, with spaces, in a query as in a body", async () => {
      const expected = [200, "peer.added", "peer.added", "state:started"];
      for (const event of ["peer.added,state:started", " peer.* , state:started"]) {
        expect(told(await get("/events/feed", { after: "genesis", event }))).to.deep.equal(expected);
        expect(told(await post({ after: "genesis", event }))).to.deep.equal(expected);
        expect(told(await post({ after: "genesis", event: event.split(",") }))).to.deep.equal(expected);
      }
      expect(told(await send("/events/feed?after=genesis&event=peer.added&event=state:started"))).to.deep.equal(expected);
      for (const event of [5, {}, null]) expect(refusalOf(await post({ event }))).to.deep.equal([400, "BAD_REQUEST", "payload", ["event"], '"event" must be array']);
    });
  });

  describe("after a cursor", () => {
    const paths = ["/events", "/events/feed", "/changes"];
    const form = "must be tip, genesis, a height or a cursor (HEIGHT-BLOCKID, as events carry it); not ";
    const aboveTip = `must not be above the height of the tip (${height})`;

    for (const [what, text, rule] of [
      ["what is none", "-1", `${form}"-1"`],
      ["what is none among others", "5,12-,3", `${form}"12-"`],
      ["a height above the tip", "99999999", aboveTip],
      ["a height with more digits than any chain has", "12345678901", aboveTip],
      ["a height with hundreds of digits", "9".repeat(400), aboveTip],
      ["several heights above the tip", "99999,99998", aboveTip],
      ["33 of them", Array.from({ length: 33 }, () => "5").join(), "must not have more than 32 cursors"],
    ] as const) {
      it(`is refused ${what}, and told by which name it gave that`, async () => {
        for (const path of paths) expect(refusalOf(await get(path, { after: text })), path).to.deep.equal([400, "BAD_REQUEST", "query", ["after"], `"after" ${rule}`]);
        expect(refusalOf(await post({ after: text }))).to.deep.equal([400, "BAD_REQUEST", "payload", ["after"], `"after" ${rule}`]);
        expect(refusalOf(await send("/events?after=5", { headers: { "last-event-id": text } }))).to.deep.equal([400, "BAD_REQUEST", "headers", ["Last-Event-ID"], `"Last-Event-ID" ${rule}`]);
      });
    }

    it("is told that a block is unknown, whatever heights it names beside it", async () => {
      for (const text of ["9-1", "9-1,99999", "99999,9-1"]) expect((await get("/events/feed", { after: text })).status, text).to.equal(410);
      expect((await get("/events/feed", { after: "99999,8" })).body.data.filter(({ event }) => event === "block.applied")).to.have.length(2);
    });

    it("may be a number in a body", async () => {
      const [asText, asNumber] = [await post({ after: "8", event: "block.*" }), await post({ after: 8, event: "block.*" })];
      expect([asNumber.status, asNumber.body]).to.deep.equal([200, asText.body]);
      expect(asNumber.body.data).to.have.length(2);
      for (const [after, rule] of [[99_999, aboveTip], [-1, `${form}"-1"`], [1.5, `${form}"1.5"`]] as const) expect(refusalOf(await post({ after }))).to.deep.equal([400, "BAD_REQUEST", "payload", ["after"], `"after" ${rule}`]);
      for (const after of ["", null, true, ["5"], {}]) expect(refusalOf(await post({ after }))).to.deep.equal([400, "BAD_REQUEST", "payload", ["after"], '"after" must be a string of 1 to 8192 characters, or a height']);
    });
  });

  it("is told of what there is to ask for by the OpenAPI document", async () => {
    interface Parameter { in: string; name: string; required: boolean; schema: Record<string, unknown> }
    interface Operation { parameters: Parameter[]; responses: { 200: { headers: object } }; requestBody: { content: { "application/json": { schema: object } } } }
    const { body } = await request(`${api}/openapi.json`);
    const { paths, components } = (await body.json()) as { paths: Record<string, { get: Operation; post: Operation }>; components: { schemas: { Failure: { properties: object }; PostEventsFeedBody: { properties: Record<string, Record<string, unknown>> } } } };
    const [stream, feed, changes] = ["/events", "/events/feed", "/changes"].map((path) => paths[path]!);
    const parameter = (operation: Operation, name: string): unknown => operation.parameters.find((one) => one.name === name);
    expect(parameter(stream!.get, "Last-Event-ID")).to.deep.include({ in: "header", required: false, schema: { type: "string" } });
    expect(parameter(paths["/webhooks"]!.post, "Idempotency-Key")).to.deep.include({ in: "header", required: false });
    expect([stream, feed, changes].map((one) => (parameter(one!.get, "after") as Parameter).schema["default"])).to.deep.equal(["tip", "tip", "genesis"]);
    expect(parameter(feed!.get, "conditions")).to.deep.include({ schema: { type: "string", contentMediaType: "application/json" } });
    expect(feed!.post.requestBody.content["application/json"].schema).to.deep.equal({ $ref: "#/components/schemas/PostEventsFeedBody" });
    const { after, conditions } = components.schemas.PostEventsFeedBody.properties;
    expect(after?.["default"]).to.equal("tip");
    expect((conditions?.["anyOf"] as { type: string }[]).map(({ type }) => type)).to.deep.equal(["array", "string"]);
    expect([stream, feed, changes].map((one) => "X-Block-Height" in one!.get.responses[200].headers)).to.deep.equal([false, true, false]);
    expect(components.schemas.Failure.properties).to.include.keys("oldest", "tip");
  });
});
