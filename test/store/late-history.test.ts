import { expect } from "chai";
import { PorticoError } from "../../src/errors.js";
import type { ChainSnapshot } from "../../types/chain-adapter.js";
import { loadChain } from "../data/read.js";
import { createMemoryAdapter } from "../memory-adapter/adapter.js";
import { closeStores, closeTemporaryStores, contentsOf, oldestOf, openStoreAt, openTemporaryStore } from "./temporary-store.js";

const name = "core3-custom-c";
const { network, blocks } = loadChain(name);
/** Height of the store when history is switched on, with undo records for the last few blocks. */
const without = 68;
const undoBlocks = 8;

/** A store that was made without history up to a height, opened with it. */
const openedAnew = async () => {
  const { store, rules, dataDir } = openTemporaryStore(network, { history: false, undoBlocks });
  await store.apply(blocks.slice(0, without - 10).map(rules.parseBlock), without);
  for (const block of blocks.slice(without - 10, without)) await store.apply([rules.parseBlock(block)]);
  await closeStores();
  return openTemporaryStore(network, { dataDir, undoBlocks });
};

const errorOf = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
};

describe("a store without history", () => {
  after(closeTemporaryStores);

  it("has no row of it, and all else as a store that keeps it", async () => {
    const open = async (history: boolean) => {
      const { store, rules } = openTemporaryStore(network, { history, undoBlocks });
      await store.apply(blocks.slice(0, 60).map(rules.parseBlock), 60);
      const { history: rows = [], meta = [], ...rest } = contentsOf(store);
      const nameOf = (entry: string): string => Buffer.from(entry.split("=", 1)[0] ?? "", "hex").toString("latin1");
      const isOfHistory = (entry: string): boolean => /^(checksum )?history/.test(nameOf(entry));
      return { rows: rows.length, ofHistory: meta.filter(isOfHistory).length, rest: { ...rest, meta: meta.filter((entry) => !isOfHistory(entry)) } };
    };
    const [bare, kept] = [await open(false), await open(true)];
    expect([kept.rows > 1_000, kept.ofHistory > 2]).to.deep.equal([true, true]);
    expect([bare.rows, bare.ofHistory]).to.deep.equal([0, 0]);
    expect(bare.rest).to.deep.equal(kept.rest);
  });
});

describe("history of a store that was made without", () => {
  afterEach(closeTemporaryStores);

  it("begins with the tip at which it was switched on, and says so of earlier heights", async () => {
    const { store, rules } = await openedAnew();
    expect(oldestOf(store)).to.equal(without);
    for (const block of blocks.slice(without, without + 8)) await store.apply([rules.parseBlock(block)]);
    expect(oldestOf(store)).to.equal(without);
    const memory = createMemoryAdapter(network);
    for (const block of blocks.slice(0, without + 8)) memory.apply(block);
    const snapshot = store.snapshotAt(without) as ChainSnapshot;
    for (const { address } of (await (memory.snapshotAt?.(without) as ChainSnapshot).wallets({ filter: {}, order: { field: "address", direction: "asc" }, offset: 0, limit: 1000 })).rows) {
      expect(await snapshot.wallet(address)).to.deep.include(await (memory.snapshotAt?.(without) as ChainSnapshot).wallet(address));
    }
    snapshot.release?.();
    const error = errorOf(() => store.snapshotAt(without - 1));
    expect(error).to.be.instanceOf(PorticoError);
    expect((error as PorticoError).code).to.equal("HISTORY_MISSING");
    expect((error as PorticoError).members).to.deep.equal({ oldest: { height: without, id: blocks[without - 1]?.id } });
  });

  it("begins with the tip again when the chain goes back below", async () => {
    const { store, rules } = await openedAnew();
    for (const block of blocks.slice(without, without + 2)) await store.apply([rules.parseBlock(block)]);
    for (let taken = 0; taken < 4; taken++) await store.revert();
    expect(oldestOf(store)).to.equal(without - 2);
    expect(contentsOf(store).history).to.deep.equal([]);
    for (const block of blocks.slice(without - 2, without + 2)) await store.apply([rules.parseBlock(block)]);
    expect(oldestOf(store)).to.equal(without - 2);
  });

  it("is whole again when the chain goes back to where it was switched off", async () => {
    const { store, rules, dataDir } = await openStoreAt(name, without, { undoBlocks });
    const { history } = contentsOf(store);
    const grow = async (to: typeof store, from: number, count: number): Promise<void> => {
      for (const block of blocks.slice(from, from + count)) await to.apply([rules.parseBlock(block)]);
    };
    await closeStores();
    await grow(openTemporaryStore(network, { dataDir, undoBlocks, history: false }).store, without, 3);
    await closeStores();
    const again = openTemporaryStore(network, { dataDir, undoBlocks }).store;
    await grow(again, without + 3, 2);
    expect(oldestOf(again)).to.equal(without + 3);
    for (let taken = 0; taken < 5; taken++) await again.revert();
    expect(oldestOf(again)).to.equal(1);
    expect(contentsOf(again).history).to.deep.equal(history);
    await closeStores();
  });
});
