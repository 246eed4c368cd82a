import { readFileSync } from "node:fs";
import { expect } from "chai";

const read = (name: string): unknown => JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), "utf8"));

describe("package-lock.json", () => {
  const { allowScripts } = read("package.json") as { allowScripts: Record<string, boolean> };
  const { packages } = read("package-lock.json") as { packages: Record<string, { hasInstallScript?: boolean; gypfile?: boolean }> };

  it("keeps every npm from compiling a package: `node .ci/lock.mjs` writes the marks that npm drops", () => {
    const denied = Object.keys(allowScripts).filter((name) => allowScripts[name] === false);
    expect(denied).to.include("bcrypto");
    for (const name of denied) expect(packages[`node_modules/${name}`], name).to.deep.include({ gypfile: false }).and.not.have.property("hasInstallScript");
  });

  it("has no package whose install script is neither allowed nor denied in package.json (`allowScripts`)", () => {
    const undecided = Object.keys(packages).filter((path) => packages[path]?.hasInstallScript && allowScripts[path.replace(/^.*node_modules\//, "")] === undefined);
    expect(undecided).to.deep.equal([]);
  });
});
