import { expect } from "chai";
import fc from "fast-check";
import { entriesFrom, rankOf, sizeOf } from "../../src/store/counted-set.js";
import { type CountedSetWriter, createCountedSetWriter, createSeparators, type Separators } from "../../src/store/counted-set-writer.js";
import { createJournal, type Journal, rollBack } from "../../src/store/journal.js";
import { createReading, type Reading } from "../../src/store/reading.js";
import type { Store } from "../../src/store/store.js";
import { loadChain } from "../data/read.js";
import { closeTemporaryStores, contentsOf, openTemporaryStore } from "./temporary-store.js";

const set = 200;
const keyOf = (n: number): Buffer => {
  const key = Buffer.alloc(4);
  key.writeUInt32BE(n);
  return key;
};
const numbersOf = (reading: Reading, from: number, limit: number): number[] =>
  entriesFrom(reading, set, from, limit).map(({ key }) => key.readUInt32BE(0));

describe("a counted set", () => {
  let store: Store;
  let reading: Reading;
  let journal: Journal;
  let separators: Separators;
  let writer: CountedSetWriter;

  /** As a new block would. */
  const begin = (): void => {
    journal = createJournal(store.environment);
    writer = createCountedSetWriter(journal, reading, separators);
  };

  beforeEach(() => {
    ({ store } = openTemporaryStore(loadChain("core3-testnet-a").network));
    reading = createReading(store.environment);
    separators = createSeparators(reading);
    begin();
  });
  afterEach(closeTemporaryStores);

  const insert = (...numbers: number[]): void => {
    store.environment.root.transactionSync(() => {
      for (const n of numbers) writer.insert(set, keyOf(n));
      writer.flush();
    });
  };
  const remove = (...numbers: number[]): void => {
    store.environment.root.transactionSync(() => {
      for (const n of numbers) writer.remove(set, keyOf(n));
      writer.flush();
    });
  };

  it("is empty at first", () => {
    expect(sizeOf(reading, set)).to.equal(0);
    expect(rankOf(reading, set, keyOf(7))).to.equal(0);
    expect(numbersOf(reading, 0, 10)).to.deep.equal([]);
  });

  it("finds every key by its place and every place by its key, over all its levels", function () {
    this.timeout(60_000);
    const count = 20_000;
    const shuffled = Array.from({ length: count }, (_, i) => ((i * 7919) % count) * 3);
    insert(...shuffled);
    const sorted = [...shuffled].sort((a, b) => a - b);
    expect(sizeOf(reading, set)).to.equal(count);
    expect(numbersOf(reading, 0, count)).to.deep.equal(sorted);
    for (let place = 0; place < count; place += 97) {
      const n = place * 3;
      expect(numbersOf(reading, place, 3)).to.deep.equal(sorted.slice(place, place + 3));
      expect(rankOf(reading, set, keyOf(n))).to.equal(place);
      expect(rankOf(reading, set, keyOf(n + 1))).to.equal(place + 1);
    }
  });

  it("agrees with a sorted array after any inserts and removals", () => {
    const numbers = fc.uniqueArray(fc.integer({ min: 0, max: 5_000 }), { maxLength: 400 });
    fc.assert(
      fc.property(numbers, fc.integer({ min: 0, max: 400 }), fc.integer({ min: 0, max: 5_001 }), (all, taken, probe) => {
        insert(...all);
        const gone = all.slice(0, taken);
        remove(...gone);
        const left = all.slice(taken).sort((a, b) => a - b);
        expect(sizeOf(reading, set)).to.equal(left.length);
        expect(numbersOf(reading, 0, 500)).to.deep.equal(left);
        expect(rankOf(reading, set, keyOf(probe))).to.equal(left.filter((n) => n < probe).length);
        remove(...left);
        expect(contentsOf(store)["sets"]).to.deep.equal([]);
      }),
      { numRuns: 30 },
    );
  });

  it("has one shape for one set of keys, whatever came and went before", () => {
    insert(...Array.from({ length: 3_000 }, (_, i) => i * 2));
    const shape = contentsOf(store)["sets"];
    insert(...Array.from({ length: 3_000 }, (_, i) => i * 2 + 1));
    remove(...Array.from({ length: 3_000 }, (_, i) => 5_999 - i * 2));
    expect(contentsOf(store)["sets"]).to.deep.equal(shape);
  });

  it("is put back by its journal", () => {
    insert(...Array.from({ length: 1_000 }, (_, i) => i));
    const before = contentsOf(store);
    begin();
    remove(...Array.from({ length: 500 }, (_, i) => i * 2));
    insert(...Array.from({ length: 500 }, (_, i) => 2_000 + i));
    store.environment.root.transactionSync(() => rollBack(store.environment, journal.undo));
    expect(contentsOf(store)).to.deep.equal(before);
  });
});
