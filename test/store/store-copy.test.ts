import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import { createChainRules } from "../../src/chain/rules.js";
import { verifyStore } from "../../src/index.js";
import { copyStore, type StoreCopy } from "../../src/store/copy/store-copy.js";
import type { Store } from "../../src/store/state/store.js";
import { createWebhookStore } from "../../src/webhooks/rows/store.js";
import { loadChain } from "../data/read.js";
import { webhookRow } from "../webhooks/webhook-row.js";
import { closeTemporaryStores, contentsOf, openStoreAt, openTemporaryStore, temporaryFolder } from "./temporary-store.js";

const name = "core3-custom-c";
const { network, blocks } = loadChain(name);
const { nethash } = network.network;
const undoBlocks = 30;

describe("a copy of a store at a height", () => {
  afterEach(closeTemporaryStores);

  const digestOf = (store: Store): string | undefined => {
    const snapshot = store.snapshot();
    snapshot?.release?.();
    return snapshot?.digest;
  };

  /** A store that has been written for a while, and what copies it. */
  const openWritten = async () => {
    const { store, rules } = await openStoreAt(name, 40, { undoBlocks });
    const apply = async (from: number, to: number): Promise<void> => {
      for (const block of blocks.slice(from - 1, to)) await store.apply([rules.parseBlock(block)]);
    };
    await apply(41, 60);
    store.markComplete();
    const ending = new AbortController();
    const copyAt = (height: number): Promise<StoreCopy | undefined> =>
      copyStore(store.environment, { folder: join(temporaryFolder(), "copy"), height, rules, undoBlocks, signal: ending.signal });
    return { store, apply, copyAt, stop: () => ending.abort() };
  };

  /** Processes that LMDB has among the readers of a store. */
  const readersOf = ({ environment: { root } }: Store): Set<number> => new Set([...root.readerList().matchAll(/^ *(\d+) /gm)].map(([, process]) => Number(process)));

  it("is of one state, whatever the node applies, reverts and frees while its store is read", async () => {
    const { store, apply, copyAt } = await openWritten();
    const webhooks = createWebhookStore(store.environment);
    webhooks.transaction(() => void webhooks.addWebhook(webhookRow));
    const copied = new AbortController();
    const copying = copyAt(50).finally(() => copied.abort());
    let writes = 0;
    for (; !copied.signal.aborted; writes++) {
      for (let count = 0; count < 5; count++) await store.revert();
      await apply(56, 60);
      store.freePages();
    }
    const copy = await copying;
    expect(writes).to.be.above(0);
    expect(copy).to.include({ height: 50, id: blocks[49]?.id, layout: 2 });
    const dataDir = join(copy?.file ?? "", "..");
    expect(await verifyStore({ dataDir, nethash })).to.deep.include({ faults: [], height: 50, digest: copy?.digest });
    expect(readFileSync(store.environment.path).includes(webhookRow.target)).to.equal(true);
    expect(readFileSync(copy?.file ?? "").includes(webhookRow.target)).to.equal(false);

    const [again, written] = [openTemporaryStore(network, { dataDir, undoBlocks }).store, (await openStoreAt(name, 50, { undoBlocks })).store];
    written.markComplete();
    for (const [database, entries] of Object.entries(contentsOf(written))) {
      // It has fewer digests of blocks below; `meta` has the checksums of what is kept.
      if (database !== "digests" && database !== "meta") expect(contentsOf(again)[database], database).to.deep.equal(entries);
    }
    expect(digestOf(written)).to.equal(copy?.digest);
    await again.apply(blocks.slice(50, 60).map(createChainRules(network).parseBlock));
    expect(digestOf(again)).to.equal(digestOf(store));
  });

  it("is not made of a state that cannot be taken back that far, or that has not come so far", async () => {
    const { store, copyAt } = await openWritten();
    expect(await copyAt(60 - undoBlocks - 1)).to.equal(undefined);
    expect(await copyAt(61)).to.equal(undefined);
    for (const height of [60, 60 - undoBlocks]) expect(await copyAt(height)).to.include({ height, id: blocks[height - 1]?.id });
    expect(store.tip()?.height).to.equal(60);
  });

  it("leaves no reader behind, which would keep pages from being used again, when it is ended before it is done", async () => {
    const { store, copyAt, stop } = await openWritten();
    const copied = new AbortController();
    const copying = copyAt(50).catch(() => undefined).finally(() => copied.abort());
    // On a busy machine, all of it may have been between two looks.
    while (readersOf(store).size === 1 && !copied.signal.aborted) await nextTurn();
    stop();
    await copying;
    expect([...readersOf(store)]).to.deep.equal([process.pid]);
  });
});
