import { expect } from "chai";
import { EventEmitter } from "eventemitter3";
import { request } from "undici";
import { followNode } from "../../src/plugin/replica-context.js";
import { PorticoError } from "../../src/errors.js";
import type { ChainAdapter, ChainSnapshot } from "../../types/chain-adapter.js";
import { startNode } from "../fixtures/node.js";
import { createMemoryAdapter, type MemoryAdapter } from "../memory-adapter/adapter.js";
import { silentLogger } from "../silent.js";
import { at, branch, chain } from "../store/branches.js";

interface Page {
  data: { event: string; cursor: string; block: { id: string } | null; data: { id: string } }[];
  meta: { cursor: string; tip: string; more: boolean };
}

/** A host with a chain of its own, and a node in front of it. */
const serve = async (adapterOf: (memory: MemoryAdapter) => ChainAdapter) => {
  const memory = createMemoryAdapter(chain.network);
  for (let height = 1; height <= 10; height++) memory.apply(at(height));
  const events = new EventEmitter();
  const { plugin, url: api } = await startNode({ events, chain: adapterOf(memory), options: { rateLimit: false } });
  return {
    memory,
    events,
    plugin,
    api,
    feed: async (query: string): Promise<Page & { statusCode?: number }> => (await (await request(`${api}/events/feed?${query}`)).body.json()) as Page,
  };
};

describe("A host's own chain", () => {
  it("is followed by blocks, through a fork, where its adapter offers changes", async () => {
    const { memory, feed } = await serve((one) => one);
    memory.apply(at(11));
    const first = await feed("event=block.*&after=9");
    expect(first.data.map(({ event, block }) => [event, block?.id])).to.deep.equal([["block.applied", at(10).id], ["block.applied", at(11).id]]);
    const waiting = feed(`event=block.*&after=${first.meta.cursor}&wait=30`);
    memory.revert();
    const [other] = branch(10, 11);
    memory.apply(other!);
    const told = (await waiting).data;
    expect(told.at(0)).to.deep.include({ event: "block.reverted" });
    const all = await feed(`event=block.*&after=${first.meta.cursor}`);
    expect(all.data.map(({ event, block }) => [event, block?.id])).to.deep.equal([["block.reverted", at(11).id], ["block.applied", other!.id]]);
  });

  it("has no state held by a request that waits", async () => {
    let open = 0;
    const { memory, feed } = await serve((one) => ({
      ...one,
      snapshot: (bounds) => {
        const snapshot = one.snapshot(bounds) as ChainSnapshot;
        open++;
        return { ...snapshot, release: () => void open-- };
      },
    }));
    const waiting = feed("event=block.*&after=10&wait=30");
    // Answered once the other waits.
    await feed("event=block.*&after=9");
    expect(open).to.equal(0);
    memory.apply(at(11));
    expect((await waiting).data).to.have.length(1);
    expect(open).to.equal(0);
  });

  it("is followed by what the host emits where its adapter offers none, and cursors are places in the log", async () => {
    const { events, plugin, feed } = await serve(({ snapshot }) => ({ snapshot }));
    events.emit("block.applied", at(11));
    events.emit("peer.added", { id: "a peer" });
    events.emit("block.reverted", at(11));
    await plugin.settled();
    const { data, meta } = await feed("after=genesis");
    expect(data.map(({ event, block }) => [event, block])).to.deep.equal([["block.applied", null], ["peer.added", null], ["block.reverted", null]]);
    expect(meta.cursor).to.match(/^~[0-9a-f]{8}\.3$/);
    expect(meta.tip).to.equal(meta.cursor);
    const rest = await feed(`after=${data[1]!.cursor}&event=block.*`);
    expect(rest.data.map(({ event, data: { id } }) => [event, id])).to.deep.equal([["block.reverted", at(11).id]]);
    expect((await feed("after=105-1")).statusCode).to.equal(410);
    expect(await feed("after=5")).to.deep.include({
      statusCode: 400,
      message: '"after" must be genesis, tip, or a cursor of this node, because it follows only its host\'s events',
      validation: { source: "query", keys: ["after"] },
    });
  });

  it("has no stream of changes and no replica where its adapter offers none, and says so", async () => {
    const { api } = await serve(({ snapshot }) => ({ snapshot }));
    const message = "This node's chain offers no changes, which replicas need. Its only events are those that its host emits.";
    for (const query of ["", "?after=5", "?follow=true", "?after=tip&times=true"]) {
      const reply = await request(`${api}/changes${query}`);
      expect(await reply.body.json(), query).to.deep.equal({ statusCode: 501, error: "Not Implemented", message, code: "NOT_SUPPORTED" });
      const head = await request(`${api}/changes${query}`, { method: "HEAD" });
      await head.body.dump();
      expect(head.statusCode, query).to.equal(501);
    }
    const refused: unknown = await followNode({ url: api, logger: silentLogger }).then(() => undefined, (error: unknown) => error);
    expect(refused).to.be.instanceOf(PorticoError).with.property("code", "NOT_SUPPORTED");
    expect((refused as PorticoError).message).to.equal(`the node at ${api} cannot be followed: ${message.slice(0, -1)}`);
  });
});
