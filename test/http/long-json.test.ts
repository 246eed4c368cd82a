import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Type } from "@sinclair/typebox";
import { expect } from "chai";
import { createRowsWriter } from "../../src/http/reply/json-writer.js";
import { type Route, routesOf } from "../../src/http/route.js";
import { ask } from "./ask.js";
import { everywhere as atEachHost, routes, type Served, type ThingState } from "./things.js";

const { item, list } = routesOf<ThingState>();
const common = { versions: [2], resource: "lists", stateless: true, cache: "never", summary: "Has lists." } as const;
const Listed = Type.Object({ id: Type.Integer(), value: Type.Unknown(), after: Type.String() });

const listRoutes = (rows: readonly { id: number; value: unknown; after: string }[]): Route<ThingState>[] => [
  ...routes,
  list({ ...common, method: "GET", path: "/lists", item: Listed, answer: ({ page: { offset, limit } }) => ({ rows: rows.slice(offset, offset + limit), total: rows.length }) }),
  item({ ...common, method: "GET", path: "/lists/rows", largeRows: true, reply: Type.Object({ data: Type.Array(Listed), meta: Type.Object({ count: Type.Integer() }) }), answer: () => ({ data: [...rows], meta: { count: rows.length } }) }),
  item({ ...common, method: "GET", path: "/lists/kept", cache: "tip", reply: Type.Object({ data: Listed }), answer: () => ({ data: rows[0]! }) }),
];

/** Texts of 30 characters. */
const texts = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index).padStart(30, "x"));

/** Runs a test at a listener and in a Koa app. */
const everywhere = (title: string, values: readonly unknown[], test: (port: number, served: Served) => Promise<void>): void => {
  const rows = values.map((value, index) => ({ id: index + 1, value, after: `after ${index}` }));
  atEachHost(title, () => ({ needs: { routes: listRoutes(rows), authorize: () => true } }), test);
};

const dataIn = (text: string): string => text.slice(text.indexOf('"data":') + 7, -1);

/** Counts how many values are read, a hundred at a time. */
const counted = (values: unknown[]): { list: unknown; reads(): number } => {
  let reads = 0;
  const list = new Proxy(values, {
    get: (target, name, receiver) => {
      if (typeof name === "string" && name.endsWith("00")) reads += 100;
      return Reflect.get(target, name, receiver) as unknown;
    },
  });
  return { list, reads: () => reads };
};

describe("replies with large rows", () => {
  const large = texts(30_000);
  const odd = [...texts(100), '"', "\\", "\0", "\n", "é", "\u{1f600}", "\ud800", "\u2028", "", -0.5, 1e21, 2n ** 70n, ...texts(30_000), "]", "last"];
  const written = (value: unknown): string => JSON.stringify(value, (_, one: unknown) => (typeof one === "bigint" ? `${one}n` : one)).replace(/"(\d+)n"/g, "$1");

  everywhere("are sent in pieces, and have the same text", [large, [], "short", odd, { a: texts(50_000) }, [1, [texts(300)], { b: 1 }], ["one"], ["x".repeat(600_000)], null], async (port) => {
    const { status, headers, text } = await ask(port, "/api/lists", { headers: { "Accept-Encoding": "br" } });
    const values = [large, [], "short", odd, { a: texts(50_000) }, [1, [texts(300)], { b: 1 }], ["one"], ["x".repeat(600_000)], null];
    expect(status).to.equal(200);
    expect(headers).to.include({ "transfer-encoding": "chunked", "content-type": "application/json; charset=utf-8", "cache-control": "no-cache", vary: "API-Version, Accept, API-Amounts, Accept-Encoding" });
    expect(headers).to.not.have.any.keys("content-encoding", "content-length", "etag");
    expect(dataIn(text) === written(values.map((value, index) => ({ id: index + 1, value, after: `after ${index}` })))).to.equal(true);
  });

  everywhere("are sent as any other, compressed and with their length, where the lists are not much", [texts(10_000), [1, 2, 3]], async (port) => {
    const plain = await ask(port, "/api/lists");
    expect(dataIn(plain.text)).to.equal(JSON.stringify([texts(10_000), [1, 2, 3]].map((value, index) => ({ id: index + 1, value, after: `after ${index}` }))));
    expect(plain.headers).to.include({ "content-length": String(plain.bytes.length) });
    expect((await ask(port, "/api/lists", { headers: { "Accept-Encoding": "gzip" } })).headers).to.include({ "content-encoding": "gzip" });
  });

  everywhere("are kept whole where the reply is kept until the tip moves", [large], async (port) => {
    const replies = [await ask(port, "/api/lists/kept"), await ask(port, "/api/lists/kept")];
    for (const { headers, text } of replies) {
      expect(text === JSON.stringify({ data: { id: 1, value: large, after: "after 0" } })).to.equal(true);
      expect(headers).to.include.keys("etag", "content-length");
    }
  });

  /** Asks, and reads nothing more once there is something to read. */
  const beginToRead = async (port: number, path: string): Promise<IncomingMessage> => {
    const asked = request({ host: "127.0.0.1", port, path, agent: false });
    asked.on("error", () => undefined).end();
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    response.on("error", () => undefined);
    await once(response, "readable");
    return response;
  };

  const rowsOf = (values: readonly unknown[]): string => written({ data: values.map((value, index) => ({ id: index + 1, value, after: `after ${index}` })), meta: { count: values.length } });
  const some = [{ text: "x".repeat(20_000) }, odd.slice(0, 112), null, { "\0": "\0" }];
  const many = Array.from({ length: 60 }, (_, index) => some[index % some.length]);

  everywhere("have rows that are written one by one, with the same text as if they were written together", many, async (port) => {
    const { status, headers, text, bytes } = await ask(port, "/api/lists/rows");
    expect([status, text === rowsOf(many), headers["content-length"]]).to.deep.equal([200, true, String(bytes.length)]);
    expect((await ask(port, "/api/lists/rows", { headers: { "Accept-Encoding": "gzip" } })).headers).to.include({ "content-encoding": "gzip" });
  });

  const more = [...many, ...many];
  everywhere("have rows that are written while they are sent, where they are much", more, async (port) => {
    const { status, headers, text } = await ask(port, "/api/lists/rows", { headers: { "Accept-Encoding": "br" } });
    expect([status, text === rowsOf(more), headers["transfer-encoding"]]).to.deep.equal([200, true, "chunked"]);
    expect(headers).to.not.have.any.keys("content-encoding", "content-length", "etag");
    expect((await ask(port, "/api/lists/rows", { method: "HEAD" })).text).to.equal("");
  });

  everywhere("may have no rows", [], async (port) => {
    expect((await ask(port, "/api/lists/rows")).text).to.equal('{"data":[],"meta":{"count":0}}');
  });

  const row = counted(texts(5_000));
  everywhere("have rows that are written no further than a client reads", Array.from({ length: 400 }, () => row.list), async (port, { edge }) => {
    const before = row.reads();
    const response = await beginToRead(port, "/api/lists/rows");
    for (let turns = 0; turns < 20; turns++) expect((await ask(port, "/api/echo")).status).to.equal(200);
    expect(row.reads() - before).to.be.within(1, 1_000_000);
    response.destroy();
    while (edge.streams.count > 0) await ask(port, "/api/echo");
  });

  it("are held by nobody once they have been written", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const Page = Type.Object({ data: Type.Array(Listed) });
    const pageOf = (value: unknown) => ({ data: [{ id: 1, value, after: "" }] });
    const write = createRowsWriter(Page, { amountsAsText: false });
    const begun = () => {
      const page = pageOf(texts(300));
      expect(write(page)).to.equal(JSON.stringify(page));
      return [new WeakRef(page.data), new WeakRef(page.data[0]!.value as object)];
    };
    const held = begun();
    await nextTurn();
    collect();
    expect(held.map((one) => one.deref())).to.deep.equal([undefined, undefined]);
    // A writer that is used no more would hold nothing, either.
    expect(write(pageOf([]))).to.equal(JSON.stringify(pageOf([])));
  });
});
