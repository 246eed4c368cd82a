import { expect } from "chai";
import type { IndexingProgress } from "../../types/events.js";
import { createProgressReport, progressLine } from "../../examples/standalone/program/progress-report.js";

const at = (height: number, rest: Partial<IndexingProgress> = {}): IndexingProgress => ({ tip: { id: "1", height, timestamp: 0 }, blocksPerSecond: 1_234.4, ...rest });

describe("the standalone host's report of progress", () => {
  for (const [secondsLeft, text] of [
    [0, "0 s"],
    [9.7, "9 s"],
    [60, "1 min 0 s"],
    [754, "12 min 34 s"],
    [7_384, "2 h 3 min"],
    [360_000, "100 h 0 min"],
  ] as const) {
    it(`shows ${text} for ${secondsLeft} seconds`, () => {
      expect(progressLine(at(12_345, { target: 1_000_000, secondsLeft }))).to.equal(`reading the chain  height 12,345 of 1,000,000  1,234 blocks/s  ${text} left`);
    });
  }

  it("omits what it does not know", () => {
    expect(progressLine(at(12_345))).to.equal("reading the chain  height 12,345  1,234 blocks/s");
  });

  it("reports long imports, not blocks that follow one by one", () => {
    const lines: string[] = [];
    const report = createProgressReport({ info: (line) => lines.push(line) });
    for (const height of [40, 90, 300]) report(at(height, { target: 300, secondsLeft: 1 }));
    for (let height = 301; height < 600; height++) report(at(height, { target: height, secondsLeft: 0 }));
    expect(lines.map((line) => /height ([\d,]+)/.exec(line)?.[1])).to.deep.equal(["40", "90", "300"]);
    report(at(700, { target: 90_000, secondsLeft: 5 }));
    expect(lines).to.have.length(4);
  });
});
