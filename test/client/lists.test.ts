import { expect } from "chai";
import { EventEmitter } from "eventemitter3";
import { type ClientRequest, createClient } from "../../src/client/index.js";
import type { BlockData } from "../../types/events.js";
import { type NodeDefaults, type StartedNode, startNode } from "../fixtures/node.js";
import { count } from "../fixtures/long.js";
import { blockData, genesis, network, transferData } from "../follow/schedule.js";
import { startProxy } from "./faulty-proxy.js";

/** A chain that grows and forks as told, and nodes that follow it. */
const createHost = () => {
  const blocks: BlockData[] = [genesis];
  const nodes: { node: StartedNode; events: EventEmitter }[] = [];
  const emit = async (event: string, block: BlockData | undefined): Promise<void> => {
    for (const { node, events } of nodes) {
      events.emit(event, block);
      await node.plugin.settled();
    }
  };
  return {
    blocks,
    serve: async (options: NodeDefaults["options"] = {}): Promise<StartedNode> => {
      const events = new EventEmitter();
      const own = nodes.length === 0 ? blocks : [...blocks];
      const node = await startNode({ network, events, blocks: { read: (from, limit) => own.slice(from - 1, from - 1 + limit) }, options: { rateLimit: false, staleAfter: false, webhooks: false, ...options } });
      await node.plugin.settled();
      if (own === blocks) nodes.push({ node, events });
      return node;
    },
    apply: async (name: string, transactions = 3): Promise<void> => {
      const tip = blocks.at(-1)!;
      const label = `${name} ${tip.height + 1}`;
      const block = blockData(label, tip.height + 1, tip.id, Array.from({ length: transactions }, (_, i) => transferData(`${label} ${i}`, 1, i, i + 1)));
      blocks.push(block);
      await emit("block.applied", block);
    },
    revert: async (): Promise<void> => emit("block.reverted", blocks.pop()),
  };
};

const idsOf = (blocks: readonly BlockData[]): string[] => blocks.flatMap(({ transactions = [] }) => transactions.map(({ id }) => id));

describe("a client's lists", () => {
  it("are one page where they are awaited, and all rows or pages where they are walked", async () => {
    const host = createHost();
    const node = await host.serve();
    for (let i = 0; i < 5; i++) await host.apply("a");
    const client = createClient(node.url);
    const list = client.transactions.list({ limit: 4, orderBy: "timestamp:asc" });
    const { data, meta } = await list;
    expect([data.length, meta.totalCount, meta.pageCount]).to.deep.equal([4, 18, 5]);
    const ids: string[] = [];
    for await (const { id } of list) ids.push(id);
    expect(ids).to.deep.equal(idsOf(host.blocks));
    const pages: number[] = [];
    for await (const page of client.transactions.list({ limit: 4, offset: 5 }).pages()) pages.push(page.data.length);
    expect(pages).to.deep.equal([4, 4, 4, 1]);
    const none: unknown[] = [];
    for await (const page of client.transactions.list({ type: 9 }).pages()) none.push(page.data);
    expect(none).to.deep.equal([[]]);
  });

  for (const orderBy of ["timestamp:desc", "timestamp:asc"] as const) {
    it(`give each row once while blocks and forks come in: ${orderBy}`, async () => {
      const host = createHost();
      const node = await host.serve();
      // 100,000 rows in a long run.
      for (let i = 0; i < count(10, 1_000); i++) await host.apply("a", count(3, 100));
      const limit = count(4, 100);
      const before = new Set(idsOf(host.blocks));
      const seen: string[] = [];
      let round = 0;
      let pins = 0;
      const client = createClient(node.url, { onRequest: ({ url }) => (pins += Number(url.endsWith("/blockchain"))) });
      for await (const { id } of client.transactions.list({ limit, orderBy })) {
        seen.push(id);
        if (seen.length % limit !== 2) continue;
        round++;
        // The block that the walk is pinned to, too.
        for (let i = 0; round % 3 === 0 && i < 4; i++) await host.revert();
        await host.apply(`b${round}`, 2);
      }
      const found = new Set(seen);
      expect(seen.length).to.equal(found.size);
      const kept = idsOf(host.blocks).filter((id) => before.has(id));
      expect(kept.filter((id) => !found.has(id)), "rows that were there from the beginning to the end").to.deep.equal([]);
      expect(pins).to.be.greaterThan(2);
    });
  }

  it("are walked by pages of one block, one ahead, and no further when the walk is left", async () => {
    const host = createHost();
    const node = await host.serve();
    for (let i = 0; i < 5; i++) await host.apply("a");
    const sent: string[] = [];
    const client = createClient(node.url, { onRequest: ({ url }: ClientRequest) => sent.push(url.slice(node.url.length)) });
    for await (const _row of client.transactions.list({ limit: 4 })) break;
    const at = host.blocks.at(-1)!.id;
    expect(sent.slice(0, 2)).to.deep.equal(["/v2/blockchain", `/v2/transactions?limit=4&page=1&at=${at}`]);
    expect(sent.slice(2)).to.deep.equal([`/v2/transactions?limit=4&page=2&at=${at}`]);
  });

  it("are walked where no state is kept, in any order, and not at all where there is nothing of that name", async () => {
    const host = createHost();
    const node = await host.serve({ history: false });
    for (let i = 0; i < 3; i++) await host.apply("a");
    const countOf = async (rows: AsyncIterable<unknown>): Promise<number> => {
      let found = 0;
      for await (const _row of rows) found++;
      return found;
    };
    expect(await countOf(createClient(node.url).transactions.list({ limit: 5 }))).to.equal(12);
    const kept = createClient((await host.serve()).url);
    expect(await countOf(kept.transactions.list({ limit: 5, orderBy: "amount:desc" }))).to.equal(12);
    expect(await countOf(kept.wallets.list({ limit: 1 }))).to.be.greaterThan(2);
    const failure = await countOf(kept.blocks.transactions(99)).catch((error: unknown) => error);
    expect(failure).to.have.property("code", "BLOCK_NOT_FOUND");
  });

  it("stay at nodes that have the block to which a walk is pinned", async () => {
    const host = createHost();
    const node = await host.serve();
    for (let i = 0; i < 4; i++) await host.apply("a");
    // It keeps to these blocks.
    const behind = await startProxy((await host.serve()).port);
    for (let i = 0; i < 4; i++) await host.apply("a");
    const ahead = await startProxy(node.port);
    let asked = 0;
    // The one that is ahead fails now and then.
    ahead.choose = () => (asked++ % 4 === 2 ? 502 : "none");
    const ids: string[] = [];
    for await (const { id } of createClient([ahead.url, behind.url]).transactions.list({ limit: 3, orderBy: "timestamp:asc" })) ids.push(id);
    expect(ids).to.deep.equal(idsOf(host.blocks));
    expect(behind.arrived.length).to.be.greaterThan(0);
  });
});
