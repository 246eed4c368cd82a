import { expect } from "chai";
import { loadChain } from "../data/read.js";
import { closeTemporaryStores, openTemporaryStore } from "./temporary-store.js";

const chain = loadChain("core3-custom-c");

describe("undo records", () => {
  afterEach(closeTemporaryStores);

  it("are kept for the most recent blocks only, even after the node was away for more blocks than that", async () => {
    const { store, rules } = openTemporaryStore(chain.network, { undoBlocks: 5 });
    const blocks = chain.blocks.slice(0, 60).map(rules.parseBlock);
    const kept = (): number[] => [...new Set([...store.environment.db.undo.getKeys({})].map((key) => key.readUInt32BE(0)))];
    for (const block of blocks.slice(0, 20)) await store.apply([block]);
    expect(kept()).to.deep.equal([16, 17, 18, 19, 20]);
    await store.apply(blocks.slice(20, 23), 60);
    await store.apply(blocks.slice(23, 40), 60);
    expect(kept()).to.deep.equal([]);
    await store.apply(blocks.slice(40, 60), 60);
    expect(kept()).to.deep.equal([56, 57, 58, 59, 60]);
  });
});
