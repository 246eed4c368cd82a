import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect } from "chai";
import { ask } from "./ask.js";
import { type Served, serveThings, withThings } from "./things.js";

const opened: Record<string, (bytes: Buffer) => Buffer> = { br: brotliDecompressSync, gzip: gunzipSync };

describe("compression", () => {
  let served: Served;
  before(async () => {
    served = await serveThings();
  });
  after(() => served.stop());
  const get = (path: string, encoding?: string, headers: Record<string, string> = {}) =>
    ask(served.port, path, { headers: encoding === undefined ? headers : { ...headers, "Accept-Encoding": encoding } });

  const choices: [string | undefined, string | undefined][] = [
    [undefined, undefined],
    ["", undefined],
    ["identity", undefined],
    ["gzip", "gzip"],
    ["br", "br"],
    ["gzip, deflate, br, zstd", "br"],
    ["gzip;q=1.0, br;q=0.5", "gzip"],
    ["gzip;q=0.2, br;q=0.5", "br"],
    ["gzip;q=0, br;q=0", undefined],
    ["deflate", undefined],
    ["*", "br"],
    ["identity;q=1, gzip;q=0.5", undefined],
  ];
  for (const [accepted, chosen] of choices) {
    it(`sends ${chosen ?? "plain bytes"} for Accept-Encoding ${JSON.stringify(accepted)}`, async () => {
      const plain = await get("/api/things?limit=30");
      // by the third time both the bytes and the choice are cached
      for (const answer of [
        await get("/api/things?limit=30", accepted),
        await get("/api/things?limit=30", accepted),
        await get("/api/things?limit=30", accepted),
      ]) {
        expect(answer.headers["content-encoding"]).to.equal(chosen);
        expect(answer.headers.vary).to.include("Accept-Encoding");
        expect(answer.headers["content-length"]).to.equal(String(answer.bytes.length));
        const bytes = chosen === undefined ? answer.bytes : opened[chosen]?.(answer.bytes);
        expect(bytes?.equals(plain.bytes)).to.equal(true);
        expect(answer.bytes.length < plain.bytes.length).to.equal(chosen !== undefined);
      }
    });
  }

  it("gives each encoding an ETag of its own", async () => {
    const etags = new Map<string, string>();
    for (const encoding of ["identity", "gzip", "br"]) {
      const etag = (await get("/api/things?limit=30", encoding)).headers.etag ?? "";
      etags.set(encoding, etag);
      const same = await get("/api/things?limit=30", encoding, { "If-None-Match": etag });
      expect([same.status, same.text, same.headers.etag]).to.deep.equal([304, "", etag]);
    }
    expect(new Set(etags.values()).size).to.equal(3);
    expect((await get("/api/things?limit=30", "gzip", { "If-None-Match": etags.get("br") ?? "" })).status).to.equal(200);
  });

  it("also compresses replies that are not cached", async () => {
    const free = JSON.stringify({ text: "abc".repeat(1000) });
    const answer = await ask(served.port, "/api/mirror", {
      method: "POST",
      body: `{"free":${free}}`,
      headers: { "Accept-Encoding": "gzip" },
    });
    expect(answer.headers["content-encoding"]).to.equal("gzip");
    expect(gunzipSync(answer.bytes).toString()).to.equal(`{"data":${free}}`);
  });

  it("leaves short bodies alone", async () => {
    expect((await get("/api/things?limit=1", "gzip, br")).headers).not.to.have.property("content-encoding");
  });

  it("answers HEAD with the headers of the encoding", async () => {
    const whole = await get("/api/things?limit=30", "br");
    const head = await ask(served.port, "/api/things?limit=30", { method: "HEAD", headers: { "Accept-Encoding": "br" } });
    expect(head.headers).to.include({
      "content-encoding": "br",
      "content-length": String(whole.bytes.length),
      etag: whole.headers.etag,
    });
    expect(head.bytes.length).to.equal(0);
  });

  it("can be switched off", () =>
    withThings({ compression: false }, {}, async ({ port }) => {
      const { headers } = await ask(port, "/api/v2/things", { headers: { "Accept-Encoding": "br" } });
      expect([headers["content-encoding"], headers.vary]).to.deep.equal([undefined, "API-Amounts"]);
      const prefixed = await ask(port, "/api/strings/v2/things", { headers: { "Accept-Encoding": "br" } });
      expect(prefixed.headers).not.to.have.any.keys("content-encoding", "vary");
    }));
});
