import { readFileSync } from "node:fs";
import { expect } from "chai";
import { v1Routes } from "../../src/api/v1/index.js";
import { v2Routes } from "../../src/api/index.js";
import { atTakers, notAtHeight } from "../../src/http/input/schema.js";

/** Tells whether the text names a path: `/a and /b with all below them; /c with its d and e; /f`. What it names below a path has all below itself, too. */
const readerOf = (text: string): ((path: string) => boolean) => {
  const named = new Set<string>();
  const wholly: string[] = [];
  for (const part of text.split("; ")) {
    const [heads = "", below] = part.split(" with ");
    const paths = heads.split(/, | and /);
    for (const path of paths) named.add(path);
    if (below === "all below them") wholly.push(...paths);
    else for (const name of below?.replace(/^its /, "").split(/, | and /) ?? []) wholly.push(`${paths.join()}/${name}`);
  }
  return (path) => named.has(path) || wholly.some((begin) => path === begin || path.startsWith(`${begin}/`));
};

describe("what a refusal of `at` names", () => {
  const isNamed = readerOf(atTakers);

  it("is every route that takes it, and no other", () => {
    const isTransaction = ({ method, path }: { method: string; path: string }): boolean => method === "POST" && path === "/transactions";
    const routes = v2Routes.filter((route) => !isTransaction(route));
    expect(routes.filter(({ path }) => isNamed(path)).map(({ path }) => path)).to.deep.equal(routes.filter(({ atHeight }) => atHeight === true).map(({ path }) => path));
    expect(v2Routes.find(isTransaction)?.atHeight).to.equal(undefined);
    expect(v1Routes.filter(({ atHeight }) => atHeight === true)).to.deep.equal([]);
  });

  it("is short enough to be read, and the same in the README", () => {
    const { message } = notAtHeight('"at" is not allowed here');
    expect(message).to.include(atTakers);
    expect(message.length).to.be.below(360);
    const readme = readFileSync(new URL("../../src/api/README.md", import.meta.url), "utf8");
    const [, section = ""] = /\n## Earlier heights\n([^]*?)\n## /.exec(readme) ?? [];
    expect(section.replaceAll("`", "").replace(/\s+/g, " ")).to.include(`It is taken by ${atTakers}.`);
  });
});
