import { expect } from "chai";
import fc from "fast-check";
import { firstNotBelow } from "../../src/store/records/sorting.js";
import { firstWhere } from "../../src/text/first-where.js";

describe("binary search", () => {
  it("finds the first number for which a condition holds, or the upper bound, in a logarithmic number of steps", () => {
    const bounds = fc.tuple(fc.nat(2 ** 30), fc.nat(2 ** 30), fc.nat(2 ** 30));
    fc.assert(
      fc.property(bounds, (numbers) => {
        const [low, place, high] = [...numbers].sort((a, b) => a - b) as [number, number, number];
        const asked: number[] = [];
        const holds = (number: number): boolean => {
          asked.push(number);
          return number >= place;
        };
        expect(firstWhere(low, high, holds)).to.equal(place);
        expect(asked.length).to.be.at.most(Math.ceil(Math.log2(high - low + 1)));
        expect(asked.every((number) => number >= low && number < high)).to.equal(true);
      }),
    );
  });

  it("returns the bound of an empty range without testing anything", () => {
    expect(firstWhere(7, 7, () => expect.fail("was asked"))).to.equal(7);
  });
});

describe("searching ascending numbers", () => {
  const searched = (numbers: readonly number[], low: number, high: number, wanted: number): { place: number; read: number } => {
    let read = 0;
    const place = firstNotBelow(low, high, wanted, (at) => {
      read++;
      expect(at).to.be.within(low, high - 1);
      return numbers[at] as number;
    });
    return { place, read };
  };

  it("finds the first one not below the wanted, however they are distributed, with few more reads than binary search", () => {
    const steps = fc.array(fc.oneof(fc.constant(0), fc.nat(3), fc.nat(10 ** 6)), { maxLength: 300 });
    fc.assert(
      fc.property(steps, fc.nat(300), fc.nat(300), fc.nat(10 ** 6), (all, one, other, wanted) => {
        let sum = 0;
        const numbers = all.map((step) => (sum += step));
        const [low, high] = [Math.min(one, other, numbers.length), Math.min(Math.max(one, other), numbers.length)];
        const { place, read } = searched(numbers, low, high, wanted);
        const first = numbers.findIndex((number, at) => at >= low && at < high && number >= wanted);
        expect(place).to.equal(first === -1 ? high : first);
        expect(read).to.be.at.most(low === high ? 0 : 2 + 8 + Math.ceil(Math.log2(high - low)));
      }),
    );
  });
});
