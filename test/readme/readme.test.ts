import { readFileSync } from "node:fs";
import { expect } from "chai";
import { v1Routes } from "../../src/api/v1/index.js";
import { v2Routes } from "../../src/api/v2/index.js";
import { operatorNames } from "../../src/webhooks/conditions/operators.js";
import { growthPlot, plotFile } from "../bench/table/plot.js";
import { readResults } from "../bench/table/results.js";
import { contractOf, readReadme, tables, withTables } from "./tables.js";

describe("the README", () => {
  const readme = readReadme();

  it("has every table as generated from the code (by `npm run docs`)", () => {
    expect(withTables(readme)).to.equal(readme);
    for (const name of Object.keys(tables)) expect(readme, name).to.include(`<!-- table: ${name} -->`);
  });

  it("shows the growth of costs as last measured", () => {
    expect(readFileSync(plotFile, "utf8")).to.equal(growthPlot(readResults().curves));
    expect(readme).to.include("(test/bench/growth.svg)");
  });

  it("covers every row of the contract", () => {
    const rows = (routes: typeof v2Routes): string[] => routes.map(({ method, path }) => `${method} ${path}`);
    expect(rows(v1Routes)).to.include.members(contractOf(1));
    expect(rows(v2Routes)).to.include.members(contractOf(2).filter((row) => !row.includes("/webhooks")));
  });

  it("names every dependency and no other package", () => {
    const { dependencies } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
      dependencies: Record<string, string>;
    };
    const section = /## Dependencies\n([\s\S]*?)\n## /.exec(readme)?.[1] ?? "";
    const named = [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name);
    expect(named.sort()).to.deep.equal(Object.keys(dependencies).sort());
  });

  it("names every operator of a webhook's conditions", () => {
    const section = /\n- \*\*Conditions\*\*([\s\S]*?)\n- /.exec(readme)?.[1] ?? "";
    for (const name of operatorNames) expect(section).to.include(`\`${name}\``);
  });

  it("has a host in twenty lines that matches the running example, except for its network", () => {
    const example = readFileSync(new URL("../../examples/koa-host/main.ts", import.meta.url), "utf8");
    expect(readme).to.include(example.slice(example.indexOf("const events")).trim());
  });
});
