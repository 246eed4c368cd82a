import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import type { ChainSnapshot } from "../../types/chain-adapter.js";
import type { WalletChangesQuery } from "../../types/chain-queries.js";
import type { BlockData } from "../../types/events.js";
import type { Network } from "../../types/node-context.js";
import { PorticoError } from "../../src/errors.js";
import { count, isLong, seedOr } from "../fixtures/long.js";
import { createMemoryAdapter } from "../memory-adapter/adapter.js";
import { buildRandomChain, chainWish } from "../random-chain.js";
import { closeStores, closeTemporaryStores, openTemporaryStore, temporaryFolder, oldestOf } from "./temporary-store.js";

type Opened = ReturnType<typeof openTemporaryStore>;

const grow = async ({ store, rules }: Opened, blocks: readonly BlockData[]): Promise<void> => {
  for (const block of blocks) await store.apply([rules.parseBlock(block)]);
};

/** A store whose history begins with a height. */
const openLate = async (network: Network, blocks: readonly BlockData[], height: number): Promise<Opened> => {
  const bare = openTemporaryStore(network, { history: false });
  await grow(bare, blocks.slice(0, height));
  await closeStores();
  const dataDir = temporaryFolder();
  writeFileSync(join(dataDir, "chain.mdb"), readFileSync(join(bare.dataDir, "chain.mdb")));
  const late = openTemporaryStore(network, { dataDir });
  await grow(late, blocks.slice(height));
  return late;
};

const changesOf = async (snapshot: ChainSnapshot, query: WalletChangesQuery): Promise<unknown> => {
  try {
    return await snapshot.walletChanges?.(query);
  } catch (error) {
    return error instanceof PorticoError ? error.code : error;
  }
};

/** Ranges that begin and end around the oldest height, in either direction. */
const queriesAround = (oldest: number, tip: number): Omit<WalletChangesQuery, "address">[] => {
  const ranges = [{}, { from: oldest - 1 }, { from: oldest }, { from: oldest + 1 }, { from: oldest + 3 }, { to: oldest }, { from: oldest + 1, to: oldest + 4 }, { from: oldest, to: oldest - 1 }, { from: tip + 1 }];
  const pages = [{ offset: 0, limit: 100 }, { offset: 1, limit: 2 }];
  return ranges.flatMap((heights) => (["asc", "desc"] as const).flatMap((direction) => pages.map((page) => ({ heights, direction, ...page }))));
};

describe("the changes of a wallet where history begins later than the chain", function () {
  this.timeout(isLong ? 0 : 120_000);
  afterEach(closeTemporaryStores);

  const told = { answered: 0, refused: 0 };

  /** Asks the store and a replay; what begins where history does not reach is refused, of wallets that were there. */
  const compare = async ({ store }: Opened, network: Network, blocks: readonly BlockData[]): Promise<void> => {
    const memory = createMemoryAdapter(network);
    for (const block of blocks) memory.apply(block);
    const at = (height: number): ChainSnapshot => memory.snapshotAt?.(height) as ChainSnapshot;
    const tip = blocks.length;
    const oldest = oldestOf(store);
    const { rows } = await at(tip).wallets({ filter: {}, order: { field: "address", direction: "asc" }, offset: 0, limit: 10_000 });
    const some = rows.filter((_, place) => place % Math.ceil(rows.length / 25) === 0);
    for (const height of new Set([oldest, Math.min(oldest + 1, tip), tip])) {
      const stored = (height === tip ? store.snapshot() : store.snapshotAt(height)) as ChainSnapshot;
      for (const { address } of some) {
        const isOld = (await at(oldest).wallet(address)) !== undefined;
        for (const query of queriesAround(oldest, tip)) {
          const [from, to] = [Math.max(1, query.heights.from ?? 1), Math.min(height, query.heights.to ?? Infinity)];
          const isRefused = isOld && oldest > 1 && from <= oldest && from <= to;
          told[isRefused ? "refused" : "answered"]++;
          const expected = isRefused ? "HISTORY_MISSING" : await changesOf(at(height), { address, ...query });
          expect({ query, height, oldest, found: await changesOf(stored, { address, ...query }) }).to.deep.equal({ query, height, oldest, found: expected });
        }
      }
      stored.release?.();
    }
  };

  it("are those of a replay from the block after that on, also where a fork begins below it", async () => {
    await fc.assert(
      fc.asyncProperty(chainWish(), fc.integer({ min: -6, max: 6 }), async (wish, beyond) => {
        const { network, blocks, forkHeight, otherBranch } = await buildRandomChain(wish);
        const late = await openLate(network, blocks, Math.max(1, Math.min(blocks.length, forkHeight + beyond)));
        await compare(late, network, blocks);
        const common = blocks.slice(0, forkHeight);
        for (let height = blocks.length; height > forkHeight; height--) await late.store.revert();
        await compare(late, network, common);
        await grow(late, otherBranch);
        await compare(late, network, [...common, ...otherBranch]);
        await closeTemporaryStores();
      }),
      { numRuns: count(2, 200), seed: seedOr(7) },
    );
    expect(Math.min(told.answered, told.refused)).to.be.above(1_000);
  });
});
