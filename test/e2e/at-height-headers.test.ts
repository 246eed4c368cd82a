import { expect } from "chai";
import type { BlockData } from "../../types/events.js";
import { loadChain } from "../data/read.js";
import { narrow } from "../fixtures/narrow.js";
import { createMemoryAdapter } from "../memory-adapter/adapter.js";
import { withAt } from "./at-height-questions.js";
import { startNode } from "../fixtures/node.js";
import { type MovingNode, startMovingNode } from "./moving-node.js";

const { network, blocks, wallets } = loadChain("core3-testnet-a");
const top = 120;
const finality = 15;
const immutable = "public, max-age=31536000, immutable";
const address = wallets.find(({ nonce }) => BigInt(nonce) > 5n)?.address ?? "";

const routes = [
  "/blockchain",
  "/delegates?limit=2",
  "/blocks?limit=2",
  "/blocks/5",
  "/transactions?limit=2",
  "/votes?limit=2",
  "/rounds/1/delegates",
  `/wallets/${address}`,
  `/wallets/${address}/transactions?limit=2`,
  `/wallets/${address}/history?limit=2`,
  `/wallets/${address}/statement`,
];

describe("a reply at a height", () => {
  let node: MovingNode;
  before(async () => {
    node = await startMovingNode(network, blocks[0] as BlockData, { finality });
    await node.apply(...blocks.slice(1, top));
  });

  it("may be kept for ever at every route, from the final height down, and at none above it", async () => {
    for (const path of routes) {
      for (const [at, expected] of [[60, immutable], [top - finality, immutable], [top - finality + 1, "no-cache"], [top, "no-cache"]] as const) {
        const { status, headers } = await node.get(withAt(path, at));
        expect({ path, at, status, cacheControl: headers["cache-control"], height: headers["x-block-height"] }).to.deep.equal({ path, at, status: 200, cacheControl: expected, height: String(at) });
      }
    }
  });

  it("is asked for again, by its ETag, where it has the host's own parts", async () => {
    for (const path of ["/node/configuration", "/transactions/types"]) {
      for (const at of [1, 60, top - finality, top]) {
        const { status, headers } = await node.get(`${path}?at=${at}`);
        expect([path, status, headers["cache-control"], headers["x-block-height"]]).to.deep.equal([path, 200, "no-cache", String(at)]);
        const again = await node.get(`${path}?at=${at}`, { headers: { "if-none-match": String(headers.etag) } });
        expect([path, again.status, again.headers["cache-control"]]).to.deep.equal([path, 304, "no-cache"]);
      }
    }
  });

  it("becomes immutable when its block becomes final, with the same bytes, and not before", async () => {
    const path = `/wallets/${address}?at=${top - finality + 2}`;
    const before = await node.get(path);
    expect(before.headers["cache-control"]).to.equal("no-cache");
    await node.apply(blocks[top] as BlockData);
    expect((await node.get(path)).headers["cache-control"]).to.equal("no-cache");
    await node.apply(blocks[top + 1] as BlockData);
    const after = await node.get(path);
    expect(after.headers["cache-control"]).to.equal(immutable);
    expect(after.text).to.equal(before.text);
    await node.revert();
    await node.revert();
  });

  it("is never immutable as an error", async () => {
    for (const [path, status] of [["/wallets/nobody?at=5", 404], [`/blockchain?at=${top + 1}`, 404], ["/blockchain?at=x", 400], ["/wallets?at=5", 400], ["/blocks?at=5&orderBy=totalFee", 400], [`/wallets/${address}/statement?at=60&from=9&to=8`, 400]] as const) {
      const reply = await node.get(path);
      expect({ path, status: reply.status, isImmutable: String(reply.headers["cache-control"]).includes("immutable") }).to.deep.equal({ path, status, isImmutable: false });
      expect((reply.json as { code: string }).code).to.match(/^[A-Z_]+$/);
    }
  });

  it("has an ETag that a client may ask by, until it may be kept for ever and then too", async () => {
    for (const at of [60, top]) {
      const first = await node.get(`/delegates?limit=3&at=${at}`);
      const etag = String(first.headers.etag);
      const again = await node.get(`/delegates?limit=3&at=${at}`, { headers: { "if-none-match": etag } });
      expect({ at, status: again.status, text: again.text, height: again.headers["x-block-height"] }).to.deep.equal({ at, status: 304, text: "", height: String(at) });
      expect(again.headers["cache-control"]).to.equal(first.headers["cache-control"]);
      const head = await node.get(`/delegates?limit=3&at=${at}`, { method: "HEAD" });
      expect([head.status, head.text, head.headers.etag]).to.deep.equal([200, "", etag]);
    }
  });

  it("links to pages at the same height, also below the path of a form of amounts, and through a search", async () => {
    for (const prefix of ["", "/strings", "/v2"]) {
      const seen: string[] = [];
      let path: string | null = `${prefix}/transactions?limit=50&at=100&orderBy=timestamp:asc`;
      for (; path !== null; ) {
        const { json } = await node.get(path);
        const { data, meta } = json as { data: { id: string }[]; meta: Record<string, string | null> };
        for (const link of [meta.self, meta.first, meta.last, meta.next, meta.previous]) if (typeof link === "string") expect(link).to.match(/[?&]at=100(&|$)/);
        seen.push(...data.map(({ id }) => id));
        path = meta.next?.slice("/api".length) ?? null;
      }
      expect(seen).to.deep.equal(blocks.slice(0, 100).flatMap(({ transactions = [] }) => transactions.map(({ id }) => id)));
    }
    const { json } = await node.post("/transactions/search?at=100&limit=2", { type: 0 });
    expect((json as { meta: { next: string } }).meta.next).to.match(/[?&]at=100(&|$)/);
  });

  it("is not offered by the first generation, which knows no such parameter", async () => {
    const plain = await node.get("/v1/blocks?limit=1");
    const asked = await node.get("/v1/blocks?limit=1&at=50");
    expect(asked.headers["x-block-height"]).to.equal(plain.headers["x-block-height"]);
    expect(asked.headers["cache-control"]).to.equal(plain.headers["cache-control"]);
  });
});

describe("the configuration of a node at a height", () => {
  it("has another ETag after a restart with other settings of the host", async () => {
    const chain = createMemoryAdapter(network);
    for (const block of blocks.slice(0, top)) chain.apply(block);
    const tags: (string | undefined)[] = [];
    for (const node of [{ ports: { "@core/api": 4003 } }, { ports: { "@core/api": 4003 } }, { ports: { "@core/api": 5003 } }, { ports: { "@core/api": 5003 }, version: "2.4.1" }]) {
      const { get, stop } = await startNode({ network, chain, node, options: { webhooks: false, finality } });
      const { headers, json } = await get("/node/configuration?at=60");
      expect((json as { data: unknown }).data).to.deep.include({ ports: node.ports });
      expect(headers["cache-control"]).to.equal("no-cache");
      tags.push(headers.etag);
      await stop();
    }
    expect(tags.map((tag) => tags.indexOf(tag))).to.deep.equal([0, 0, 2, 3]);
    expect(tags[0]).to.match(/^"[^"]+"$/);
  });
});

describe("a wide search at a height", () => {
  it("is answered exactly, or refused because it is too wide; it never shows later rows", async () => {
    const wide = await startMovingNode(network, blocks[0] as BlockData, { finality });
    await wide.apply(...blocks.slice(1, top));
    const small = await startNode({ network, chain: narrow(wide.chain, 20), options: { finality, webhooks: false } });
    const paths = ["/transactions?amount.from=0", "/transactions?fee.from=0&amount.from=0&type=0", "/votes?fee.from=1", "/blocks?totalFee.from=0", "/blocks?reward.from=0&totalAmount.from=0", "/transactions?vendorField=e", `/wallets/${address}/transactions?amount.from=0`];
    let refused = 0;
    for (const path of paths) {
      for (const at of [2, 60, top - 1]) {
        const expected = await wide.get(withAt(path, at));
        expect(expected.status).to.equal(200);
        const found = await small.get(withAt(path, at));
        if (found.status === 200) expect(found.text).to.equal(expected.text);
        else {
          refused++;
          expect({ path, at, status: found.status, code: (found.json as { code: string }).code }).to.deep.equal({ path, at, status: 400, code: "SEARCH_TOO_WIDE" });
        }
        const { data } = expected.json as { data: { height?: number; timestamp: { epoch: number } }[] };
        const latest = (blocks[at - 1] as BlockData).timestamp;
        for (const row of data) expect(row.timestamp.epoch).to.be.at.most(latest);
      }
    }
    expect(refused).to.be.greaterThan(0);
  });
});
