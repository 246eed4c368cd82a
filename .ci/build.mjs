/**
 * Compiles the library into `dist`. `npm run build` runs it, and so does npm itself (`prepare`) for `npm ci`, `npm pack` and
 * `npm publish`, and for a host that installs this folder or its git repository.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const compiler = fileURLToPath(new URL("../node_modules/typescript/bin/tsc", import.meta.url));
const { npm_lifecycle_event: event, npm_config_omit: omitted = "", INIT_CWD: startedIn, npm_execpath: npm } = process.env;

const run = (script, ...args) => execFileSync(process.execPath, [script, ...args], { cwd: root, stdio: ["ignore", 2, 2] });

/** For each entry point of the package, what `require` gets: the same module. */
const writeCommonJs = () => {
  const { exports } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  mkdirSync(new URL("../dist/src/commonjs/", import.meta.url));
  for (const entry of Object.values(exports).filter((entry) => typeof entry === "object")) {
    const [file, module] = [new URL(`../${entry.require}`, import.meta.url), `../${entry.import.slice("./dist/src/".length)}`];
    writeFileSync(file, `"use strict";\nmodule.exports = require("${module}");\n`);
    const reason = "only with module `node20` or later does TypeScript know that Node.js can `require` an ES module";
    writeFileSync(
      new URL(file.href.replace(/\.cjs$/, ".d.cts")),
      `/** @ts-ignore TS1479: ${reason}. */\nimport portico = require("${module}");\nexport = portico;\n`,
    );
  }
};

const build = async () => {
  // A host that links a folder in which nothing is installed gets no dependencies from npm either.
  if (!existsSync(compiler) && npm !== undefined) run(npm, "ci", "--include=dev", "--ignore-scripts", "--no-audit", "--no-fund");
  rmSync(new URL("../dist", import.meta.url), { recursive: true, force: true });
  // Whether the types are right is `npm run check:types`; checking them here, too, would take each `npm ci` twice as long to compile.
  run(compiler, "-p", "tsconfig.build.json", "--noCheck");
  writeCommonJs();
  // The page of the docs is served from the package: hosts need not install what it is made of.
  for (const file of ["swagger-ui.css", "swagger-ui-bundle.js", "swagger-ui-bundle.js.LICENSE.txt", "LICENSE", "NOTICE"]) {
    cpSync(new URL(`../node_modules/swagger-ui-dist/${file}`, import.meta.url), new URL(`../dist/src/http/docs/swagger-ui/${file}`, import.meta.url));
  }
  // Pages are served as they are written.
  for (const page of ["src/console/page", "src/http/docs/page"]) {
    cpSync(new URL(`../${page}`, import.meta.url), new URL(`../dist/${page}`, import.meta.url), { recursive: true });
  }
  // But for the libraries that the console imports: its policy allows no import map, so they are one file.
  const client = fileURLToPath(new URL("../dist/src/console/page/lib/client.js", import.meta.url));
  const { buildSync } = await import("esbuild");
  buildSync({ entryPoints: [client], outfile: client, allowOverwrite: true, bundle: true, format: "esm", minify: true });
};

// `npm ci --omit=dev` in this folder asks for no compiler, and may find `dist` built.
const withoutCompiler = event === "prepare" && startedIn === root.replace(/[/\\]$/, "") && /\bdev\b/.test(omitted) && !existsSync(compiler);
if (withoutCompiler) process.stderr.write("portico is not compiled: that needs the packages for development (npm ci --include=dev)\n");
else await build();
