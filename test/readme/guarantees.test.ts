import { existsSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { guarantees } from "../promises/guarantees.js";

/** What a test file has for titles, as they are written; of those that are made, up to where something is put in. */
const titlesOf = (source: string): string[] => [...source.matchAll(/\bit\((?:"([^"]+)"|`([^`]+)`)/g)].map(([, plain, made = ""]) => plain ?? made.replace(/\$\{[\s\S]*$/, "…"));

/** A title that ends with … stands for all that begin so. */
const fits = (named: string, title: string): boolean => (named.endsWith("…") ? title.startsWith(named.slice(0, -1).trimEnd()) : title === named);

const faultOf = (file: string, title: string): string | undefined => {
  const at = new URL(`../${file}`, import.meta.url);
  if (!/\.(?:test|long)\.ts$/.test(file) || !existsSync(at)) return `there is no test file ${file}`;
  return titlesOf(readFileSync(at, "utf8")).some((one) => fits(title, one)) ? undefined : `${file} has no test "${title}"`;
};

describe("what Portico guarantees", () => {
  it("is shown by tests that exist", () => {
    const all = Object.values(guarantees).flat();
    expect(all.length).to.be.greaterThan(70);
    for (const { sentence, tests } of all) {
      expect(sentence, "one sentence").to.match(/^[A-Z4][^]*\.$/);
      expect(tests, sentence).not.to.deep.equal([]);
    }
    expect(all.flatMap(({ tests }) => tests.map(([file, title]) => faultOf(file, title))).filter((fault) => fault !== undefined)).to.deep.equal([]);
  });

  it("is not taken for shown by a test or a file that does not exist, nor by a part of a title", () => {
    const title = "lets nothing overtake where its order is strict";
    expect(faultOf("webhooks/cursors.test.ts", title)).to.equal(undefined);
    expect(faultOf("webhooks/cursors.test.ts", title.slice(0, -7))).to.match(/has no test/);
    expect(faultOf("webhooks/nothing.test.ts", title)).to.match(/no test file/);
    expect(faultOf("webhooks/stage.ts", title)).to.match(/no test file/);
  });
});
