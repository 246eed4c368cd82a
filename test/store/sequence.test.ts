import { expect } from "chai";
import fc from "fast-check";
import type { Entry } from "../../src/store/records/ranked-set.js";
import {
  arraySequence,
  concatSequences,
  directed,
  narrowed,
  reverseSequence,
  type Sequence,
  unionSequence,
  withoutKeys,
} from "../../src/store/records/sequence.js";

const offset = fc.integer({ min: 0, max: 60 });
const limit = fc.integer({ min: 0, max: 60 });
const numbers = fc.uniqueArray(fc.integer({ min: 0, max: 99 }), { maxLength: 50 });
const ascending = (items: readonly number[]): number[] => [...items].sort((a, b) => a - b);

/** Compares a sequence with the array that it represents. */
const expectLike = <T>(sequence: Sequence<T>, items: readonly T[], from: number, count: number): void => {
  expect(sequence.total).to.equal(items.length);
  expect(sequence.slice(from, count)).to.deep.equal(items.slice(from, from + count));
};

describe("sequences", () => {
  it("are reversed", () => {
    fc.assert(fc.property(numbers, offset, limit, (items, from, count) => expectLike(reverseSequence(arraySequence(items)), [...items].reverse(), from, count)));
    expect(directed(arraySequence([1, 2]), "asc").slice(0, 2)).to.deep.equal([1, 2]);
    expect(directed(arraySequence([1, 2]), "desc").slice(0, 2)).to.deep.equal([2, 1]);
  });

  it("are concatenated", () => {
    fc.assert(
      fc.property(fc.array(numbers, { maxLength: 5 }), offset, limit, (parts, from, count) =>
        expectLike(concatSequences(parts.map(arraySequence)), parts.flat(), from, count),
      ),
    );
  });

  it("leave out keys, reading few entries to find a position", () => {
    const counts = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 60 });
    fc.assert(
      fc.property(counts, fc.boolean(), offset, limit, (kinds, dense, from, count) => {
        const entries = kinds.map((kind, i): Entry & { out: boolean } => ({
          key: Buffer.from([i]),
          value: Buffer.from(`value ${i}`),
          // Most of them, or few.
          out: dense ? kind > 0 : kind === 0,
        }));
        const keys = entries.filter(({ out }) => out).map(({ key }) => key);
        const all = arraySequence<Entry>(entries);
        let looked = 0;
        const counting: Sequence<Entry> = {
          total: all.total,
          slice: (at, most) => {
            looked++;
            return all.slice(at, most);
          },
        };
        expectLike<Entry>(withoutKeys(all, keys), entries.filter(({ out }) => !out), from, count);
        withoutKeys(counting, keys).slice(from, 0);
        // Some guesses, then binary search.
        expect(looked).to.be.at.most(4 + Math.ceil(Math.log2(keys.length + 1)));
      }),
    );
  });

  it("are narrowed to a range of numbers", () => {
    const bound = fc.integer({ min: -2, max: 105 });
    fc.assert(
      fc.property(numbers, bound, bound, offset, limit, (all, from, below, start, count) => {
        const left = ascending(all).filter((number) => number >= from && number < below);
        expectLike(narrowed(arraySequence(ascending(all)), from, below), left, start, count);
      }),
    );
  });

  it("merge if they are disjoint and ascending, however the numbers are divided among them", () => {
    const split = fc.tuple(numbers, fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3 })), { minLength: 50, maxLength: 50 }));
    fc.assert(
      fc.property(split, offset, limit, ([all, owners], from, count) => {
        const parts = [0, 1, 2, 3].map((owner) => arraySequence(ascending(all.filter((_, i) => owners[i] === owner))));
        expectLike(unionSequence(parts), ascending(all), from, count);
      }),
    );
  });

  it("merge with as many reads as a binary search of each part takes, and fewer near the ends", () => {
    const total = 1_000_000;
    let read = 0;
    /** A large part with even spacing, one at one end, and a small one. */
    const part = (count: number, numberAt: (place: number) => number): Sequence<number> => ({
      total: count,
      slice: (from, most) => {
        read += most;
        return Array.from({ length: Math.min(most, count - from) }, (_, i) => numberAt(from + i));
      },
    });
    const merged = unionSequence([
      part(total, (place) => 3 * place),
      part(total / 2, (place) => 3 * place + 1),
      part(1_000, (place) => 3_000 * place + 2),
    ]);
    for (const [from, first, most] of [
      [0, 0, 0],
      [9, 12, 3 * 4],
      // In every 3,000 numbers: a thousand from each large part and one from the small one.
      [2_001 * 300, 3_000 * 300, 21 + 20 + 11],
      [merged.total - 1, 3 * (total - 1), 3],
    ] as const) {
      read = 0;
      expect(merged.slice(from, 1)).to.deep.equal([first]);
      // The reads of the binary search, those that decide which part is next, and the number itself.
      expect(read).to.be.at.most(most + 3 + 1);
    }
  });
});
