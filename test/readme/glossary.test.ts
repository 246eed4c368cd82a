import { readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { readDocument } from "./tables.js";

const root = new URL("../../", import.meta.url);

/** All files of a folder, by their paths from the root. */
const filesIn = (folder: string): string[] =>
  readdirSync(new URL(`${folder}/`, root), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|cts|mts|md)$/.test(entry.name))
    .map(({ parentPath, name }) => `${parentPath}/${name}`);

interface Entry {
  word: string;
  file: string;
}

const glossary = (): Entry[] => {
  const section = readDocument("src/README.md").split("\n## Words\n")[1]?.split("\n## ")[0] ?? "";
  return [...section.matchAll(/^\| ([^|]+) \| [^|]+ \| `([^`]+)` \|$/gm)].map(([, word = "", file = ""]) => ({ word, file }));
};

/** Words that the project once had for things that have other names now. */
const retired = ["shortcut", "long way", "planner", "answerer", "asked-lately", "askedLately", "standingHeaders", "standing-headers", "boundedMap", "bounded-map", "portrait", "plausibleHex"];

describe("the glossary", () => {
  it("has words whose files exist, and have the word", () => {
    const entries = glossary();
    expect(entries.length).to.be.above(10);
    for (const { word, file } of entries) {
      const text = (file + readFileSync(new URL(`src/${file}`, root), "utf8")).toLowerCase().replace(/[^a-z]/g, "");
      for (const one of word.split(", ")) expect(text, `${file}: ${one}`).to.include(one.toLowerCase().replace(/[^a-z]/g, ""));
    }
  });

  it("is kept to: words that were given up do not come back", () => {
    const pattern = new RegExp(`\\b(?:${retired.join("|")})s?\\b`, "i");
    const found = ["src", "types"].flatMap(filesIn).filter((file) => pattern.test(readFileSync(file, "utf8")));
    expect(found).to.deep.equal([]);
  });
});
