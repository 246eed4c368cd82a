import { expect } from "chai";
import { limits } from "../../src/webhooks/register/draft.js";
import { compilePattern, patternSize } from "../../src/webhooks/conditions/pattern.js";

/** Patterns of some size, all that a pattern can be made of among them. */
const patterns = [
  "x".repeat(999),
  "(x{1000})".repeat(20),
  "(((ab|c?){10}){10}){10}",
  "(?:.?){0,1000}",
  "(){1000}".repeat(5),
  `(\\Q(${"x".repeat(50)}\\E){100}`,
  "([[:alpha:](){}]{5}){100}",
  "[^]{500}[^({]{500}x{2,}",
  "(?P<name>\\d{1,3}\\.){300}",
  "\\({400}\\){400}",
  "(?i)(\\pL{100}){9}",
];

describe("the size of a pattern", () => {
  for (const pattern of patterns) {
    it(`is told from its text to within a factor of six: ${pattern.slice(0, 30)}`, () => {
      const exact = compilePattern(pattern).programSize();
      expect(patternSize(pattern, Infinity)).to.equal(exact);
      expect(patternSize(pattern, 0) / exact).to.be.within(1 / 6, 6);
    });
  }

  it("is told without compiling it if it is far too large", () => {
    // Does not compile.
    expect(patternSize("(x{1000}){1000})", limits.instructions)).to.be.above(limits.instructions);
    expect(() => patternSize("(x{1000}){1000})", Infinity)).to.throw();
  });

  it("is far below the limit for usual ones", () => {
    for (const pattern of ["^[A-Z]{1,40}$", "(\\d{1,3}\\.){3}\\d{1,3}", "^[0-9a-f]{64}$", "(?i)\\border[ -]?\\d{4,12}\\b", "(?P<name>\\w+)@(?P<host>[\\w.]{1,253})"]) {
      expect(patternSize(pattern, limits.instructions)).to.be.below(limits.instructions / 5);
    }
  });
});
