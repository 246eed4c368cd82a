import { expect } from "chai";
import fc from "fast-check";
import type { ChainSnapshot } from "../../types/chain-adapter.js";
import type { BlockData } from "../../types/events.js";
import type { Network } from "../../types/node-context.js";
import { type ChainName, loadChain } from "../data/read.js";
import { count, isLong, seedOr } from "../fixtures/long.js";
import { createMemoryAdapter, type MemoryAdapter } from "../memory-adapter/adapter.js";
import { buildRandomChain, chainWish } from "../random-chain.js";
import { compareAtHeights, createPicks, type OpenAt } from "./history-oracle.js";
import { closeTemporaryStores, contentsOf, openTemporaryStore } from "./temporary-store.js";

/** Of each kind, on each real chain. */
const questions = count(6, 10_000);
const seed = seedOr(20_261);
/** 25 questions of each kind are asked on each. */
const randomChains = isLong ? Math.max(6, Math.ceil(questions / 25)) : 2;

const opened = (snapshot: ChainSnapshot | undefined): ChainSnapshot => {
  if (snapshot === undefined) throw new Error("no state");
  return snapshot;
};

const replayOf = (network: Network, blocks: readonly BlockData[]): MemoryAdapter => {
  const memory = createMemoryAdapter(network);
  for (const block of blocks) memory.apply(block);
  return memory;
};

const atOf =
  ({ snapshotAt }: { snapshotAt?(height: number): unknown }): OpenAt =>
  (height) =>
    opened(snapshotAt?.(height) as ChainSnapshot | undefined);

describe("the states at earlier heights", function () {
  this.timeout(isLong ? 0 : 120_000);
  afterEach(closeTemporaryStores);

  for (const name of ["core3-testnet-a", "core3-custom-c"] satisfies ChainName[]) {
    it(`are those of a replay, on the real chain ${name}`, async () => {
      const { network, blocks: all } = loadChain(name);
      const blocks = isLong ? all : all.slice(0, 160);
      const { store, rules } = openTemporaryStore(network);
      for (let start = 0; start < blocks.length; start += 40) await store.apply(blocks.slice(start, start + 40).map(rules.parseBlock), blocks.length);
      await compareAtHeights(atOf(store), atOf(replayOf(network, blocks)), { height: blocks.length, count: questions, pick: createPicks(seed) });
    });
  }

  it("are those of a replay on random chains, before and after a fork, and reverting leaves no byte of the branch", async () => {
    await fc.assert(
      fc.asyncProperty(chainWish(), fc.integer(), async (wish, picked) => {
        const { network, blocks, forkHeight, otherBranch } = await buildRandomChain(wish);
        const pick = createPicks(picked);
        const { store, rules } = openTemporaryStore(network);
        await store.apply(blocks.map(rules.parseBlock));
        await compareAtHeights(atOf(store), atOf(replayOf(network, blocks)), { height: blocks.length, count: 10, pick });

        const common = blocks.slice(0, forkHeight);
        for (let height = blocks.length; height > forkHeight; height--) await store.revert();
        const fresh = openTemporaryStore(network);
        await fresh.store.apply(common.map(rules.parseBlock));
        expect(contentsOf(store).history).to.deep.equal(contentsOf(fresh.store).history);

        const other = [...common, ...otherBranch];
        if (otherBranch.length > 0) await store.apply(otherBranch.map(rules.parseBlock));
        await compareAtHeights(atOf(store), atOf(replayOf(network, other)), { height: other.length, count: 15, pick });
        await closeTemporaryStores();
      }),
      { numRuns: randomChains, seed },
    );
  });
});
