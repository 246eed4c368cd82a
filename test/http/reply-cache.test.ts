import { expect } from "chai";
import fc from "fast-check";
import { createAskedLately } from "../../src/http/cache/doorkeeper.js";
import { createBoundedMap } from "../../src/http/cache/bounded-map.js";
import { createReply, type Reply } from "../../src/http/reply/reply.js";
import { createReplyCache } from "../../src/http/cache/response-cache.js";
import { ask } from "./ask.js";
import { manyThings, type Served, serveThings, type ThingState, withThings } from "./things.js";

const replyOf = (json: string): Reply =>
  createReply({ status: 200, json, height: 1, validated: true, cacheControl: "no-cache", lasting: true }, Infinity);

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

  it("are then shared by every form of the same request in one state", async () => {
    const { text, headers } = await get("/api/things?limit=2");
    await get("/api/things?limit=2");
    for (const [path, version] of [
      ["/api/things?limit=2", {}],
      ["/api/v2/things?limit=2", {}],
      ["/api/things?limit=2", { "API-Version": "2" }],
      ["/api/things?limit=%32", {}],
      ["/api/things?&limit=2&", {}],
    ] as const) {
      // nothing is computed, though a state may be opened to find that out
      const again = await get(path, version);
      expect(again.text).to.equal(text);
      expect(again.headers.etag).to.equal(headers.etag);
      expect(await opened(() => get(path, version))).to.equal(0);
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
  const lookedAt = async (path: string): Promise<number> => {
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

  it("take no more than the allotted bytes", () => {
    const cache = createReplyCache(100_000);
    expect(cache.get("t", "q0")).to.equal(undefined);
    for (let index = 0; index < 500; index += 1) {
      cache.keep("t", `q${index}`, replyOf("x".repeat(1000)), index);
    }
    const present = Array.from({ length: 500 }, (_, index) => cache.get("t", `q${index}`)).filter((reply) => reply !== undefined);
    expect(present.length).to.be.within(20, 50);
    cache.keep("t", "huge", replyOf("x".repeat(60_000)), 0);
    expect(cache.get("t", "huge")).to.equal(undefined);
  });

  it("hold no memory beyond their own bytes", () => {
    for (const json of ["", "{}", '{"name":"é"}', "x".repeat(1000), "x".repeat(10_000)]) {
      const { bytes } = replyOf(json).plain;
      expect(bytes.toString("utf8")).to.equal(json);
      expect(bytes.buffer.byteLength).to.equal(bytes.length);
    }
  });

  it("are not kept for a state that the cache has left", () => {
    const cache = createReplyCache(100_000);
    cache.get("old", "q");
    cache.get("new", "q");
    cache.keep("old", "q", replyOf("1"), 1);
    expect([cache.get("new", "q"), cache.get("old", "q")]).to.deep.equal([undefined, undefined]);
  });

  it("can be prepared for a state before it is asked for, without disturbing the current one", () => {
    const cache = createReplyCache<string>(100_000);
    const [one, two] = [replyOf("1"), replyOf("2")];
    cache.get("first", "q");
    cache.keep("first", "q", one, "asked q");
    cache.keep("first", "r", one, "asked r");
    expect(cache.begin("second")).to.deep.equal(["asked q", "asked r"]);
    cache.keep("second", "q", two, "asked q");
    expect(cache.get("first", "q"), "the state of now is not disturbed").to.equal(one);
    expect(cache.get("second", "q")).to.equal(two);
    expect(cache.get("first", "q")).to.equal(undefined);
  });

  it("are renewed for the questions asked since the last state, and for no others", () => {
    const cache = createReplyCache<string>(100_000);
    const reply = replyOf("1");
    cache.get("first", "q");
    for (const question of ["q", "r"]) cache.keep("first", question, reply, `asked ${question}`);
    cache.keep("first", "what took a while", reply);
    expect(cache.begin("second")).to.deep.equal(["asked q", "asked r"]);
    for (const question of ["q", "r"]) cache.keep("second", question, reply, `asked ${question}`);
    expect(cache.get("second", "q")).to.equal(reply);
    expect(cache.begin("third"), "r was made anew, and not asked for").to.deep.equal(["asked q"]);
    cache.keep("third", "q", reply, "asked q");
    expect(cache.begin("fourth"), "nobody has asked of the third").to.deep.equal([]);
    cache.keep("third", "q", reply, "asked q");
    expect(cache.get("fourth", "q"), "what was kept of another state").to.equal(undefined);
  });

  it("are renewed before a state is shown if they were asked for, and the state is released", async () => {
    const paths = ["/api/things/thing001", "/api/things/thing002"];
    for (const path of [...paths, ...paths]) await get(path);
    const thing = (size: number) => ({ data: { name: "thing001", size, debt: null } });
    const stateAt = (size: number) => ({ things: [{ name: "thing001", size: BigInt(size), debt: null }], tip: { id: `tip${size}`, height: 76 + size } });
    let open = 0;
    const needed: number[] = [];
    for (let size = 2; size <= 6; size += 1) {
      // thing002 is gone: clients that ask for it get the error then
      open += 1;
      await served.edge.renew({ ...stateAt(size), release: () => void (open -= 1) });
      expect(open).to.equal(0);
      expect((await get(paths[0]!)).json, "until then the state of now answers").to.deep.equal(thing(size - 1));

      Object.assign(served.state, stateAt(size));
      needed.push(await opened(async () => expect((await get(paths[0]!)).json).to.deep.equal(thing(size))));
      expect((await get(paths[1]!)).status).to.equal(404);
    }
    // a busy machine may leave it no time, but not each time
    expect(needed).to.include(0);
    expect(served.errors).to.deep.equal([]);
  });
});

describe("the record of recent questions", () => {
  it("tells repeated questions from new ones", () => {
    const lately = createAskedLately(1024);
    const texts = Array.from({ length: 400 }, (_, index) => `/api/wallets/${index}`);
    expect(texts.filter((text) => lately.before(text))).to.deep.equal([]);
    const known = texts.filter((text) => lately.before(text));
    // except those whose place another question has taken
    expect(known.length).to.be.within(200, 399);
  });

  it("forgets questions after enough others", () => {
    const lately = createAskedLately(16);
    lately.before("/api/wallets/first");
    for (let index = 0; index < 500; index += 1) {
      lately.before(`/api/wallets/${index}`);
    }
    expect(lately.before("/api/wallets/first")).to.equal(false);
  });
});

describe("a bounded map", () => {
  it("keeps recently used entries within its size, and never returns another key's value", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(20), fc.boolean())), (steps) => {
        const map = createBoundedMap<{ key: number }>(100);
        const last = new Map<number, { key: number }>();
        for (const [key, write] of steps) {
          if (write) {
            const value = { key };
            map.set(String(key), value, 10);
            last.set(key, value);
          }
          const held = map.get(String(key));
          expect(held === undefined || held === last.get(key)).to.equal(true);
          if (write) {
            expect(held).to.equal(last.get(key));
          }
        }
        const held = Array.from({ length: 21 }, (_, key) => map.get(String(key))).filter((value) => value !== undefined);
        expect(held.length).to.be.at.most(10);
      }),
    );
  });
});
