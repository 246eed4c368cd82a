import { expect } from "chai";
import { atOnce } from "../../src/async/time-slicing.js";
import { createDigest, digestOf } from "../../src/chain/digest.js";
import { createReadSession } from "../../src/store/lmdb/read-session.js";
import { transact } from "../../src/store/lmdb/safe/transact.js";
import type { Store } from "../../src/store/state/store.js";
import { scanDigest } from "../../src/store/write/undo.js";
import type { BlockData } from "../../types/events.js";
import type { Network } from "../../types/node-context.js";
import { loadChain, loadCore2Chain } from "../data/read.js";
import { count } from "../fixtures/long.js";
import { createMemoryAdapter } from "../memory-adapter/adapter.js";
import { closeTemporaryStores, openStoreAt, openTemporaryStore } from "./temporary-store.js";

const testnet = "core3-testnet-a";
const custom = "core3-custom-c";

const digestIn = (store: Store): string | undefined => {
  const snapshot = store.snapshot();
  const digest = snapshot?.digest;
  snapshot?.release?.();
  return digest;
};

const scanned = ({ environment }: Store): string => atOnce(scanDigest(createReadSession(environment))).toString("hex");

/** Digests by height, as adding up the plain state gives them. */
const digestsByHeight = (network: Network, blocks: readonly BlockData[], heights: readonly number[]): Map<number, string | undefined> => {
  const memory = createMemoryAdapter(network);
  const found = new Map<number, string | undefined>();
  for (const block of blocks) {
    memory.apply(block);
    if (heights.includes(block.height)) found.set(block.height, (memory.snapshot() as { digest?: string } | undefined)?.digest);
  }
  return found;
};

describe("the digest of a state", () => {
  afterEach(closeTemporaryStores);

  for (const name of [testnet, custom, "core2-testnet"] as const) {
    it(`of the real chain ${name} is that of its plain state, at every kind of height and after going back`, async function () {
      const chain = name === "core2-testnet" ? loadCore2Chain() : loadChain(name);
      if (chain === undefined) return this.skip();
      const { network } = chain;
      // The real chains have every type of transaction by then.
      const blocks = chain.blocks.slice(0, count(160, chain.blocks.length));
      const last = blocks.length;
      const heights = [1, 51, 102, 103, last - 40, last];
      const expected = digestsByHeight(network, blocks, heights);
      const { store, rules } = openTemporaryStore(network);
      for (const [i, height] of heights.entries()) {
        await store.apply(blocks.slice(heights[i - 1] ?? 0, height).map(rules.parseBlock));
        expect(digestIn(store), `height ${height}`).to.equal(expected.get(height));
      }
      expect(scanned(store)).to.equal(expected.get(last));
      while ((store.tip()?.height ?? 0) > last - 40) await store.revert();
      expect(digestIn(store)).to.equal(expected.get(last - 40));
    });
  }

  it("is the same whether blocks come one by one, in batches, or without undo records", async () => {
    const { blocks } = loadChain(custom);
    const digests = new Set<string | undefined>();
    for (const [size, chainHeight] of [[1, 0], [7, 0], [25, 110]] as const) {
      const { store, rules } = await openStoreAt(custom, 60, { undoBlocks: 20 });
      for (let from = 60; from < 110; from += size) await store.apply(blocks.slice(from, Math.min(from + size, 110)).map(rules.parseBlock), chainHeight);
      digests.add(digestIn(store));
    }
    expect([...digests]).to.have.length(1);
    expect([...digests][0]).to.match(/^[0-9a-f]{64}$/);
  });

  it("is kept for the blocks that can be reverted and the one below them", async () => {
    const { network, blocks } = loadChain(testnet);
    const { store, rules } = openTemporaryStore(network, { undoBlocks: 5 });
    const kept = (): number[] => [...store.environment.db.digests.getKeys({})].map((key) => Buffer.from(key).readUInt32BE(0));
    for (const block of blocks.slice(0, 10)) await store.apply([rules.parseBlock(block)]);
    expect(kept()).to.deep.equal([5, 6, 7, 8, 9, 10]);
    await store.apply(blocks.slice(10, 18).map(rules.parseBlock), 26);
    expect(kept()).to.deep.equal([18]);
    await store.apply(blocks.slice(18, 26).map(rules.parseBlock), 26);
    expect(kept()).to.deep.equal([21, 22, 23, 24, 25, 26]);
  });

  it("is that of nothing, for a state of nothing, and does not depend on the order of its parts", () => {
    const nothing = atOnce(digestOf({ wallets: [], delegates: [], locks: [], ranks: [], supply: 0n }));
    const one = createDigest(nothing);
    for (const part of ["a", "b", "c"]) one.add(part);
    const other = createDigest(nothing);
    for (const part of ["c", "a", "x", "b"]) other.add(part);
    other.takeOff("x");
    expect(one.bytes().toString("hex")).to.equal(other.bytes().toString("hex"));
    for (const part of ["b", "c", "a"]) one.takeOff(part);
    expect(one.bytes().toString("hex")).to.equal(nothing.toString("hex"));
  });

  it("changes with each figure of the state", async () => {
    const { store } = await openStoreAt(custom, 60);
    const right = scanned(store);
    const { db } = store.environment;
    for (const [name, place] of [["wallets", 3], ["wallets", 9], ["delegates", 2], ["delegates", 3], ["delegates", 4], ["delegates", 5], ["locks", 4]] as const) {
      const [found] = [...db[name].getRange({ limit: 1 })];
      if (found === undefined) throw new Error(`no ${name}`);
      const [key, before] = [Buffer.from(found.key), found.value as unknown[]];
      const changed = before.map((value, i) => (i !== place ? value : typeof value === "bigint" ? value + 1n : typeof value === "number" ? value + 1 : "another"));
      transact(store.environment, () => db[name].putSync(key, changed));
      expect(scanned(store), `${name}, member ${place}`).not.to.equal(right);
      transact(store.environment, () => db[name].putSync(key, before));
      expect(scanned(store)).to.equal(right);
    }
  });
});
