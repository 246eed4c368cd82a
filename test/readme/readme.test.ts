import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { v1Routes } from "../../src/api/v1/index.js";
import { v2Routes } from "../../src/api/index.js";
import { operatorNames } from "../../src/webhooks/conditions/conditions.js";
import { contractOf, documents, fileOf, readDocument, tables, withTables } from "./tables.js";

/** The cells of a Markdown table's rows below a heading. */
const rowsBelow = (heading: string, document: string): string[][] => {
  const section = document.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  return [...section.matchAll(/^\| (.+) \|$/gm)].map(([, cells = ""]) => cells.split(" | ")).slice(1);
};

const packageJson = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { dependencies: Record<string, string> };

/** The headings of a document as links name them. */
const headings = (text: string): string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => heading.toLowerCase().replace(/[^\w\s-]/g, "").replaceAll(" ", "-"));

/** Pages that people read from top to bottom. Those of routes and options are looked up. */
const isGuide = (document: string): boolean => !["src/api/v2/README.md", "src/api/v1/README.md", "src/options/README.md"].includes(document);

describe("the READMEs", () => {
  for (const [document, names] of Object.entries(documents)) {
    describe(document, () => {
      const text = readDocument(document);

      it("has its tables as generated from the code (by `npm run docs`)", () => {
        expect(withTables(text)).to.equal(text);
        expect([...text.matchAll(/<!-- table: ([^>]+) -->/g)].map(([, name]) => name)).to.have.members([...names]);
      });

      it("has no link that leads nowhere", () => {
        const folder = dirname(fileURLToPath(fileOf(document)));
        const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)].map(([, link = ""]) => link);
        expect(links.filter((link) => !existsSync(join(folder, link)))).to.deep.equal([]);
      });

      it("has no link to a heading that is not there", () => {
        const links = [...text.matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)].map(([, link = "", heading = ""]) => ({ link, heading }));
        const headingsOf = (link: string): string[] => headings(link === "" ? text : readFileSync(join(dirname(fileURLToPath(fileOf(document))), link), "utf8"));
        expect(links.filter(({ link, heading }) => !headingsOf(link).includes(heading))).to.deep.equal([]);
      });
    });
  }

  it("have every generated table", () => {
    expect(Object.values(documents).flat()).to.have.members(Object.keys(tables));
  });

  it("begin with one that is read in a few minutes", () => {
    expect(readDocument("README.md").split("\n").length).to.be.at.most(130);
  });

  it("are guides of at most 150 lines", () => {
    expect(Object.keys(documents).filter((document) => isGuide(document) && readDocument(document).split("\n").length > 150)).to.deep.equal([]);
  });

  it("cover every row of the contract", () => {
    const rows = (routes: typeof v2Routes): string[] => routes.map(({ method, path }) => `${method} ${path}`);
    expect(rows(v1Routes)).to.include.members(contractOf(1));
    expect(rows(v2Routes)).to.include.members(contractOf(2).filter((row) => !row.includes("/webhooks")));
  });

  it("name every dependency and no other package", () => {
    const named = rowsBelow("Dependencies", readDocument("src/README.md")).map(([name = ""]) => /^`(.+)`$/.exec(name)?.[1]);
    expect(named.filter((name) => name !== undefined)).to.have.members(Object.keys(packageJson.dependencies));
  });

  it("name every operator of a webhook's conditions", () => {
    const section = /\n- \*\*Conditions\*\*([\s\S]*?)\n- /.exec(readDocument("src/webhooks/README.md"))?.[1] ?? "";
    for (const name of operatorNames) expect(section).to.include(`\`${name}\``);
  });

  it("have a host in twenty lines that matches the running example, except for its network", () => {
    const example = readFileSync(new URL("../../examples/koa-host/main.ts", import.meta.url), "utf8");
    expect(readDocument("README.md")).to.include(example.slice(example.indexOf("const events")).trim());
  });
});
