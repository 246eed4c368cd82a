import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const reason = "only with module `node20` or later does TypeScript know that Node.js can `require` an ES module";

/** Writes what `require` gets of each entry point of the package, which is the same module. `dist`: the folder of what is compiled. */
export const writeCommonJs = (dist) => {
  const { exports } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  mkdirSync(join(dist, "src", "commonjs"), { recursive: true });
  for (const entry of Object.values(exports).filter((one) => typeof one === "object")) {
    const [file, module] = [join(dist, entry.require.slice("./dist/".length)), `../${entry.import.slice("./dist/src/".length)}`];
    writeFileSync(file, `"use strict";\nmodule.exports = require("${module}");\n`);
    const types = `/** @ts-ignore TS1479: ${reason}. */\nimport portico = require("${module}");\nexport = portico;\n`;
    writeFileSync(file.replace(/\.cjs$/, ".d.cts"), types);
  }
};
