import { expect } from "chai";
import { type CacheEntry, createResponseCache, type ResponseCache } from "../../src/http/response-cache.js";
import { createReply, type Reply } from "../../src/http/reply/reply.js";
import { ask } from "./ask.js";
import { manyThings, type Served, serveThings, type ThingState, withThings } from "./things.js";

const replyOf = (json: string, threshold = Infinity): Reply =>
  createReply({ status: 200, json, height: 1, validated: true, cacheControl: "no-cache", lasting: true }, threshold);

/** Asks for a reply at a tip twice, and keeps it. */
const keepAt = (cache: ResponseCache<string>, key: string, tip: string, reply: Reply): CacheEntry<string> => {
  const entry = cache.admit(key, key) ?? cache.admit(key, key);
  if (entry === undefined) throw new Error("not admitted");
  cache.replyAt(entry, tip);
  cache.keep(entry, tip, reply);
  return entry;
};

describe("cached replies", () => {
  let served: Served;
  beforeEach(async () => {
    served = await serveThings();
  });
  afterEach(() => served.stop());
  const get = (path: string, headers: Record<string, string> = {}) => ask(served.port, path, { headers });
  const opened = async (act: () => Promise<unknown>): Promise<number> => {
    const before = served.states.opened;
    await act();
    return served.states.opened - before;
  };

  it("are kept from the second request on, not from the first", async () => {
    const counts: number[] = [];
    for (let time = 0; time < 4; time += 1) {
      counts.push(await opened(() => get("/api/things/thing001")));
    }
    expect(counts).to.deep.equal([1, 1, 0, 0]);
    served.state.tip = { id: "tip2", height: 78 };
    const later = [await opened(() => get("/api/things/thing001")), await opened(() => get("/api/things/thing001"))];
    expect(later).to.deep.equal([1, 0]);
  });

  it("are kept by URL and named version", async () => {
    const { text, headers } = await get("/api/things?limit=2");
    for (const [path, version] of [
      ["/api/things?limit=2", {}],
      ["/api/v2/things?limit=2", {}],
      ["/api/things?limit=2", { "API-Version": "2" }],
      ["/api/things?limit=2", { Accept: "application/vnd.core-api.v2+json" }],
      ["/api/things?limit=%32", {}],
    ] as const) {
      for (let time = 0; time < 2; time += 1) {
        const again = await get(path, version);
        expect([again.text, again.headers.etag]).to.deep.equal([text, headers.etag]);
      }
      expect(await opened(() => get(path, version)), path).to.equal(0);
    }
  });

  it("never answer for another state", async () => {
    for (let time = 0; time < 3; time += 1) {
      expect((await get("/api/things/thing001")).json).to.deep.equal({ data: { name: "thing001", size: 1, debt: null } });
    }
    served.state.things = [{ name: "thing001", size: 5n, debt: 1n }];
    served.state.tip = { id: "tip2", height: 78 };
    const { json, headers } = await get("/api/things/thing001");
    expect(json).to.deep.equal({ data: { name: "thing001", size: 5, debt: 1 } });
    expect(headers["x-block-height"]).to.equal("78");
    served.state.things = manyThings(3);
    served.state.tip = { id: "tip1", height: 77 };
    expect((await get("/api/things/thing001")).json).to.deep.equal({ data: { name: "thing001", size: 1, debt: null } });
  });

  it("never answer another question", async () => {
    const questions = [
      "/api/things?name=thing001",
      "/api/things?names=thing001",
      "/api/things?size.from=1&size.to=1",
      "/api/things?size.to=1&size.from=1",
      "/api/things?limit=1&page=2",
      "/api/things?page=2&limit=1",
      "/api/things?limit=1&offset=1",
      "/api/things?orderBy=name",
      "/api/things?orderBy=name:asc",
      "/api/things?orderBy=total_size",
      "/api/things/thing001",
      "/api/things/thing001/parts",
      "/api/things/all",
      "/api/both",
      "/api/v1/both",
    ];
    const fresh = new Map<string, string>();
    for (const question of questions) {
      fresh.set(question, (await get(question)).text);
    }
    for (const question of [...questions, ...questions, ...questions.reverse()]) {
      expect((await get(question)).text, question).to.equal(fresh.get(question));
    }
    expect(new Set(fresh.values()).size).to.equal(questions.length);
  });

  it("are not used for routes that forbid it", async () => {
    expect(
      await opened(async () => [
        await get("/api/echo"),
        await get("/api/echo"),
        await get("/api/health"),
        await get("/api/health"),
      ]),
    ).to.equal(4);
    const { headers } = await get("/api/echo");
    expect(headers).not.to.have.property("etag");
    expect(headers["x-block-height"]).to.equal("77");
  });

  it("are not kept for errors or for POST requests", async () => {
    const search = () => ask(served.port, "/api/things/search", { method: "POST" });
    expect(
      await opened(async () => [
        await get("/api/things/nobody"),
        await get("/api/things/nobody"),
        await search(),
        await search(),
      ]),
    ).to.be.at.least(4);
    served.state.things.push({ name: "nobody", size: 1n, debt: null });
    expect((await get("/api/things/nobody")).status).to.equal(200);
  });

  it("are sent without opening a state, or after opening one if the tip is not known otherwise", async () => {
    await get("/api/things");
    await get("/api/things");
    expect(await opened(() => get("/api/things"))).to.equal(0);
    await withThings({}, { tipId: undefined }, async ({ port, states, state }) => {
      const { text } = await ask(port, "/api/things");
      expect((await ask(port, "/api/things")).text).to.equal(text);
      expect((await ask(port, "/api/things")).text).to.equal(text);
      expect(states).to.deep.equal({ open: 0, opened: 3 });
      state.things = [];
      expect((await ask(port, "/api/things")).text).to.equal(text);
      state.tip = { id: "tip2", height: 80 };
      expect((await ask(port, "/api/things")).text).to.include('"totalCount":0');
    });
  });

  /** How often the state is read for eight equal requests at the same time. */
  const lookedAt = async (path: string, afterwards: (edge: Served["edge"], state: ThingState) => unknown = () => undefined): Promise<number> => {
    let release: (() => void) | undefined;
    let looked = 0;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const state: ThingState = {
      tip: { id: "t", height: 1 },
      get things() {
        looked += 1;
        return manyThings(1);
      },
    };
    await withThings({}, { openState: () => gate.then(() => state), tipId: undefined }, async ({ port, edge }) => {
      const answers = Array.from({ length: 8 }, () => ask(port, path));
      while (edge.open < 8) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      release?.();
      const texts = new Set((await Promise.all(answers)).map(({ text }) => text));
      expect(texts.size).to.equal(1);
      await afterwards(edge, state);
    });
    return looked;
  };

  it("are computed once for simultaneous equal requests if the answer takes a while", async () => {
    expect(await lookedAt("/api/things/later")).to.equal(1);
  });

  it("are computed for the first two of simultaneous equal requests if the answer is immediate", async () => {
    expect(await lookedAt("/api/things/all")).to.equal(2);
  });

  it("are computed once, whatever the headers of the request", async () => {
    const headers: Record<string, string>[] = [
      {},
      { "Accept-Encoding": "gzip, x-unheard-of" },
      { "If-None-Match": '"of another state"' },
      { "If-None-Match": '"one", W/"another"' },
      { "If-None-Match": '"one"', "Cache-Control": "no-cache" },
    ];
    for (const [i, given] of headers.entries()) {
      served.states.opened = 0;
      expect((await get(`/api/things?limit=${30 + i}`, given)).status).to.equal(200);
      expect(served.states.opened, JSON.stringify(given)).to.equal(1);
    }
  });

  it("are revalidated by their ETag", async () => {
    const { headers, bytes } = await get("/api/things?limit=2");
    const etag = headers.etag ?? "";
    expect(etag).to.match(/^"[\w-]{27}"$/);
    expect(headers["cache-control"]).to.equal("no-cache");
    for (const given of [etag, `"other", ${etag}`, `W/${etag}`, "*"]) {
      for (const method of ["GET", "HEAD"]) {
        const same = await ask(served.port, "/api/things?limit=2", { method, headers: { "If-None-Match": given } });
        expect([same.status, same.text, same.headers.etag], given).to.deep.equal([304, "", etag]);
        expect(same.headers).to.include({ "x-block-height": "77", "api-version": "2", "access-control-allow-origin": "*" });
      }
    }
    for (const given of ['"other"', "", etag.slice(1, -1)]) {
      const whole = await get("/api/things?limit=2", { "If-None-Match": given });
      expect([whole.status, whole.bytes.length]).to.deep.equal([200, bytes.length]);
    }
    const forced = await get("/api/things?limit=2", { "If-None-Match": etag, "Cache-Control": "no-cache" });
    expect(forced.status).to.equal(200);
  });

  it("keep their ETag while their bytes are the same, even in other states", async () => {
    const before = await get("/api/things?limit=2");
    served.state.tip = { id: "tip2", height: 78 };
    const same = await get("/api/things?limit=2", { "If-None-Match": before.headers.etag ?? "" });
    expect([same.status, same.headers["x-block-height"]]).to.deep.equal([304, "78"]);
    served.state.tip = { id: "tip3", height: 79 };
    served.state.things.push({ name: "new", size: 1n, debt: null });
    expect((await get("/api/things?limit=2", { "If-None-Match": before.headers.etag ?? "" })).status).to.equal(200);
  });

  it("take no more than the allotted bytes, those used last", () => {
    const cache = createResponseCache<string>(100_000);
    const size = replyOf("x".repeat(1000)).size + 8 * 4 + 1500;
    for (let index = 0; index < 500; index += 1) keepAt(cache, `q${String(index).padStart(3, "0")}`, "t", replyOf("x".repeat(1000)));
    const present = Array.from({ length: 500 }, (_, index) => cache.find(`q${String(index).padStart(3, "0")}`) !== undefined);
    expect(present.lastIndexOf(false)).to.equal(499 - Math.floor(100_000 / size));
    expect(present.indexOf(true)).to.equal(present.lastIndexOf(false) + 1);
    keepAt(cache, "huge", "t", replyOf("x".repeat(60_000)));
    expect(cache.find("huge"), "one that would displace half of the others").to.equal(undefined);
  });

  it("are not kept at all where the cache has no bytes", async () => {
    expect(createResponseCache<string>(0).admit("q", "q")).to.equal(undefined);
    await withThings({ cacheSize: 0 }, {}, async ({ port, states }) => {
      for (let time = 0; time < 4; time += 1) await ask(port, "/api/things");
      expect(states.opened).to.equal(4);
    });
  });

  it("hold no memory beyond their own bytes, compressed as well", async () => {
    for (const json of ["", "{}", '{"name":"é"}', "x".repeat(1000), "x".repeat(10_000)]) {
      const reply = replyOf(json, 0);
      for (const encoding of ["gzip", "br"] as const) {
        const variant = await reply.encoded?.(encoding);
        expect(variant?.bytes.length).to.be.above(0);
        expect(variant?.bytes.buffer.byteLength).to.equal(variant?.bytes.length);
        expect(reply.encoded?.(encoding)).to.equal(variant);
      }
      const { bytes } = reply.plain;
      expect(bytes.toString("utf8")).to.equal(json);
      expect(bytes.buffer.byteLength).to.equal(bytes.length);
    }
  });
});
