import { connect } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { expect } from "chai";
import Koa from "koa";
import { ask, parseRaw, sendRaw } from "./ask.js";
import { listenerOf, listening } from "./listening.js";
import { echoed, type Served, serveThings, withThings } from "./things.js";

const malformed = { statusCode: 400, error: "Bad Request", message: "The request body is not valid JSON.", code: "MALFORMED_JSON" };

describe("request bodies", () => {
  let served: Served;
  before(async () => {
    served = await serveThings({ bodyLimit: 2000 });
  });
  after(() => served.stop());
  const post = (body: string | Buffer, headers: Record<string, string> = {}, path = "/api/echo") =>
    ask(served.port, path, { method: "POST", body, headers });

  it("are read as JSON whatever their content type", async () => {
    for (const type of [
      "application/json",
      "application/json; charset=utf-8",
      "text/plain",
      "application/x-www-form-urlencoded",
      "nonsense",
      "",
    ]) {
      expect((await post('{"amount":3}', type === "" ? {} : { "Content-Type": type })).status, type).to.equal(200);
      expect(echoed.request).to.have.property("body").that.deep.equals({ amount: 3n });
    }
  });

  it("may be missing if the route allows it", async () => {
    for (const body of ["", "{}"]) {
      const { json } = await post(body, {}, "/api/things/search?limit=1");
      expect(json).to.have.property("meta").that.includes({ totalCount: 250 });
    }
    const { status, json } = await post("", {}, "/api/mirror");
    expect([status, json]).to.deep.equal([
      400,
      {
        statusCode: 400,
        error: "Bad Request",
        message: '"value" is required',
        code: "BAD_REQUEST",
        validation: { source: "payload", keys: ["value"] },
      },
    ]);
  });

  for (const body of [
    "{",
    '{"amount":}',
    '{"amount":1}}',
    "nonsense",
    " ",
    "{'a':1}",
    '{"a":01}',
    '{"a":NaN}',
    '{"a":"\t"}',
    "\u0000",
    "[1,]",
  ]) {
    it(`are refused unless they are a JSON object: ${JSON.stringify(body)}`, async () => {
      const { status, json } = await post(body);
      expect([status, json]).to.deep.equal([400, malformed]);
    });
  }

  for (const body of ['"text"', "5", " null ", "true", "[]", "[{}]"]) {
    it(`are refused unless they are a JSON object: ${JSON.stringify(body)}`, async () => {
      for (const path of ["/api/echo", "/api/things/search"]) {
        const { status, json } = await post(body, {}, path);
        const message = '"value" must be object';
        expect([status, json]).to.deep.equal([400, { statusCode: 400, error: "Bad Request", message, code: "BAD_REQUEST", validation: { source: "payload", keys: ["value"] } }]);
      }
    });
  }

  it("are refused if they contain a number that is not taken", async () => {
    for (const [number, problem] of [
      ["1e400", "beyond the range of a double"],
      ["-1e400", "beyond the range of a double"],
      ["9".repeat(101), "longer than 100 characters"],
    ]) {
      const message = `The request body has a number that is ${problem}.`;
      const expected = { statusCode: 400, error: "Bad Request", message, code: "BAD_REQUEST", validation: { source: "payload", keys: ["value"] } };
      expect((await post(`{"free":{"a":${number}}}`)).json, number).to.deep.equal(expected);
    }
  });

  it("are refused if they contain `__proto__`", async () => {
    for (const body of [
      '{"__proto__":{"polluted":1}}',
      '{"free":{"__proto__":{"polluted":1}}}',
      '{"free":{"\\u005f_proto__":{"polluted":1234567890123456789}}}',
    ]) {
      const message = '"__proto__" is not allowed';
      expect((await post(body)).json).to.deep.equal({ statusCode: 400, error: "Bad Request", message, code: "BAD_REQUEST", validation: { source: "payload", keys: ["__proto__"] } });
    }
    expect({}).not.to.have.property("polluted");
  });

  it("are refused beyond the size limit, however they are sent", async () => {
    const big = JSON.stringify({ free: "x".repeat(2100) });
    const tooLarge = { statusCode: 413, error: "Payload Too Large", message: "The request body is too large: this route takes up to 2000 bytes.", code: "BODY_TOO_LARGE" };
    for (const answer of [
      await post(big),
      await post(big, { "Transfer-Encoding": "chunked" }),
      await post(gzipSync(JSON.stringify({ free: "x".repeat(100_000) })), { "Content-Encoding": "gzip" }),
    ]) {
      expect([answer.status, answer.json]).to.deep.equal([413, tooLarge]);
      expect(answer.headers.connection).to.equal("close");
    }
    expect((await post(JSON.stringify({ free: "x".repeat(1900) }))).status).to.equal(200);
  });

  it("may be compressed", async () => {
    for (const coding of ["gzip", "GZIP", "x-gzip"]) {
      const amount = coding.length;
      expect((await post(gzipSync(`{"amount":${amount}}`), { "Content-Encoding": coding })).status).to.equal(200);
      expect(echoed.request).to.have.property("body").that.deep.equals({ amount: BigInt(amount) });
    }
    expect((await post("{}", { "Content-Encoding": "gzip" })).json).to.deep.equal(malformed);
    expect((await post("{}", { "Content-Encoding": "nonsense" })).status).to.equal(415);
  });

  it("are refused beyond a nesting limit", () =>
    withThings({ bodyLimit: 1_048_576 }, {}, async ({ port }) => {
      const depth = 400_000;
      for (const number of ["1", "12345678901234567890"]) {
        const body = `{"free":${"[".repeat(depth)}${number}${"]".repeat(depth)}}`;
        const { status, json } = await ask(port, "/api/mirror", { method: "POST", body });
        expect([status, json]).to.deep.equal([
          400,
          { ...malformed, message: "The request body is nested deeper than 100 levels." },
        ]);
      }
    }));

  it("are refused beyond a number of objects, lists and members that no legitimate body has", () =>
    withThings({ bodyLimit: 1_048_576 }, {}, async ({ port }) => {
      const bodies = {
        objects: (parts: number): string => `{"free":[${"{},".repeat(parts - 4)}[]]}`,
        members: (parts: number): string => `{"free":{${Array.from({ length: parts - 3 }, (_, index) => `"${index.toString(36)}":""`).join(",")}}}`,
      };
      for (const [what, make] of Object.entries(bodies)) {
        for (const [parts, status] of [[65_536, 201], [65_537, 400]] as const) {
          const answer = await ask(port, "/api/mirror", { method: "POST", body: make(parts) });
          expect([what, parts, answer.status]).to.deep.equal([what, parts, status]);
          if (status === 400) expect(answer.json).to.include({ message: "The request body has more than 65536 objects, lists and members.", code: "BAD_REQUEST" });
        }
      }
    }));

  it("are refused beyond twice as many values of any kind", () =>
    withThings({ bodyLimit: 1_048_576 }, {}, async ({ port }) => {
      for (const [values, status] of [[131_073, 201], [131_074, 400]] as const) {
        const answer = await ask(port, "/api/mirror", { method: "POST", body: `{"free":[${'"",'.repeat(values - 1)}1]}` });
        expect([values, answer.status]).to.deep.equal([values, status]);
        if (status === 400) expect(answer.json).to.include({ message: "The request body has more than 131072 values.", code: "BAD_REQUEST" });
      }
    }));

  it("may end early without an error being logged", async () => {
    const answer = await sendRaw(
      served.port,
      'POST /api/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\nConnection: close\r\n\r\n{"amount":1}',
    );
    if (answer !== "") {
      expect(parseRaw(answer).status).to.equal(400);
    }
    expect(served.errors).to.deep.equal([]);
  });

  for (const [coding, compress] of [["identity", Buffer.from], ["gzip", gzipSync], ["br", brotliCompressSync]] as const) {
    for (const host of ["a listener", "a Koa app"]) {
      it(`may break off without a request that is never done: ${coding}, at ${host}`, () =>
        withThings({}, {}, async ({ edge }) => {
          const app = new Koa();
          let isUnderWay = false;
          app.use(async (_, next) => {
            isUnderWay = true;
            await next().finally(() => (isUnderWay = false));
          });
          app.silent = true;
          edge.mount(app);
          await listening(host === "a Koa app" ? listenerOf(app) : edge.callback(), async (port) => {
            const part = compress(`{"amount":1${" ".repeat(100)}}`).subarray(0, 12);
            const socket = connect(port, "127.0.0.1");
            socket.write(`POST /api/echo HTTP/1.1\r\nHost: a\r\nContent-Encoding: ${coding}\r\nContent-Length: 50\r\n\r\n`);
            socket.write(part);
            while (edge.open === 0) await nextTurn();
            socket.destroy();
            while (edge.open > 0 || isUnderWay) await nextTurn();
          });
        }));
    }
  }

  it("must be declared as JSON if the route requires it, which is checked after authorization", async () => {
    await withThings({}, { authorize: (given) => given === "secret" }, async ({ port }) => {
      const typed = (headers: Record<string, string>) =>
        ask(port, "/api/typed", { method: "POST", body: '{"name":"n"}', headers });
      expect((await typed({})).status).to.equal(401);
      const untyped = await typed({ Authorization: "secret" });
      expect([untyped.status, untyped.json]).to.deep.equal([
        415,
        { statusCode: 415, error: "Unsupported Media Type", message: "The request must carry Content-Type: application/json.", code: "UNSUPPORTED_MEDIA_TYPE" },
      ]);
      expect((await typed({ Authorization: "secret", "Content-Type": "text/plain" })).status).to.equal(415);
      for (const type of ["application/json;charset=UTF-8", "Application/JSON"]) {
        expect((await typed({ Authorization: "secret", "Content-Type": type })).status, type).to.equal(200);
      }
    });
  });

  it("are skipped on routes that take none", async () => {
    const request = "GET /api/both HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{nonsense";
    const answers = await sendRaw(served.port, request + request.replace("Host: a", "Host: a\r\nConnection: close"));
    expect(answers.match(/HTTP\/1\.1 200 OK/g)).to.have.length(2);
  });
});
