import { expect } from "chai";
import fc from "fast-check";
import { listSequence } from "../../src/store/records/sequence.js";
import { createWriteLog } from "../../src/store/layout/write-log.js";
import { createUndoJournal, rollBack } from "../../src/store/write/undo.js";
import { pieceLength } from "../../src/store/layout/posting-pieces.js";
import { appendToList } from "../../src/store/write/block-writes.js";
import { createWriteBatch, type WriteBatch } from "../../src/store/write/write-batch.js";
import { createReadSession } from "../../src/store/lmdb/read-session.js";
import type { Store } from "../../src/store/state/store.js";
import { loadChain } from "../data/read.js";
import { closeTemporaryStores, contentsOf, openTemporaryStore } from "./temporary-store.js";
import { count } from "../fixtures/long.js";

const list = 200;
const owner = 7;

describe("an appended list", () => {
  let store: Store;
  let pending: WriteBatch;

  beforeEach(() => {
    ({ store } = openTemporaryStore(loadChain("core3-testnet-a").network));
    pending = createWriteBatch(store.environment);
  });
  afterEach(closeTemporaryStores);

  /** Appends numbers as one block does; returns the undo record that removes them. */
  const append = (length: number, numbers: readonly number[], of = owner): Buffer => {
    const undo = createWriteLog();
    const journal = createUndoJournal(pending, undo);
    numbers.forEach((number, i) => appendToList(journal, list, of, length + i, number));
    return undo.bytes();
  };

  const slice = (length: number, offset: number, limit: number, of = owner): number[] =>
    listSequence(createReadSession(store.environment), list, of, length).slice(offset, limit);

  it("reads as one array whatever blocks append and undo, whether they are committed singly or together", async () => {
    const blocks = fc.record({
      takenOut: fc.nat(3),
      sizes: fc.array(fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: pieceLength - 2, max: 2 * pieceLength + 2 })), { maxLength: 4 }),
      commit: fc.boolean(),
      offset: fc.nat(6 * pieceLength),
      limit: fc.nat(3 * pieceLength),
    });
    let of = owner;
    await fc.assert(
      fc.asyncProperty(fc.array(blocks, { maxLength: 12 }), async (steps) => {
        of++;
        const chain: { undo: Buffer; before: number }[] = [];
        const numbers: number[] = [];
        let next = 0;
        for (const { takenOut, sizes, commit, offset, limit } of steps) {
          for (const { undo, before } of takenOut === 0 ? [] : chain.splice(-takenOut).reverse()) {
            rollBack(pending, undo);
            numbers.length = before;
          }
          for (const size of sizes) {
            const added = Array.from({ length: size }, () => next++);
            chain.push({ undo: append(numbers.length, added, of), before: numbers.length });
            numbers.push(...added);
          }
          if (!commit) continue;
          await pending.commit();
          expect(slice(numbers.length, offset, limit, of)).to.deep.equal(numbers.slice(offset, offset + limit));
        }
        await pending.commit();
        expect(slice(numbers.length, 0, Infinity, of)).to.deep.equal(numbers);
        for (const { undo } of chain.reverse()) rollBack(pending, undo);
        await pending.commit();
        expect(contentsOf(store)["lists"]).to.deep.equal([]);
      }),
      { numRuns: count(25, 1_000) },
    );
  });

  it("refuses an append that would leave a gap, and writes nothing of that commit", async () => {
    append(0, [1, 2, 3]);
    append(5, [6], owner + 1);
    const failure: unknown = await pending.commit().catch((error: unknown) => error);
    expect((failure as Error).message).to.equal("The store cannot be written: LMDB cannot write: a list would have a gap.");
    expect(contentsOf(store)["lists"]).to.deep.equal([]);
  });

  it("reports the missing piece when it is shorter than its owner's count", async () => {
    append(0, [1, 2, 3]);
    await pending.commit();
    expect(() => slice(pieceLength + 1, pieceLength, 1)).to.throw("The store is damaged: it has no part of a list, which its index names.");
  });
});
