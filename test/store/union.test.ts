import { expect } from "chai";
import fc from "fast-check";
import { arraySequence, type Sequence, unionSequence } from "../../src/store/records/sequence.js";
import { disjoint } from "../../src/store/query/union.js";

/** Ascending numbers: a run of them, of which some are left out. */
const ascending = (most: number): fc.Arbitrary<number[]> =>
  fc
    .record({ first: fc.nat(3_000), length: fc.nat(most), apart: fc.constantFrom(1, 2, 3, 50, 2_000), skip: fc.integer({ min: 2, max: 9 }) })
    .map(({ first, length, apart, skip }) =>
      Array.from({ length }, (_, i) => first + i * apart).filter((_, i) => i % skip !== 0),
    );

const union = (lists: readonly (readonly number[])[]): number[] => [...new Set(lists.flat())].sort((a, b) => a - b);

interface Counted {
  result: readonly Sequence<number>[];
  /** Numbers that were read of each list. */
  read: number[];
  /** The most that were read in one step. */
  step: number;
  spent: number;
}

const disjointOf = (lists: readonly (readonly number[])[]): Counted => {
  const read = lists.map(() => 0);
  let [spent, step, before] = [0, 0, 0];
  const sequences = lists.map((numbers, i): Sequence<number> => {
    const sequence = arraySequence(numbers);
    return {
      total: sequence.total,
      slice: (offset, limit) => {
        const part = sequence.slice(offset, limit);
        read[i] = (read[i] ?? 0) + part.length;
        return part;
      },
    };
  });
  const steps = disjoint(sequences, { spend: (rows) => void (spent += rows) });
  for (;;) {
    const { done, value } = steps.next();
    const all = read.reduce((sum, one) => sum + one, 0);
    [step, before] = [Math.max(step, all - before), all];
    if (done === true) return { result: value, read: [...read], step, spent };
  }
};

describe("lists of several owners", () => {
  it("become lists without a number in common, which have every number of theirs", () => {
    fc.assert(
      fc.property(fc.array(ascending(3_000), { maxLength: 6 }), (lists) => {
        const { result } = disjointOf(lists);
        const wanted = union(lists);
        expect(result.reduce((sum, { total }) => sum + total, 0)).to.equal(wanted.length);
        expect(unionSequence(result).slice(0, wanted.length + 1)).to.deep.equal(wanted);
      }),
      { numRuns: 200 },
    );
  });

  it("are read once, except for the longest, of which little is read where the others have few numbers", () => {
    const longest = Array.from({ length: 1_000_000 }, (_, i) => i * 2);
    const few = Array.from({ length: 40 }, (_, i) => i * 49_999);
    const { result, read, spent } = disjointOf([few, longest, few]);
    expect(result.map(({ total }) => total)).to.deep.equal([1_000_000, 20]);
    expect(read[0]).to.equal(few.length);
    expect(read[2]).to.equal(few.length);
    expect(read[1]).to.be.below(40 * few.length);
    expect(spent).to.equal(2 * few.length);
  });

  it("are read in small steps, however many numbers of the longest lie between two of the others", () => {
    const longest = Array.from({ length: 400_000 }, (_, i) => i);
    for (const apart of [1, 2, 100, 299, 301]) {
      const other = Array.from({ length: 1_300 }, (_, i) => i * apart);
      expect(disjointOf([other, longest]).step, `each ${apart}`).to.be.below(20_000);
    }
  });
});
