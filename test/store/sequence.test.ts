import { expect } from "chai";
import fc from "fast-check";
import {
  arraySequence,
  concatSequences,
  directed,
  numberSequence,
  reverseSequence,
  type Sequence,
  unionSequence,
  withoutPlaces,
} from "../../src/store/sequence.js";

const offset = fc.integer({ min: 0, max: 60 });
const limit = fc.integer({ min: 0, max: 60 });
const numbers = fc.uniqueArray(fc.integer({ min: 0, max: 99 }), { maxLength: 50 });
const ascending = (items: readonly number[]): number[] => [...items].sort((a, b) => a - b);

/** Holds a sequence against the array that it should be. */
const expectLike = <T>(sequence: Sequence<T>, items: readonly T[], from: number, count: number): void => {
  expect(sequence.total).to.equal(items.length);
  expect(sequence.slice(from, count)).to.deep.equal(items.slice(from, from + count));
};

describe("sequences", () => {
  it("run backwards", () => {
    fc.assert(fc.property(numbers, offset, limit, (items, from, count) => expectLike(reverseSequence(arraySequence(items)), [...items].reverse(), from, count)));
    expect(directed(arraySequence([1, 2]), "asc").slice(0, 2)).to.deep.equal([1, 2]);
    expect(directed(arraySequence([1, 2]), "desc").slice(0, 2)).to.deep.equal([2, 1]);
  });

  it("follow one another", () => {
    fc.assert(
      fc.property(fc.array(numbers, { maxLength: 5 }), offset, limit, (parts, from, count) =>
        expectLike(concatSequences(parts.map(arraySequence)), parts.flat(), from, count),
      ),
    );
  });

  it("leave places out", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 60 }), numbers, offset, limit, (total, out, from, count) => {
        const places = ascending(out.filter((place) => place < total));
        const left = Array.from({ length: total }, (_, i) => i).filter((i) => !places.includes(i));
        expectLike(withoutPlaces(numberSequence(total), places), left, from, count);
      }),
    );
  });

  it("merge, when they are disjoint and ascend", () => {
    const split = fc.tuple(numbers, fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 50, maxLength: 50 }));
    fc.assert(
      fc.property(split, offset, limit, ([all, owners], from, count) => {
        const parts = [0, 1, 2, 3].map((owner) => arraySequence(ascending(all.filter((_, i) => owners[i] === owner))));
        expectLike(unionSequence(parts, 100), ascending(all), from, count);
      }),
    );
  });
});
