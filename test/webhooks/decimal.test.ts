import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "chai";
import fc from "fast-check";
import { compareDecimals, numberText, toDecimal } from "../../src/webhooks/conditions/json-value.js";
import { programsFolder } from "../fixtures/programs.js";

/** Decimal text as an exact integer, scaled by the given number of decimal places. */
const scaled = (text: string, places: number): bigint => {
  const [whole = "0", fraction = ""] = text.split(".");
  return BigInt(whole + fraction.padEnd(places, "0"));
};

const decimalText = fc
  .tuple(fc.boolean(), fc.bigInt({ min: 0n, max: 10n ** 40n }), fc.option(fc.stringMatching(/^\d{1,20}$/), { nil: undefined }), fc.nat({ max: 3 }))
  .map(([negative, whole, fraction, zeros]) => `${negative ? "-" : ""}${"0".repeat(zeros)}${whole}${fraction === undefined ? "" : `.${fraction}`}`);

const sign = (value: number): number => Math.sign(value);

describe("decimals", () => {
  it("compare by numeric value, however long they are", () => {
    fc.assert(
      fc.property(decimalText, decimalText, (a, b) => {
        const [first, second] = [toDecimal(a), toDecimal(b)];
        const negated = (text: string): bigint => (text.startsWith("-") ? -scaled(text.slice(1), 20) : scaled(text, 20));
        const expected = negated(a) - negated(b);
        expect(first).to.exist;
        expect(second).to.exist;
        expect(sign(compareDecimals(first!, second!))).to.equal(expected < 0n ? -1 : expected > 0n ? 1 : 0);
      }),
    );
  });

  it("are exact for every number", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(Number(numberText(value))).to.equal(value === 0 ? 0 : value);
        expect(numberText(value)).to.match(/^-?\d+(\.\d+)?$/);
        expect(compareDecimals(toDecimal(value)!, toDecimal(numberText(value))!)).to.equal(0);
      }),
    );
  });

  for (const [value, text] of [
    [1e21, "1000000000000000000000"],
    [1.5e-7, "0.00000015"],
    [-0, "0"],
    [-1.25, "-1.25"],
    [12500000000000000001n, "12500000000000000001"],
    [-5n, "-5"],
  ] as const) {
    it(`write ${value} as ${text}`, () => {
      expect(numberText(value)).to.equal(text);
    });
  }

  for (const text of ["", "abc", "1e5", "+1", "1.", ".5", " 1", "0x10", "1,000", "--1", "Infinity"]) {
    it(`do not accept "${text}" as a number`, () => {
      expect(toDecimal(text)).to.equal(undefined);
    });
  }

  it("are read in linear time", () => {
    // In quadratic time, hours.
    const zeros = "0".repeat(4_000_000);
    expect(toDecimal(`1.${zeros}1`)?.fraction).to.have.length(zeros.length + 1);
    expect(toDecimal(`${zeros}1.1${zeros}`)).to.deep.equal({ negative: false, whole: "1", fraction: "1" });
    for (const text of [`${zeros}x`, `1.${zeros}x`, `-${zeros}.`]) expect(toDecimal(text)).to.equal(undefined);
  });

  it("of millions of digits are read without overflowing the stack, however much code the process has compiled", async () => {
    // So V8 compiles expressions once a process has a good deal of compiled code: each character of a repetition takes stack then.
    const zeros = 16_000_000;
    const script = `
      import { toDecimal } from "./src/webhooks/conditions/json-value.js";
      const zeros = "0".repeat(${zeros});
      const { whole, fraction } = toDecimal("-" + zeros + "12." + zeros + "34" + zeros);
      console.log(whole, fraction.length, toDecimal(zeros + "x"), toDecimal("1." + zeros + "e5"));
    `;
    const flags = ["--no-regexp-optimization", "--input-type=module", "--eval", script];
    const { stdout } = await promisify(execFile)(process.execPath, flags, { cwd: programsFolder() });
    expect(stdout.trim()).to.equal(`12 ${zeros + 2} undefined undefined`);
  });

  it("accept no other values as numbers", () => {
    for (const value of [true, null, undefined, {}, [1], Number.NaN, Infinity]) expect(toDecimal(value)).to.equal(undefined);
  });
});
