import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { expect } from "chai";
import { promises } from "./guarantees.js";

const root = new URL("../../", import.meta.url);
const readme = readFileSync(new URL("README.md", root), "utf8");
const [, section = ""] = /\n## What Portico promises\n([^]*?)\n## /.exec(readme) ?? [];

describe("what the README promises", () => {
  it("is what the list of tests has", () => {
    expect(promises.map(({ promise }) => promise)).to.deep.equal([...section.matchAll(/^- (.+)$/gm)].map(([, promise]) => promise));
  });

  it("has tests that are there, each with a test in it", () => {
    expect(promises.length).to.be.greaterThan(7);
    for (const { promise, tests } of promises) {
      expect(tests, promise).not.to.deep.equal([]);
      for (const test of tests) {
        expect({ test, exists: existsSync(new URL(`test/${test}`, root)) }).to.deep.equal({ test, exists: true });
        expect(readFileSync(new URL(`test/${test}`, root), "utf8"), test).to.match(/\bit\(/);
      }
    }
  });

  it("has long forms that are there", () => {
    const long = readdirSync(new URL("test", root), { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".long.ts")).map((path) => basename(path, ".long.ts"));
    for (const name of promises.flatMap((one) => one.long)) expect(long).to.include(name);
  });
});
