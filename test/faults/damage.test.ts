import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { createChainRules } from "../../src/chain/rules.js";
import { verifyStore } from "../../src/index.js";
import { walkDatabases, walkFreePages, newestMeta, openPageFile } from "../../src/store/lmdb/safe/page-file.js";
import { createStore, type Store } from "../../src/store/state/store.js";
import { loadChain } from "../data/read.js";
import { count, isLong, seedOr } from "../fixtures/long.js";
import { closeStores, closeTemporaryStores, openTemporaryStore, temporaryFolder } from "../store/temporary-store.js";

const chain = loadChain("core3-custom-c");
const pageSize = 4_096;

/** Every key and value of every database that the chain's blocks write, as LMDB reads them. */
const dumpOf = ({ environment: { db } }: Store): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(db).map(([name, database]) => [name, [...database.getKeys({})].map((key) => `${Buffer.from(key).toString("hex")}=${database.getBinary(key)?.toString("hex") ?? ""}`)]),
  );

/** Whole numbers below another, the same for the same seed. */
const randomFrom = (seed: number): ((below: number) => number) => {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
};

/** Pages that hold something. */
const usedPages = (path: string): number[] => {
  const file = openPageFile(path);
  const meta = newestMeta(file);
  const used: number[] = [0, 1];
  const page = (first: number, pages: number): undefined => void used.push(...Array.from({ length: pages }, (_, i) => first + i));
  const nothing = (): undefined => undefined;
  if (meta !== undefined) {
    for (const _ of walkDatabases(meta, file, { page, fault: nothing, entry: nothing, order: nothing }));
    for (const _ of walkFreePages(meta, file, { page, fault: nothing, free: nothing }));
  }
  file.close();
  return used;
};

describe("random damage of a store's file", function () {
  afterEach(closeTemporaryStores);

  it("is found by verifyStore, or has changed nothing that the store holds", async () => {
    const { store, rules } = openTemporaryStore(chain.network, { undoBlocks: 20 });
    for (const block of chain.blocks.slice(0, isLong ? 60 : 40)) await store.apply([rules.parseBlock(block)]);
    for (let reverted = 0; reverted < 3; reverted++) await store.revert();
    store.markComplete();
    const [dump, { path }] = [dumpOf(store), store.environment];
    await closeStores();

    const [original, used] = [readFileSync(path), usedPages(path)];
    const random = randomFrom(seedOr(1));
    const dataDir = temporaryFolder();
    const damaged = join(dataDir, "chain.mdb");
    const somePage = (): number => (used[random(used.length)] ?? 0) * pageSize;
    // Anywhere; in pages that hold something; in their headers; in the meta pages: where less and less damage does more and more harm.
    const places = [() => random(original.length), () => somePage() + random(pageSize), () => somePage() + random(64), () => random(2) * pageSize + random(200)];
    const tries = count(20, 1_000);
    let found = 0;
    for (let left = tries; left > 0; left--) {
      const bytes = Buffer.from(original);
      const length = 1 + random(3);
      const at = Math.min(places[random(places.length)]?.() ?? 0, bytes.length - length);
      for (let i = 0; i < length; i++) bytes[at + i] = (bytes[at + i] ?? 0) ^ (1 + random(255));
      writeFileSync(damaged, bytes);
      const { sound } = await verifyStore({ dataDir });
      if (!sound) found++;
      else {
        const opened = createStore({ dataDir, undoBlocks: 20 }, { rules: createChainRules(chain.network) });
        expect(dumpOf(opened), `${length} bytes from ${at}`).to.deep.equal(dump);
        await opened.stop();
      }
      for (const name of ["chain.mdb-lock", "chain.mdb-writer"]) rmSync(join(dataDir, name), { force: true });
    }
    expect(found).to.be.within(tries / 4, tries - 1);
  });
});
