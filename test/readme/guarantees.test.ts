import { existsSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { readDocument } from "./tables.js";

const document = "test/promises/README.md";
const heading = "| guaranteed | shown by, under `test` |\n|---|---|\n";

interface Guarantee {
  sentence: string;
  /** File and title, as the table has them. */
  tests: { file: string; title: string }[];
}

const readTests = (cell: string): Guarantee["tests"] =>
  cell.split("<br>").map((part) => {
    const [, file = "", title = ""] = /^`([^`]+)`: (.+)$/.exec(part) ?? [];
    return { file, title };
  });

const guaranteesOf = (text: string): Guarantee[] => {
  const lines = text.split(heading).slice(1).flatMap((table) => table.split("\n\n")[0]?.split("\n") ?? []);
  return lines.filter((line) => line !== "").map((line) => {
    const [, sentence = "", cell = ""] = /^\| (.+?) \| (.+) \|$/.exec(line) ?? [];
    return { sentence, tests: readTests(cell) };
  });
};

/** What a test file has for titles, as they are written; of those that are made, up to where something is put in. */
const titlesOf = (source: string): string[] => [...source.matchAll(/\bit\((?:"([^"]+)"|`([^`]+)`)/g)].map(([, plain, made = ""]) => plain ?? made.replace(/\$\{[\s\S]*$/, "…"));

/** A title that ends with … stands for all that begin so. */
const fits = (named: string, title: string): boolean => (named.endsWith("…") ? title.startsWith(named.slice(0, -1).trimEnd()) : title === named);

const faultOf = ({ file, title }: { file: string; title: string }): string | undefined => {
  const at = new URL(`../${file}`, import.meta.url);
  if (!/\.(?:test|long)\.ts$/.test(file) || !existsSync(at)) return `there is no test file ${file}`;
  return titlesOf(readFileSync(at, "utf8")).some((one) => fits(title, one)) ? undefined : `${file} has no test "${title}"`;
};

describe("what Portico guarantees", () => {
  it(`is shown by tests that exist, as ${document} names them`, () => {
    const guarantees = guaranteesOf(readDocument(document));
    expect(guarantees.length).to.be.greaterThan(70);
    for (const { sentence } of guarantees) expect(sentence, "one sentence").to.match(/^[A-Z4][^]*\.$/);
    expect(guarantees.flatMap(({ tests }) => tests.map(faultOf)).filter((fault) => fault !== undefined)).to.deep.equal([]);
  });

  it("is not taken for shown by a test or a file that does not exist, nor by a part of a title", () => {
    const title = "lets nothing overtake where its order is strict";
    expect(faultOf({ file: "webhooks/cursors.test.ts", title })).to.equal(undefined);
    expect(faultOf({ file: "webhooks/cursors.test.ts", title: title.slice(0, -7) })).to.match(/has no test/);
    expect(faultOf({ file: "webhooks/nothing.test.ts", title })).to.match(/no test file/);
    expect(faultOf({ file: "webhooks/stage.ts", title })).to.match(/no test file/);
    expect(readTests("nothing")).to.deep.equal([{ file: "", title: "" }]);
  });
});
