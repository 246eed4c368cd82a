import { expect } from "chai";
import fc from "fast-check";
import {
  arraySequence,
  concatSequences,
  directed,
  narrowed,
  reverseSequence,
  type Sequence,
  unionSequence,
  withoutItems,
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

  it("leave items out, asking for the places of few of them", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 60 }), numbers, offset, limit, (total, out, from, count) => {
        const items = Array.from({ length: total }, (_, i) => `item ${i}`);
        const leftOut = ascending(out.filter((place) => place < total)).map((place) => `item ${place}`);
        const left = items.filter((item) => !leftOut.includes(item));
        let asked = 0;
        const placeOf = (item: string): number => {
          asked++;
          return items.indexOf(item);
        };
        expectLike(withoutItems(arraySequence(items), leftOut, placeOf), left, from, count);
        expect(asked).to.be.at.most(Math.ceil(Math.log2(leftOut.length + 1)));
      }),
    );
  });

  it("are narrowed to a window of numbers", () => {
    const bound = fc.integer({ min: -2, max: 105 });
    fc.assert(
      fc.property(numbers, bound, bound, offset, limit, (all, from, below, start, count) => {
        const left = ascending(all).filter((number) => number >= from && number < below);
        expectLike(narrowed(arraySequence(ascending(all)), from, below), left, start, count);
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
