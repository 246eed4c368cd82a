import { expect } from "chai";
import fc from "fast-check";
import { fromNth, levelOf, rankOf, readEntries, readNumbers, sizeOf, topLevel } from "../../src/store/records/ranked-set.js";
import { type RankedSets, type RankedSetWriter, createRankedSets } from "../../src/store/write/ranked-set-writer.js";
import { createWriteLog } from "../../src/store/layout/write-log.js";
import { createUndoJournal } from "../../src/store/write/undo.js";
import { createWriteBatch, type WriteBatch } from "../../src/store/write/write-batch.js";
import { createReadSession, type ReadSession } from "../../src/store/lmdb/read-session.js";
import { rankedNumbers, rankedSequence } from "../../src/store/records/sequence.js";
import { atOnce } from "../../src/async/time-slicing.js";
import type { Store } from "../../src/store/state/store.js";
import { loadChain } from "../data/read.js";
import { closeTemporaryStores, contentsOf, openTemporaryStore } from "./temporary-store.js";
import { count } from "../fixtures/long.js";

const set = 200;
const keyOf = (n: number): Buffer => {
  const key = Buffer.alloc(4);
  key.writeUInt32BE(n);
  return key;
};
/** Reads both ways: whole entries, and only the numbers that end the keys. */
const numbersOf = (reading: ReadSession, from: number, limit: number): number[] => {
  const numbers = fromNth(readEntries, reading, set, from, limit).map(({ key }) => key.readUInt32BE(0));
  expect(fromNth(readNumbers, reading, set, from, limit)).to.deep.equal(numbers);
  return numbers;
};

/** Numbers whose keys separate the upper levels. They are rare, so they are searched for. */
const separatorsOf = (level: number, count: number): number[] => {
  const found: number[] = [];
  for (let n = 0; found.length < count; n++) if (levelOf(keyOf(n)) === level) found.push(n);
  return found;
};

describe("a counted set", () => {
  let store: Store;
  let reading: ReadSession;
  let pending: WriteBatch;
  let rankedSets: RankedSets;
  let writer: RankedSetWriter;

  /** Starts a journal and a writer, as a new block does. */
  const begin = (): void => {
    writer = rankedSets.writer(createUndoJournal(pending, createWriteLog()));
  };

  beforeEach(() => {
    ({ store } = openTemporaryStore(loadChain("core3-testnet-a").network));
    reading = createReadSession(store.environment);
    pending = createWriteBatch(store.environment);
    rankedSets = createRankedSets(pending);
    begin();
  });
  afterEach(closeTemporaryStores);

  /** Leaves the change uncommitted. */
  const insertPending = (...numbers: number[]): void => {
    for (const n of numbers) writer.insert(set, keyOf(n));
    atOnce(writer.flush());
  };
  const removePending = (...numbers: number[]): void => {
    for (const n of numbers) writer.remove(set, keyOf(n));
    atOnce(writer.flush());
  };
  const insert = (...numbers: number[]): Promise<void> => {
    insertPending(...numbers);
    return pending.commit();
  };
  const remove = (...numbers: number[]): Promise<void> => {
    removePending(...numbers);
    return pending.commit();
  };

  it("finds every key by position and every position by key, across all levels", async () => {
    const count = 20_000;
    const shuffled = Array.from({ length: count }, (_, i) => ((i * 7919) % count) * 3);
    await insert(...shuffled);
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

  it("returns the range between any two keys, short or long, and an empty one when the bounds are reversed", async () => {
    const all = Array.from({ length: 400 }, (_, i) => i * 2);
    await insert(...all);
    const bound = fc.option(fc.oneof(fc.nat(810), fc.integer({ min: 300, max: 380 })), { nil: undefined });
    const keyAt = (n: number | undefined): Buffer | undefined => (n === undefined ? undefined : keyOf(n));
    fc.assert(
      fc.property(bound, bound, fc.nat(450), fc.nat(100), (from, to, offset, limit) => {
        const within = all.filter((n) => (from === undefined || n >= from) && (to === undefined || n < to));
        const numbers = rankedNumbers(reading, set, keyAt(from), keyAt(to));
        const entries = rankedSequence(reading, set, keyAt(from), keyAt(to));
        expect([numbers.total, entries.total]).to.deep.equal([within.length, within.length]);
        expect(numbers.slice(offset, limit)).to.deep.equal(within.slice(offset, offset + limit));
        expect(entries.slice(offset, limit).map(({ key }) => key)).to.deep.equal(within.slice(offset, offset + limit).map(keyOf));
      }),
      { numRuns: count(50, 10_000) },
    );
  });

  it("matches a sorted array when separators of every level come and go, cached or not, committed or pending", async () => {
    const upper = [...separatorsOf(topLevel, 2), ...separatorsOf(2, 12), ...separatorsOf(1, 40)];
    const highest = Math.max(...upper);
    const key = fc.oneof(fc.constantFrom(...upper), fc.integer({ min: 0, max: highest }));
    const step = fc.record({ keys: fc.uniqueArray(key, { maxLength: 60 }), forget: fc.boolean(), commit: fc.constantFrom("not yet", "meanwhile", "now") });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), fc.nat(highest), async (steps, probe) => {
        const present = new Set<number>();
        let underWay: Promise<void> | undefined;
        for (const { keys, forget, commit } of steps) {
          if (forget) rankedSets.forget();
          removePending(...keys.filter((n) => present.has(n)));
          insertPending(...keys.filter((n) => !present.has(n)));
          for (const n of keys) if (!present.delete(n)) present.add(n);
          if (commit === "not yet") continue;
          await underWay;
          underWay = pending.commit();
          if (commit === "meanwhile") continue;
          await underWay;
          const sorted = [...present].sort((a, b) => a - b);
          expect(sizeOf(reading, set)).to.equal(sorted.length);
          expect(rankOf(reading, set, keyOf(probe))).to.equal(sorted.filter((n) => n < probe).length);
          for (const place of [0, sorted.length >> 1, sorted.length - 1]) expect(numbersOf(reading, place, 2)).to.deep.equal(sorted.slice(Math.max(0, place), place + 2));
        }
        await underWay;
        await remove(...present);
        expect(contentsOf(store)["sets"]).to.deep.equal([]);
      }),
      { numRuns: count(8, 1_000) },
    );
  });

  it("has one layout for one set of keys, whatever was inserted and removed before", async () => {
    await insert(...Array.from({ length: 3_000 }, (_, i) => i * 2));
    const shape = contentsOf(store)["sets"];
    await insert(...Array.from({ length: 3_000 }, (_, i) => i * 2 + 1));
    await remove(...Array.from({ length: 3_000 }, (_, i) => 5_999 - i * 2));
    expect(contentsOf(store)["sets"]).to.deep.equal(shape);
  });
});
