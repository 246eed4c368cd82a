import { expect } from "chai";
import fc from "fast-check";
import { entriesFrom, levelOf, rankOf, sizeOf, topLevel } from "../../src/store/counted-set.js";
import { type CountedSets, type CountedSetWriter, createCountedSets } from "../../src/store/counted-set-writer.js";
import { createUndoJournal, rollBack, type UndoJournal } from "../../src/store/journal.js";
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

/** Numbers whose keys are separators of the upper levels: rare, so they are looked for. */
const separatorsOf = (level: number, count: number): number[] => {
  const found: number[] = [];
  for (let n = 0; found.length < count; n++) if (levelOf(keyOf(n)) === level) found.push(n);
  return found;
};

describe("a counted set", () => {
  let store: Store;
  let reading: Reading;
  let journal: UndoJournal;
  let countedSets: CountedSets;
  let writer: CountedSetWriter;

  /** As a new block would. */
  const begin = (): void => {
    journal = createUndoJournal(store.environment);
    writer = countedSets.writer(journal);
  };

  beforeEach(() => {
    ({ store } = openTemporaryStore(loadChain("core3-testnet-a").network));
    reading = createReading(store.environment);
    countedSets = createCountedSets(reading);
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

  it("agrees with a sorted array where separators of every level come and go, whether it remembers them or not", function () {
    this.timeout(60_000);
    const upper = [...separatorsOf(topLevel, 2), ...separatorsOf(2, 12), ...separatorsOf(1, 40)];
    const highest = Math.max(...upper);
    const key = fc.oneof(fc.constantFrom(...upper), fc.integer({ min: 0, max: highest }));
    const step = fc.record({ keys: fc.uniqueArray(key, { maxLength: 60 }), forget: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 8 }), fc.nat(highest), (steps, probe) => {
        const present = new Set<number>();
        for (const { keys, forget } of steps) {
          if (forget) countedSets.forget();
          remove(...keys.filter((n) => present.has(n)));
          insert(...keys.filter((n) => !present.has(n)));
          for (const n of keys) if (!present.delete(n)) present.add(n);
          const sorted = [...present].sort((a, b) => a - b);
          expect(sizeOf(reading, set)).to.equal(sorted.length);
          expect(rankOf(reading, set, keyOf(probe))).to.equal(sorted.filter((n) => n < probe).length);
          for (const place of [0, sorted.length >> 1, sorted.length - 1]) expect(numbersOf(reading, place, 2)).to.deep.equal(sorted.slice(Math.max(0, place), place + 2));
        }
        remove(...present);
        expect(contentsOf(store)["sets"]).to.deep.equal([]);
      }),
      { numRuns: 60 },
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
    store.environment.root.transactionSync(() => rollBack(store.environment, journal.undo()));
    expect(contentsOf(store)).to.deep.equal(before);
  });
});
