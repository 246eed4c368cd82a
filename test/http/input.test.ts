import { expect } from "chai";
import { Type } from "@sinclair/typebox";
import { OrderBy } from "../../src/http/input/schema.js";
import { createInputReaders } from "../../src/http/input/input-reader.js";
import { ask } from "./ask.js";
import { bare } from "./bare.js";
import { echoed, type Served, serveThings } from "./things.js";

const defaults = { count: 7, orderBy: { field: "voteBalance", direction: "desc" } };

const refusal = (source: string, key: string, rule: string) => ({
  statusCode: 400,
  error: "Bad Request",
  message: `"${key}" ${rule}`,
  code: "BAD_REQUEST",
  validation: { source, keys: [key] },
});

describe("input", () => {
  let served: Served;
  before(async () => {
    served = await serveThings();
  });
  after(() => served.stop());

  describe("in a query", () => {
    const accepted: [string, Record<string, unknown>][] = [
      ["", {}],
      ["&&", {}],
      ["count=0", { count: 0 }],
      ["count=050", { count: 50 }],
      ["plain=-9007199254740991", { plain: -9007199254740991 }],
      ["share=2.50", { share: 2.5 }],
      ["share=-1e-2", { share: -0.01 }],
      ["flag=true", { flag: true }],
      ["flag=false", { flag: false }],
      ["kind=small", { kind: "small" }],
      ["numbers=1", { numbers: [1] }],
      ["numbers=1,2,3", { numbers: [1, 2, 3] }],
      ["numbers=1&numbers=2,3", { numbers: [1, 2, 3] }],
      ["numbers=1%2C2", { numbers: [1, 2] }],
      ["numbers.0=1&numbers.1=2", { numbers: [1, 2] }],
      ["numbers[]=1&numbers%5B%5D=2", { numbers: [1, 2] }],
      ["numbers[0]=1&numbers=2,3", { numbers: [1, 2, 3] }],
      ["amount=0", { amount: 0n }],
      ["amount=12500000000000000001", { amount: 12500000000000000001n }],
      ["amount=-1", { amount: -1n }],
      ["height=5", { height: { from: 5, to: 5 } }],
      ["height.from=5", { height: { from: 5 } }],
      ["height.from=5&height.to=9", { height: { from: 5, to: 9 } }],
      ["size.from=9007199254740993&size.to=9007199254740995", { size: { from: 9007199254740993n, to: 9007199254740995n } }],
      ["size%2Efrom=1", { size: { from: 1n } }],
      ["even=4", { even: 4 }],
      ["orderBy=votes", { orderBy: { field: "voteBalance", direction: "asc" } }],
      ["orderBy=votes:DESC", { orderBy: { field: "voteBalance", direction: "desc" } }],
      ["orderBy=producedBlocks:Asc", { orderBy: { field: "producedBlocks", direction: "asc" } }],
      ["orderBy=produced_blocks%3Adesc", { orderBy: { field: "producedBlocks", direction: "desc" } }],
    ];
    for (const [query, expected] of accepted) {
      it(`is accepted: ${query === "" ? "nothing" : query}`, async () => {
        const { status } = await ask(served.port, `/api/echo?${query}`);
        expect(status).to.equal(200);
        expect(echoed.request).to.deep.include({ params: undefined, query: { ...defaults, ...expected }, body: undefined, prefix: "", versioned: false });
      });
    }

    const order = "must be one of votes, producedBlocks, each alone or with :asc or :desc";
    const refused: [string, string, string][] = [
      ["foo=1", "foo", "is not allowed"],
      ["count=1&foo", "foo", "is not allowed"],
      ["Count=1", "Count", "is not allowed"],
      ["__proto__=1", "__proto__", "is not allowed"],
      ["__proto__.polluted=1", "__proto__.polluted", "is not allowed"],
      ["constructor=1", "constructor", "is not allowed"],
      ["size.__proto__=1", "size.__proto__", "is not allowed"],
      ["size.other=1", "size.other", "is not allowed"],
      ["size=1", "size", "is not allowed"],
      ["count[]=1", "count[]", "is not allowed"],
      ["count.0=1", "count.0", "is not allowed"],
      ["size.0=1", "size.0", "is not allowed"],
      ["numbers.x=1", "numbers.x", "is not allowed"],
      ["numbers.0.0=1", "numbers.0.0", "is not allowed"],
      ["numbers[-1]=1", "numbers[-1]", "is not allowed"],
      ["[]=1", "[]", "is not allowed"],
      ["numbers.0=x", "numbers.0", "must be integer"],
      ["=1", "", "is not allowed"],
      ["count=51", "count", "must be <= 50"],
      ["count=-1", "count", "must be >= 0"],
      ["count=", "count", "must be integer"],
      ["count=1.0", "count", "must be integer"],
      ["count=0x10", "count", "must be integer"],
      ["count=%201", "count", "must be integer"],
      ["count=1&count=2", "count", "must be given once"],
      ["plain=9007199254740992", "plain", "must be <= 9007199254740991"],
      ["share=NaN", "share", "must be number"],
      ["share=Infinity", "share", "must be number"],
      ["share=1e999", "share", "must be number"],
      ["flag=1", "flag", "must be boolean"],
      ["flag=TRUE", "flag", "must be boolean"],
      ["kind=medium", "kind", 'must be one of "big", "small"'],
      ["numbers=1,x", "numbers.1", "must be integer"],
      ["numbers=1,2,3,4", "numbers", "must NOT have more than 3 items"],
      ["amount=1.5", "amount", "must be a whole number"],
      ["amount=1e3", "amount", "must be a whole number"],
      ["amount=", "amount", "must be a whole number"],
      [`amount=${"9".repeat(41)}`, "amount", "must be a whole number"],
      ["size.from=x", "size.from", "must be a whole number"],
      ["height=5&height.from=4", "height.from", "cannot be given together with a single value"],
      ["height.from=4&height=5", "height", "must be given once"],
      ["even=3", "even", "must be even"],
      ["orderBy=", "orderBy", order],
      ["orderBy=other", "orderBy", order],
      ["orderBy=votes:", "orderBy", order],
      ["orderBy=votes:up", "orderBy", order],
      ["orderBy=votes:asc:desc", "orderBy", order],
      ["orderBy=__proto__", "orderBy", order],
      ["orderBy=voteBalance", "orderBy", order],
      ["orderBy=votes&orderBy=votes", "orderBy", "must be given once"],
      ["count=%zz", "count", "is not percent-encoded UTF-8"],
      ["count=%ff", "count", "is not percent-encoded UTF-8"],
      ["%zz=1", "query", "is not percent-encoded UTF-8"],
    ];
    for (const [query, key, rule] of refused) {
      it(`is refused: ${query.slice(0, 40)}`, async () => {
        const { status, json } = await ask(served.port, `/api/echo?${query}`);
        expect(status).to.equal(400);
        expect(bare(json)).to.deep.equal(refusal("query", key, rule));
      });
    }

    it("is refused if the route takes none", async () => {
      expect(bare((await ask(served.port, "/api/both?x=1")).json)).to.deep.equal(refusal("query", "x", "is not allowed"));
      expect(bare((await ask(served.port, "/api/things/all?name=x")).json)).to.deep.equal(refusal("query", "name", "is not allowed"));
    });

    it("for a list is passed on without the page parameters", async () => {
      const { json } = await ask(served.port, "/api/things?size.from=10&size.to=11&orderBy=total_size:desc");
      expect(json)
        .to.have.property("data")
        .that.deep.equals([
          { name: "thing011", size: 11, debt: null },
          { name: "thing010", size: 10, debt: null },
        ]);
    });
  });

  describe("in a path", () => {
    it("is decoded", async () => {
      served.state.things.push({ name: "a/b ü%", size: 5n, debt: null });
      expect((await ask(served.port, "/api/things/a%2Fb%20%C3%BC%25")).json).to.deep.equal({
        data: { name: "a/b ü%", size: 5, debt: null },
      });
    });

    it("is not malformed merely because it is unknown", async () => {
      for (const name of ["x", "%00", "..%2f..", "a".repeat(5000), "%F0%9F%92%A9", "*", ":", "{name}", "__proto__"]) {
        const { status, json } = await ask(served.port, `/api/things/${name}`);
        expect(status, name).to.equal(404);
        expect(json).to.deep.equal({ statusCode: 404, error: "Not Found", message: "Wallet not found", code: "WALLET_NOT_FOUND" });
      }
    });

    it("is refused if its percent-encoding is invalid", async () => {
      for (const name of ["%", "%zz", "%ff", "%E0%A4%A", "%C0%80"]) {
        expect((await ask(served.port, `/api/things/${name}`)).json).to.deep.equal(
          refusal("params", "name", "is not percent-encoded UTF-8"),
        );
      }
    });
  });

  describe("in a body", () => {
    const post = (body: string) => ask(served.port, "/api/echo", { method: "POST", body });
    const accepted: [string, unknown][] = [
      ["{}", {}],
      ['{"amount":1}', { amount: 1n }],
      ['{"amount":"12500000000000000001"}', { amount: 12500000000000000001n }],
      ['{"size":{"from":-5}}', { size: { from: -5n } }],
      ['{"size":{}}', { size: {} }],
      ['{"height":7}', { height: { from: 7, to: 7 } }],
      ['{"height":{"to":"7"}}', { height: { to: 7 } }],
      ['{"count":"12"}', { count: 12 }],
      ['{"flag":"false"}', { flag: false }],
      ['{"either":"true"}', { either: "true" }],
      ['{"either":false}', { either: false }],
      [
        '{"nested":[{"key":"a","value":{"min":1,"max":[2,null]}}]}',
        { nested: [{ key: "a", value: { min: 1, max: [2, null] } }] },
      ],
      [' {"free" : "\\u00fc\\ud800" } ', { free: "ü\ud800" }],
    ];
    for (const [body, expected] of accepted) {
      it(`is accepted: ${body}`, async () => {
        expect((await post(body)).status).to.equal(200);
        expect(echoed.request).to.deep.include({ params: undefined, query: undefined, body: expected, prefix: "", versioned: false });
      });
    }

    const refused: [string, string, string][] = [
      ['{"foo":1}', "foo", "is not allowed"],
      ['{"size":{"form":1}}', "size.form", "is not allowed"],
      ['{"size":5}', "size", "must be object"],
      ['{"size":null}', "size", "must be object"],
      ['{"size":{"from":1.5}}', "size.from", "must be a whole number"],
      ['{"size":{"from":null}}', "size.from", "must be a whole number"],
      ['{"amount":[1]}', "amount", "must be a whole number"],
      ['{"amount":true}', "amount", "must be a whole number"],
      ['{"count":0}', "count", "must be >= 1"],
      ['{"count":123456789012345678901}', "count", "must be <= 9007199254740991"],
      ['{"count":1.5}', "count", "must be integer"],
      ['{"flag":1}', "flag", "must be boolean"],
      ['{"either":"yes"}', "either", "does not have any of the accepted forms"],
      ['{"nested":[{"key":"a"},{}]}', "nested.1.key", "is required"],
      ['{"nested":[{"key":"a","more":1}]}', "nested.0.more", "is not allowed"],
      ["[]", "value", "must be object"],
      ['{"constructor":{"prototype":{}}}', "constructor", "is not allowed"],
    ];
    for (const [body, key, rule] of refused) {
      it(`is refused: ${body}`, async () => {
        const { status, json } = await post(body);
        expect(status).to.equal(400);
        expect(bare(json)).to.deep.equal(refusal("payload", key, rule));
      });
    }
  });

  it("cannot have a default order that is not among the fields", () => {
    expect(() => OrderBy(["rank"], { default: "name" })).to.throw(TypeError, 'The default order "name" must be one of rank');
  });

  it("cannot have a schema with an unknown keyword", () => {
    const readers = createInputReaders({ epoch: "2017-03-21T13:00:00.000Z" });
    const read = readers(Type.Object({ a: Type.String({ maxlength: 3 }) }), "query");
    expect(() => read({ a: "b" })).to.throw("unknown keyword");
  });
});
