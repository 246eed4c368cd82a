import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { expect } from "chai";

const root = new URL("../../", import.meta.url);
const readme = readFileSync(new URL("README.md", root), "utf8");
const [, section = ""] = /\n## What Portico promises\n([^]*?)\n## /.exec(readme) ?? [];
const [table = ""] = readFileSync(new URL("test/promises/README.md", root), "utf8").split("\n## ");
const rows = table.split("\n").slice(1).filter((line) => line.includes(".test.ts`")).map((line) => line.split("|").slice(1, 4) as [string, string, string]);
const quoted = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);

describe("what the README promises", () => {
  it("is what the table of tests lists", () => {
    expect(rows.map(([promise]) => promise.trim())).to.deep.equal([...section.matchAll(/^- (.+)$/gm)].map(([, promise]) => promise));
  });

  it("has tests that are there, each with a test in it", () => {
    expect(rows.length).to.be.greaterThan(7);
    for (const [promise, tests] of rows) {
      expect(quoted(tests), promise).not.to.deep.equal([]);
      for (const test of quoted(tests)) {
        expect({ test, exists: existsSync(new URL(`test/${test}`, root)) }).to.deep.equal({ test, exists: true });
        expect(readFileSync(new URL(`test/${test}`, root), "utf8"), test).to.match(/\bit\(/);
      }
    }
  });

  it("has long forms that are there", () => {
    const long = readdirSync(new URL("test", root), { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".long.ts")).map((path) => basename(path, ".long.ts"));
    for (const name of rows.flatMap(([, , names]) => quoted(names))) expect(long).to.include(name);
  });
});
