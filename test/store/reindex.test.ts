import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { reindexHistory } from "../../src/store/history/reindex.js";
import { PorticoError } from "../../src/errors.js";
import type { ChainSnapshot } from "../../types/chain-adapter.js";
import { loadChain } from "../data/read.js";
import { createMemoryAdapter } from "../memory-adapter/adapter.js";
import { compareAtHeights, createPicks } from "./history-oracle.js";
import { closeStores, closeTemporaryStores, contentsOf, openStoreAt, openTemporaryStore, temporaryFolder } from "./temporary-store.js";

const name = "core3-custom-c";
const { network, blocks } = loadChain(name);
/** Height of the store when history is switched on, with undo records for the last few blocks. */
const without = 68;
const undoBlocks = 8;
const end = 78;

/** The file of a store that was made without history. */
let made: Buffer;
/** The history of a store that had it always, at each height from the one below the lowest that undo records lead to. */
const histories = new Map<number, unknown>();

const prepare = async (): Promise<void> => {
  const first = openTemporaryStore(network, { history: false, undoBlocks });
  await first.store.apply(blocks.slice(0, without - 10).map(first.rules.parseBlock), without);
  for (const block of blocks.slice(without - 10, without)) await first.store.apply([first.rules.parseBlock(block)]);
  await closeStores();
  made = readFileSync(join(first.dataDir, "chain.mdb"));
  const always = await openStoreAt(name, without - undoBlocks);
  for (const block of blocks.slice(without - undoBlocks, end)) {
    await always.store.apply([always.rules.parseBlock(block)]);
    histories.set(block.height, contentsOf(always.store).history);
  }
  await closeTemporaryStores();
};

/** That store, opened with history. */
const openedAnew = () => {
  const dataDir = temporaryFolder();
  writeFileSync(join(dataDir, "chain.mdb"), made);
  return openTemporaryStore(network, { dataDir, undoBlocks });
};

const wholeHistory = (height: number): unknown => {
  expect(histories.has(height)).to.equal(true);
  return histories.get(height);
};

const errorOf = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
};

describe("a store without history", function () {
  this.timeout(120_000);
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

describe("history of a store that was made without", function () {
  this.timeout(120_000);
  before(prepare);
  afterEach(closeTemporaryStores);

  it("begins with the tip at which it was switched on, and says so of earlier heights", async () => {
    const { store, rules } = openedAnew();
    expect(store.oldest()?.height).to.equal(without);
    for (const block of blocks.slice(without, without + 8)) await store.apply([rules.parseBlock(block)]);
    expect(store.oldest()).to.deep.equal({ height: without, id: blocks[without - 1]?.id });
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

  it("is made from its own blocks while it grows, to the byte of one that had it always, and is taken back with blocks written before", async () => {
    const { store, rules, dataDir } = openedAnew();
    await store.apply([rules.parseBlock(blocks[without] ?? blocks[0]!)]);
    const heights: number[] = [];
    const made = reindexHistory({ store, rules, dataDir, undoBlocks, onProgress: (height) => heights.push(height) });
    for (const block of blocks.slice(without + 1, end)) await store.apply([rules.parseBlock(block)]);
    expect(await made).to.equal(true);
    expect(heights.at(-1)).to.equal(without);
    expect(store.oldest()?.height).to.equal(1);
    expect(contentsOf(store).history).to.deep.equal(wholeHistory(end));

    const memory = createMemoryAdapter(network);
    for (const block of blocks.slice(0, end)) memory.apply(block);
    await compareAtHeights(
      (height) => store.snapshotAt(height) as ChainSnapshot,
      (height) => memory.snapshotAt?.(height) as ChainSnapshot,
      { height: end, count: 8, pick: createPicks(7) },
    );

    while ((store.tip()?.height ?? 0) > end - undoBlocks) await store.revert();
    expect(contentsOf(store).history).to.deep.equal(wholeHistory(end - undoBlocks));
  });

  it("is taken back with blocks that were written before it was made", async () => {
    const { store, rules, dataDir } = openedAnew();
    expect(await reindexHistory({ store, rules, dataDir, undoBlocks })).to.equal(true);
    await store.apply([rules.parseBlock(blocks[without] ?? blocks[0]!)]);
    for (let taken = 0; taken < undoBlocks; taken++) await store.revert();
    const height = without + 1 - undoBlocks;
    expect(store.oldest()?.height).to.equal(1);
    expect(contentsOf(store).history).to.deep.equal(wholeHistory(height));
    for (const block of blocks.slice(height, height + 3)) await store.apply([rules.parseBlock(block)]);
    expect(contentsOf(store).history).to.deep.equal(wholeHistory(height + 3));
  });

  it("can be ended on the way, and leaves what was there", async () => {
    const { store, rules, dataDir } = openedAnew();
    await store.apply([rules.parseBlock(blocks[without] ?? blocks[0]!)]);
    const ending = new AbortController();
    expect(await reindexHistory({ store, rules, dataDir, undoBlocks, signal: ending.signal, onProgress: () => ending.abort() })).to.equal(false);
    expect(store.oldest()?.height).to.equal(without);
    expect(await reindexHistory({ store, rules, dataDir, undoBlocks })).to.equal(true);
    expect(contentsOf(store).history).to.deep.equal(wholeHistory(without + 1));
  });
});
