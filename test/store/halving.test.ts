import { expect } from "chai";
import fc from "fast-check";
import { firstWhere } from "../../src/store/halving.js";

describe("halving", () => {
  it("finds the first number for which something holds, or where all end, and asks for few", () => {
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

  it("ends where it begins when there is nothing to ask for", () => {
    expect(firstWhere(7, 7, () => expect.fail("was asked"))).to.equal(7);
  });
});
