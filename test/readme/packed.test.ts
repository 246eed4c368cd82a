import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

const root = fileURLToPath(new URL("../..", import.meta.url));

describe("The package", () => {
  it("has every file that the README links to", () => {
    // What `prepare` builds is no part of this.
    const [{ files }] = JSON.parse(execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })) as [{ files: { path: string }[] }];
    const packed = new Set(files.map(({ path }) => path));
    const links = [...readFileSync(`${root}/README.md`, "utf8").matchAll(/\]\(([^):#]+)(?:#[^)]*)?\)/g)].map(([, path = ""]) => path);
    expect(links.length).to.be.greaterThan(10);
    expect(links.filter((path) => !packed.has(path))).to.deep.equal([]);
  });
});
