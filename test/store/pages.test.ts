import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { lmdbFileFault } from "../../src/store/lmdb/safe/file-check.js";
import { metaOffsets } from "../../src/store/lmdb/safe/meta-pages.js";
import { createWebhookStore } from "../../src/webhooks/rows/store.js";
import type { ChainSnapshot } from "../../types/chain-adapter.js";
import { loadChain } from "../data/read.js";
import { lastPageAt, pagesOf } from "./pages.js";
import { closeTemporaryStores, openStoreAt, temporaryFolder } from "./temporary-store.js";
import { count } from "../fixtures/long.js";

const name = "core3-custom-c";
const chain = loadChain(name);

/** Blocks at the beginning. */
const begun = 20;

/** One step: apply or revert some blocks, hold or release a snapshot, write webhooks, or free pages. */
const deed = fc.record({ what: fc.constantFrom("on", "on", "on", "back", "hold", "let go", "deliver", "free"), count: fc.integer({ min: 1, max: count(5, 12) }) });

describe("the pages of a store file", () => {
  afterEach(closeTemporaryStores);

  it("are each either in use once or free, whatever was written, reverted and read meanwhile, and the file may be opened at any time", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(deed, { minLength: 40, maxLength: 80 }), async (deeds) => {
        const { store, rules } = await openStoreAt(name, begun);
        const webhooks = createWebhookStore(store.environment);
        const blocks = chain.blocks.map(rules.parseBlock);
        const held: ChainSnapshot[] = [];
        let height = begun;
        for (const { what, count: times } of deeds) {
          if (what === "on") await store.apply(blocks.slice(height, (height += Math.min(times, blocks.length - height))));
          else if (what === "back") for (let left = Math.min(times, height - 1); left > 0; left--, height--) await store.revert();
          else if (what === "hold") held.push(store.snapshot()!);
          else if (what === "let go") held.shift()?.release?.();
          else if (what === "free") store.freePages();
          else await webhooks.transactionSoon(() => webhooks.announceWork());
          expect(lmdbFileFault(store.environment.path)).to.equal(undefined);
        }
        expect(store.tip()?.height).to.equal(height);
        for (const snapshot of held) snapshot.release?.();
        await store.stop();
        const { used, lost, problems } = pagesOf(store.environment.path);
        expect(problems).to.deep.equal([]);
        expect(lost).to.equal(0);
        expect(used).to.be.above(20);
      }),
      { numRuns: count(2, 100) },
    );
  });

  it("are reported as lost or used twice when they are", async () => {
    const { store, rules } = await openStoreAt(name, begun);
    for (const block of chain.blocks.slice(begun, begun + 10)) await store.apply([rules.parseBlock(block)]);
    await store.stop();
    const copy = join(temporaryFolder(), "damaged.mdb");
    const damage = (metaMember: number, valueOf: (before: bigint) => bigint): void => {
      const bytes = readFileSync(store.environment.path);
      for (const at of [metaMember, 4_096 + metaMember]) bytes.writeBigInt64LE(valueOf(bytes.readBigInt64LE(at)), at);
      writeFileSync(copy, bytes);
    };
    damage(metaOffsets.freeRoot, () => -1n);
    expect(pagesOf(copy)).to.deep.include({ free: 0, problems: [] }).and.to.have.property("lost").above(0);
    damage(lastPageAt, (last) => last - 20n);
    expect(pagesOf(copy).problems).to.not.be.empty;
    const file = readFileSync(store.environment.path);
    const transactionOf = (meta: number): bigint => file.readBigInt64LE(meta + metaOffsets.transaction);
    const newer = transactionOf(0) > transactionOf(4_096) ? 0 : 4_096;
    const main = file.readBigInt64LE(newer + metaOffsets.mainRoot);
    damage(metaOffsets.freeRoot, () => main);
    expect(pagesOf(copy).problems.some((problem) => problem.startsWith(`page ${main} is used`))).to.equal(true);
  });
});
