import { expect } from "chai";
import { manyThings, type Served, serveThings } from "./things.js";

interface Page {
  meta: Record<string, unknown>;
  data: { name: string }[];
}

describe("paging", () => {
  let served: Served;
  before(async () => {
    served = await serveThings();
  });
  after(() => served.stop());

  const get = async (path: string, init?: RequestInit): Promise<Page> => {
    const response = await fetch(served.origin + path, init);
    expect(response.status).to.equal(200);
    return (await response.json()) as Page;
  };

  it("returns a hundred rows by default, and the members of `meta` in order", async () => {
    const { meta, data } = await get("/api/things");
    expect(Object.keys(meta)).to.deep.equal(["count", "pageCount", "totalCount", "next", "previous", "self", "first", "last"]);
    expect(meta).to.deep.equal({
      count: 100,
      pageCount: 3,
      totalCount: 250,
      next: "/api/v2/things?page=2&limit=100",
      previous: null,
      self: "/api/v2/things?page=1&limit=100",
      first: "/api/v2/things?page=1&limit=100",
      last: "/api/v2/things?page=3&limit=100",
    });
    expect(data[99]?.name).to.equal("thing099");
  });

  it("repeats the caller's parameters in the caller's order, percent-encoded", async () => {
    const { meta } = await get("/api/v2/things?limit=2&orderBy=name:asc");
    expect(meta.next).to.equal("/api/v2/things?limit=2&orderBy=name%3Aasc&page=2");
    const later = await get("/api/things?page=2&names=thing001,thing002&names=thing%20x&limit=1");
    expect(later.meta.self).to.equal("/api/v2/things?page=2&names=thing001%2Cthing002&names=thing%20x&limit=1");
    expect(later.meta.previous).to.equal("/api/v2/things?page=1&names=thing001%2Cthing002&names=thing%20x&limit=1");
  });

  it("links to the requested path, whichever way the version was named", async () => {
    const { meta } = await get("/api/things/thing001/parts", { headers: { "API-Version": "2" } });
    expect(meta.self).to.equal("/api/v2/things/thing001/parts?page=1&limit=100");
    served.state.things = [{ name: "a b/ü", size: 1n, debt: null }];
    const { meta: odd } = await get("/api/things/a%20b%2F%C3%BC/parts");
    expect(odd.self).to.equal("/api/v2/things/a%20b%2F%C3%BC/parts?page=1&limit=100");
    expect((await get(odd.self as string)).data).to.have.length(1);
    served.state.things = manyThings(250);
  });

  it("visits each row exactly once by its links, and ends at the last page", async () => {
    for (const start of ["/api/things?limit=37", "/api/things?offset=0&limit=37", "/api/things?offset=5&limit=10"]) {
      const names: string[] = [];
      let last = "";
      for (let link: unknown = start; typeof link === "string";) {
        const { meta, data } = await get(link);
        names.push(...data.map(({ name }) => name));
        last = meta.self as string;
        link = meta.next;
      }
      expect(names).to.deep.equal(
        manyThings(250)
          .map(({ name }) => name)
          .slice(start.includes("offset=5") ? 5 : 0),
      );
      const { meta } = await get(start);
      expect(meta.last).to.equal(last);
    }
  });

  it("visits each row exactly once backwards, too, from wherever the first page began", async () => {
    for (const start of ["/api/things?limit=37", "/api/things?offset=5&limit=10", "/api/things?limit=100&offset=99", "/api/things?offset=3"]) {
      const pages: string[][] = [];
      for (let link: unknown = (await get(start)).meta.last; typeof link === "string";) {
        const { meta, data } = await get(link);
        pages.unshift(data.map(({ name }) => name));
        link = meta.previous;
      }
      expect(pages.flat(), start).to.deep.equal(manyThings(250).map(({ name }) => name));
    }
  });

  it("links by offset to where a reader who steps by the limit would come, whatever offset, limit and total", async () => {
    const offsetIn = (link: unknown): [offset: number, limit: number] | null => {
      if (typeof link !== "string") return null;
      const { searchParams } = new URL(link, served.origin);
      return [Number(searchParams.get("offset")), Number(searchParams.get("limit"))];
    };
    // Its rows change, at one tip.
    const own = await serveThings({ cacheSize: 0 });
    try {
      for (const total of [0, 1, 2, 3, 5, 6]) {
        own.state.things = manyThings(total);
        for (const limit of [1, 2, 3]) {
          for (const offset of [0, 1, 2, 3, 4, 7]) {
            const { meta } = (await (await fetch(`${own.origin}/api/things?orderBy=name:asc&offset=${offset}&limit=${limit}`)).json()) as Page;
            const starts = Array.from({ length: 10 }, (_, index) => (offset % limit) + index * limit).filter((start) => start < total);
            const last = starts.at(-1) ?? 0;
            const before = Math.max(0, Math.min(offset - limit, last));
            const previous = offset === 0 ? null : [before, offset < limit ? offset : limit];
            const found = { next: offsetIn(meta.next), previous: offsetIn(meta.previous), last: offsetIn(meta.last), self: offsetIn(meta.self) };
            expect({ total, ...found }).to.deep.equal({ total, next: offset + limit < total ? [offset + limit, limit] : null, previous, last: [last, limit], self: [offset, limit] });
            for (const link of [meta.next, meta.previous, meta.last]) if (typeof link === "string") expect(link).to.contain("orderBy=name%3Aasc&offset=");
          }
        }
      }
    } finally {
      await own.stop();
    }
  });

  it("answers an empty page beyond the end, whose previous page is the last", async () => {
    const { meta, data } = await get("/api/things?page=90&limit=100");
    expect(data).to.deep.equal([]);
    expect(meta).to.include({ count: 0, pageCount: 3, totalCount: 250, next: null, previous: "/api/v2/things?page=3&limit=100" });
    const { meta: byOffset } = await get("/api/things?offset=900&limit=100");
    expect(byOffset).to.include({ count: 0, next: null, previous: "/api/v2/things?offset=200&limit=100" });
  });

  it("counts at least one page", async () => {
    const { meta } = await get("/api/things?name=nobody");
    expect(meta).to.include({ count: 0, pageCount: 1, totalCount: 0, next: null, previous: null });
    expect(meta.last).to.equal("/api/v2/things?name=nobody&page=1&limit=100");
  });

  it("uses the offset if no page is given, and the page if one is", async () => {
    const { meta, data } = await get("/api/things?limit=10&offset=15");
    expect(data[0]?.name).to.equal("thing015");
    expect(meta).to.include({
      pageCount: 25,
      next: "/api/v2/things?limit=10&offset=25",
      previous: "/api/v2/things?limit=10&offset=5",
      self: "/api/v2/things?limit=10&offset=15",
      first: "/api/v2/things?limit=10&offset=0",
      last: "/api/v2/things?limit=10&offset=245",
    });
    const { data: second, meta: both } = await get("/api/things?offset=15&page=2&limit=10");
    expect(second[0]?.name).to.equal("thing010");
    expect(both.next).to.equal("/api/v2/things?page=3&limit=10");
  });

  it("leaves the offset out of the links if a page is given, too", async () => {
    const { meta } = await get("/api/things?limit=10&offset=15&page=2&names=thing001");
    expect(meta).to.include({
      next: null,
      previous: "/api/v2/things?limit=10&page=1&names=thing001",
      self: "/api/v2/things?limit=10&page=2&names=thing001",
      first: "/api/v2/things?limit=10&page=1&names=thing001",
      last: "/api/v2/things?limit=10&page=1&names=thing001",
    });
    const { meta: encoded } = await get("/api/things?o%66fset=15&page=2");
    expect(encoded.self).to.equal("/api/v2/things?page=2&limit=100");
  });

  it("takes the page of a search from the query string", async () => {
    const search = { method: "POST", body: '{"size":{"from":100}}' };
    const { meta, data } = await get("/api/things/search?limit=60", search);
    expect(data[0]?.name).to.equal("thing100");
    expect(meta).to.include({ totalCount: 150, next: "/api/v2/things/search?limit=60&page=2" });
    const { data: last } = await get(meta.last as string, search);
    expect(last.map(({ name }) => name)).to.deep.equal(
      manyThings(250)
        .slice(220)
        .map(({ name }) => name),
    );
  });

  const refused: [string, string, string][] = [
    ["limit=0", "limit", "must be >= 1"],
    ["limit=101", "limit", "must be <= 100"],
    ["limit=x", "limit", "must be integer"],
    ["limit=", "limit", "must be integer"],
    ["limit=1.5", "limit", "must be integer"],
    ["limit=1e1", "limit", "must be integer"],
    ["page=0", "page", "must be >= 1"],
    ["page=-1", "page", "must be >= 1"],
    ["page=99999999999999999999", "page", "must be <= 90071992547409"],
    ["offset=-1", "offset", "must be >= 0"],
    ["offset=99999999999999999999", "offset", "must be <= 9007199254740991"],
    ["limit=1&limit=1", "limit", "must be given once"],
  ];
  for (const [query, key, rule] of refused) {
    it(`refuses ${query}`, async () => {
      const response = await fetch(`${served.origin}/api/things?${query}`);
      expect(response.status).to.equal(400);
      expect(await response.json()).to.deep.equal({
        statusCode: 400,
        error: "Bad Request",
        message: `"${key}" ${rule}`,
        code: "BAD_REQUEST",
        validation: { source: "query", keys: [key] },
      });
    });
  }
});
