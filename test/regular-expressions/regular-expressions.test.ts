import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "chai";
import { programOf } from "../fixtures/programs.js";
import { type Expression, repeatingExpressions, repeats } from "./find.js";
import { longest, reviewed } from "./reviewed.js";

describe("regular expressions", () => {
  let repeating: Expression[];
  before(() => (repeating = repeatingExpressions()));

  it("that repeat without a bound have been reviewed: none meets texts of any length, on which V8 may overflow its stack", () => {
    const named = ({ file, source }: { file: string; source: string }): string => `${file}: ${source}`;
    expect(repeating.map(named)).to.have.members(reviewed.map(named));
    for (const { origin, source, hard = [] } of reviewed) expect(hard.length > 0, source).to.equal(longest[origin] !== undefined);
  });

  it("are found wherever they repeat", () => {
    for (const source of ["a*", "\\d+", "[+]{2,}", "(?:a|b)*?", "\\\\+"]) expect(repeats(source), source).to.equal(true);
    for (const source of ["a\\*", "[*+]", "x{1,20}", "\\+?"]) expect(repeats(source), source).to.equal(false);
  });

  it("read long texts in linear time and without overflowing the stack, and so does what reads texts of any length", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ["--no-regexp-optimization", programOf("test/regular-expressions/reading-process.ts"), JSON.stringify(repeating)]);
    const lines = stdout.trim().split("\n");
    expect(lines.filter((line) => !line.startsWith("read: "))).to.deep.equal([]);
    expect(lines).to.include("read: signatures");
  });
});
