/**
 * Compiles the library into `dist`. `npm run build` runs it, and so does npm itself (`prepare`) for `npm ci`, `npm pack` and
 * `npm publish`, and for a host that installs this folder or its git repository.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { writeCommonJs } from "./commonjs.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const compiler = fileURLToPath(new URL("../node_modules/typescript/bin/tsc", import.meta.url));
const { npm_lifecycle_event: event, npm_config_omit: omitted = "", INIT_CWD: startedIn, npm_execpath: npm } = process.env;

const run = (script, ...args) => execFileSync(process.execPath, [script, ...args], { cwd: root, stdio: ["ignore", 2, 2] });

const build = async () => {
  // A host that links a folder in which nothing is installed gets no dependencies from npm either.
  if (!existsSync(compiler) && npm !== undefined) run(npm, "ci", "--include=dev", "--ignore-scripts", "--no-audit", "--no-fund");
  rmSync(new URL("../dist", import.meta.url), { recursive: true, force: true });
  // Whether the types are right is `npm run check:types`; checking them here, too, would take each `npm ci` twice as long to compile.
  run(compiler, "-p", "tsconfig.build.json", "--noCheck");
  writeCommonJs(fileURLToPath(new URL("../dist", import.meta.url)));
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
