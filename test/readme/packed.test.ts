import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** What `npm pack` packs, without what is built. */
const packedFiles = (): string[] => {
  const text = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const [{ files }] = JSON.parse(text) as [{ files: { path: string }[] }];
  return files.map(({ path }) => path).filter((path) => !path.startsWith("dist/"));
};

const linksOf = (document: string): string[] =>
  [...readFileSync(join(root, document), "utf8").matchAll(/\]\((?!https?:|mailto:)([^)\s#]+)(?:#[^)]*)?\)/g)].map(([, link = ""]) => normalize(join(dirname(document), link)));

describe("The package", () => {
  it("has every file, and every folder, that its documents link to", () => {
    const packed = packedFiles();
    const there = new Set([...packed, ...packed.flatMap((path) => [dirname(path), `${dirname(path)}/`])]);
    const documents = packed.filter((path) => path.endsWith(".md"));
    expect(documents).to.include.members(["README.md", "CHANGELOG.md", "SECURITY.md", "types/README.md"]);
    const broken = documents.flatMap((document) => linksOf(document).flatMap((link) => (there.has(link) ? [] : [`${document} links to ${link}`])));
    expect(broken).to.deep.equal([]);
  });
});
