import { expect } from "chai";
import { below, createChance } from "../bench/chain/mixing.js";
import { approvalOf, averageOf, parseAmount } from "../../src/chain/amount.js";

describe("amounts", () => {
  it("are read from every form in which hosts hold them", () => {
    const bigNumber = { toString: () => "12500000000000000001" };
    for (const [given, expected] of [
      [0, 0n],
      ["0", 0n],
      [-5, -5n],
      ["-12500000000000000001", -12_500_000_000_000_000_001n],
      [9_007_199_254_740_991, 9_007_199_254_740_991n],
      [12_500_000_000_000_000_001n, 12_500_000_000_000_000_001n],
      [bigNumber, 12_500_000_000_000_000_001n],
      ["00012", 12n],
    ] as const) {
      expect(parseAmount(given), String(given)).to.equal(expected);
    }
  });

  it("are refused if they may have lost digits or are malformed", () => {
    expect(() => parseAmount(9_007_199_254_740_992)).to.throw(RangeError, "large amounts must be strings or bigints");
    for (const given of [
      0.5,
      NaN,
      Infinity,
      "",
      " 1",
      "1.0",
      "1e8",
      "0x10",
      "1_000",
      "+1",
      "--1",
      "१",
    ]) {
      expect(() => parseAmount(given), String(given)).to.throw(RangeError, /whole number/);
    }
    expect(() => parseAmount({})).to.throw(RangeError, /whole number/);
  });

  it("give an approval as a percentage with two decimals, cut before it is rounded, as a real node does", () => {
    const supply = 12_500_000_000_000_000n;
    for (const [votes, expected] of [
      [244_099_952_550_000n, 1.95],
      [supply, 100],
      [2n * supply, 200],
      [0n, 0],
      [249_374_999_999_999n, 1.99],
      [249_375_000_000_000n, 2],
      [250_000_000_000_000n, 2],
      [-supply, -100],
      [-1n, 0],
    ] as const) {
      expect(approvalOf(votes, supply), String(votes)).to.equal(expected);
    }
    // Of core3-custom-c, at heights 153 and 408: rounded half up, they would be 64.4 and 32.81.
    expect(approvalOf(8_049_506_233_575_190n, 12_500_015_800_000_000n)).to.equal(64.39);
    expect(approvalOf(4_100_731_088_108_047n, 12_500_077_600_000_000n)).to.equal(32.8);
    expect(approvalOf(1n, 20_000n)).to.equal(0.01);
    expect(approvalOf(1n, 20_001n)).to.equal(0);
    // 1.2345 and 1.235 %: the second is a double above itself.
    expect(approvalOf(12_345n, 1_000_000n)).to.equal(1.23);
    expect(approvalOf(12_350n, 1_000_000n)).to.equal(1.24);
    expect(approvalOf(1n, 0n)).to.equal(0);
    expect(approvalOf(10n ** 30n, 1n)).to.equal(1e32);
  });

  it("give an approval by the digits of the quotient, next to powers of ten, to whole quotients and to halves, too", () => {
    /** The rule, digit by digit. */
    const byDigits = (votes: bigint, supply: bigint): number => {
      const kept = String(supply).length - String(votes).length + 4;
      const quotient = String((votes * 10n ** BigInt(kept)) / supply);
      return Number(Number(`${quotient}e${2 - kept}`).toFixed(2));
    };
    const chance = createChance(7);
    const near = (value: bigint): bigint[] => [-2n, -1n, 0n, 1n, 2n].map((off) => value + off);
    const powers = Array.from({ length: 40 }, (_, i) => 10n ** BigInt(i));
    const supplies = [...powers.flatMap(near), 12_500_015_800_000_000n, 13_617_242_400_000_000n, 3n, 7n * 10n ** 19n].filter((supply) => supply > 0n);
    for (const supply of supplies) {
      const some = Array.from({ length: 200 }, () => (supply * BigInt(below(chance, 2 ** 30))) / 2n ** BigInt(30 + below(chance, 20)));
      const shares = Array.from({ length: 200 }, () => (supply * BigInt(5 * below(chance, 20_000))) / 100_000n);
      const all = [...some, ...shares.flatMap(near), ...powers.flatMap(near), ...near(supply)];
      for (const votes of all.filter((one) => one > 0n && one <= supply)) {
        if (approvalOf(votes, supply) !== byDigits(votes, supply)) expect(approvalOf(votes, supply), `${votes} of ${supply}`).to.equal(byDigits(votes, supply));
      }
    }
  });

  it("give an average, rounded half up", () => {
    expect(averageOf(5_725_837_178n, 379)).to.equal(15_107_750n);
    expect(averageOf(3n, 2)).to.equal(2n);
    expect(averageOf(4n, 3)).to.equal(1n);
    expect(averageOf(0n, 7)).to.equal(0n);
    expect(averageOf(3n * 12_500_000_000_000_000_001n, 3)).to.equal(12_500_000_000_000_000_001n);
  });
});
