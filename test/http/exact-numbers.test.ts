import { expect } from "chai";
import fc from "fast-check";
import { Type } from "@sinclair/typebox";
import { exactNumber, NumberError, parseExactJson, surveyJson } from "../../src/http/input/exact-json.js";
import { createSerializer } from "../../src/http/reply/json-writer.js";
import { ask } from "./ask.js";
import { echoed, type Thing, withThings } from "./things.js";

/** A value with its bigints rounded, as JSON.parse would read it. */
const rounded = (value: unknown): unknown => {
  if (Array.isArray(value)) {
    return value.map(rounded);
  }
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, rounded(member)]));
  }
  return typeof value === "bigint" ? Number(value) : value;
};

const big = 12500000000000000001n;

describe("exact numbers", () => {
  describe("in requests", () => {
    it("may be integers of any size, exact to the digit", () =>
      withThings({}, {}, async ({ port }) => {
        await fc.assert(
          fc.asyncProperty(fc.bigInt({ min: 1n - 10n ** 40n, max: 10n ** 40n - 1n }), async (value) => {
            for (const body of [
              `{"amount":${value},"size":{"from":${value}}}`,
              `{"amount":"${value}","size":{"from":"${value}"}}`,
            ]) {
              expect((await ask(port, "/api/echo", { method: "POST", body })).status).to.equal(200);
              expect(echoed.request)
                .to.have.property("body")
                .that.deep.equals({ amount: value, size: { from: value } });
            }
            await ask(port, `/api/echo?amount=${value}&size.to=${value}`);
            expect(echoed.request).to.have.property("query").that.includes({ amount: value });
          }),
          { numRuns: 50 },
        );
      }));

    it("filter to the digit", () =>
      withThings(
        {},
        { things: [9007199254740992n, 9007199254740993n].map((size) => ({ name: String(size), size, debt: null })) },
        async ({ port }) => {
          const { json } = await ask(port, "/api/things/search", { method: "POST", body: '{"size":{"from":9007199254740993}}' });
          expect(json).to.have.property("data").that.has.length(1);
          expect((await ask(port, "/api/things?size.to=9007199254740992")).text).to.include('"totalCount":1');
        },
      ));

    const forms: [string, number | bigint][] = [
      ["0", 0],
      ["-0", -0],
      ["9007199254740991", 9007199254740991],
      ["9007199254740992", 9007199254740992n],
      ["9007199254740993", 9007199254740993n],
      ["-9007199254740993", -9007199254740993n],
      ["9007199254740993.0", 9007199254740993n],
      ["9007199254740993.5", 9007199254740993.5],
      ["1.5e19", 15000000000000000000n],
      ["15000000000000000001e0", 15000000000000000001n],
      ["150000000000000000010e-1", 15000000000000000001n],
      ["1e3", 1000],
      ["1.5", 1.5],
      ["1e-3", 0.001],
    ];
    for (const [text, value] of forms) {
      it(`are read from ${text}`, () => {
        expect(exactNumber(text)).to.equal(value);
      });
    }

    it("are refused if they are longer than any amount, or beyond what a number can be", () => {
      expect(() => exactNumber("1".repeat(101))).to.throw(NumberError, "longer than 100 characters");
      for (const text of ["1e400", "-1e400", "1.5e309"]) expect(() => exactNumber(text)).to.throw(NumberError, "beyond the range");
    });

    it("are read as JSON.parse reads them, except for the digits it would round", () => {
      fc.assert(
        fc.property(fc.json(), (text) => {
          expect(rounded(parseExactJson(text))).to.deep.equal(JSON.parse(text));
        }),
      );
    });

    it("are exact wherever they stand, and texts and keys that look like them stay what they are", () => {
      const text = `{"a":[${big},-${big},1.5e3,[{"b":${big}}],"${big}","-1e22"],"${big}":{"__proto__":12345678901234567890,"toString":1E2},"c":-0.5,"d":12345678901234567.25}`;
      const value = parseExactJson(text) as { a: unknown[]; c: number; d: number } & Record<string, Record<string, unknown>>;
      expect(value.a).to.deep.equal([big, -big, 1_500, [{ b: big }], `${big}`, "-1e22"]);
      expect(Object.entries(value[`${big}`] ?? {})).to.deep.equal([["__proto__", 12345678901234567890n], ["toString", 100]]);
      expect([value.c, value.d]).to.deep.equal([-0.5, 12345678901234567.25]);
      for (const wrong of ["[1e]", "[1.e5]", "[01e5]", "[1e5", "[--1e5]", "[1e5-3]", "[.5e3]"]) expect(() => parseExactJson(wrong), wrong).to.throw(SyntaxError);
    });

    it("are counted before they are parsed", () => {
      expect(parseExactJson("[1e22,1e22]")).to.deep.equal([10n ** 22n, 10n ** 22n]);
      expect(surveyJson("[1e22,-1E22,12345678901234567,1.5,\"1e22\"]").longNumbers).to.equal(3);
    });

    it("are detected wherever JSON.parse might round", () => {
      fc.assert(
        fc.property(fc.bigInt({ min: 2n ** 53n, max: 10n ** 30n }), (value) => {
          expect(surveyJson(`[${value}]`).longNumbers).to.equal(1);
        }),
      );
      expect(surveyJson("[1e20]").longNumbers).to.equal(1);
      expect(surveyJson("[900719925474099.3e1]").longNumbers).to.equal(1);
      expect(surveyJson('{"limit":100,"from":1234567890}').longNumbers).to.equal(0);
      expect(surveyJson(JSON.stringify({ [`${big}`]: [`\\" ${big}`, `${big}\\`, "1e9", "[[[["] })).longNumbers, "within strings").to.equal(0);
    });

    it("are looked for without regard to what is in strings, as is how deeply values are nested", () => {
      const depthOf = (value: unknown): number =>
        typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
      fc.assert(
        fc.property(fc.jsonValue(), (value) => {
          expect(surveyJson(JSON.stringify(value)).depth).to.equal(depthOf(value));
        }),
      );
    });

    it("are looked for in time that grows with the text alone, even if that is no JSON", () => {
      const size = 16_000_000;
      for (const text of ['"', '"\\', '\\"', "1", "1.", "[", "{]"]) surveyJson(text.repeat(size / text.length));
      expect(surveyJson(`["${"x".repeat(size)}"]`)).to.deep.equal({ depth: 1, parts: 1, commas: 0, longNumbers: 0 });
    });
  });

  describe("in replies", () => {
    const things: Thing[] = [
      { name: "a", size: big, debt: -big, rank: 3, asset: { votes: ["+02"], deep: { none: null, n: 1.5, big } } },
      { name: 'b"\u2028\ud800', size: 0n, debt: null },
    ];

    it("have all their digits", () =>
      withThings({}, { things }, async ({ port }) => {
        const { text } = await ask(port, "/api/things/a");
        expect(text).to.equal(
          '{"data":{"name":"a","size":12500000000000000001,"debt":-12500000000000000001,"rank":3,' +
            '"asset":{"votes":["+02"],"deep":{"none":null,"n":1.5,"big":12500000000000000001}}}}',
        );
        const { json } = await ask(port, "/api/things?orderBy=name:desc&limit=1");
        expect(json)
          .to.have.property("data")
          .that.deep.equals([{ name: 'b"\u2028\ud800', size: 0, debt: null }]);
      }));

    it("are decimal strings if so configured, in the second generation only", () =>
      withThings({ amounts: "string" }, { things }, async ({ port }) => {
        expect((await ask(port, "/api/things/a")).text).to.include(
          '"size":"12500000000000000001","debt":"-12500000000000000001","rank":3',
        );
        expect((await ask(port, "/api/things")).text).to.include('"size":"0","debt":null');
        expect((await ask(port, "/api/old/get?name=a")).text).to.equal('{"success":true,"size":12500000000000000001}');
      }));

    it("are returned as they were sent in free-form parts", () =>
      withThings({}, {}, async ({ port }) => {
        const free = '{"value":12500000000000000001,"list":[9007199254740993,1.5,"x",null,true]}';
        const { text, status } = await ask(port, "/api/mirror", { method: "POST", body: `{"free":${free}}` });
        expect([status, text]).to.deep.equal([201, `{"data":${free}}`]);
      }));

    const amount = Type.Unsafe<bigint>({ type: "integer", "x-amount": true });
    const written = (schema: unknown, value: unknown, amountsAsText = false): string =>
      createSerializer(schema, { amountsAsText })(value);
    it("are written wherever a schema allows them", () => {
      expect(written(Type.Record(Type.String(), amount), { a: big, b: 1n })).to.equal(`{"a":${big},"b":1}`);
      expect(written(Type.Array(Type.Union([amount, Type.Null()])), [big, null])).to.equal(`[${big},null]`);
      expect(written({ type: ["integer", "null"] }, big)).to.equal(String(big));
      expect(written({ type: ["integer", "null"] }, null)).to.equal("null");
      expect(written(Type.Union([Type.Null(), Type.Object({ a: amount })]), { a: big })).to.equal(`{"a":${big}}`);
      expect(written(Type.Union([Type.Object({ a: amount }), Type.Null()]), null)).to.equal("null");
      expect(written(Type.Object({ a: Type.Optional(amount), b: Type.Optional(amount) }), { b: big })).to.equal(`{"b":${big}}`);
      expect(written(Type.Object({ a: Type.Optional(amount) }), { a: undefined })).to.equal("{}");
      expect(written(Type.Array(Type.Union([amount, Type.Null()])), [big, null], true)).to.equal(`["${big}",null]`);
      expect(written(Type.Object({}, { additionalProperties: true }), { a: [big] })).to.equal(`{"a":[${big}]}`);
      const inside = { type: "object", "x-amounts-inside": true, additionalProperties: true };
      expect(written(inside, { a: [big, { b: 1n }], c: "1", d: 1 })).to.equal(`{"a":[${big},{"b":1}],"c":"1","d":1}`);
      expect(written(inside, { a: [big, { b: 1n }], c: "1", d: 1 }, true)).to.equal(`{"a":["${big}",{"b":"1"}],"c":"1","d":1}`);
      expect(written(Type.Object({ free: Type.Unknown(), inside: Type.Optional(Type.Unsafe(inside)) }), { free: big, inside: { a: big } }, true)).to.equal(`{"free":${big},"inside":{"a":"${big}"}}`);
      expect(written(Type.Object({}), { a: 1 })).to.equal("{}");
      expect(written(Type.Union([Type.Literal("a"), Type.Literal("b"), Type.Null()]), "b")).to.equal('"b"');
      expect(written(Type.Union([Type.Literal("a"), Type.Null()]), null)).to.equal("null");
      expect(written(Type.Union([Type.Literal("a"), Type.Literal(1)]), 1)).to.equal("1");
      expect(written(Type.Intersect([Type.Object({ a: amount }), Type.Object({ b: amount })]), { a: big, b: 2n })).to.equal(
        `{"a":${big},"b":2}`,
      );
      expect(written(Type.Object({ at: Type.String({ format: "date-time" }) }), { at: "2017-03-21T13:00:00.000Z" })).to.equal(
        '{"at":"2017-03-21T13:00:00.000Z"}',
      );
    });

    it("are never made up for a missing or wrong value", () => {
      for (const [value, shown] of [[null, "null"], ["5", '"5"'], [1.5, "1.5"], [NaN, "NaN"], [{}, "[object Object]"]] as const) {
        expect(() => written(Type.Object({ a: amount }), { a: value })).to.throw(TypeError, `${shown} is not a whole number`);
      }
      expect(() => written(Type.Object({ a: amount }), {})).to.throw('"a" is required');
    });
  });
});
