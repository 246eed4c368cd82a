import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { buildSync } from "esbuild";
import { writeCommonJs } from "../../.ci/commonjs.mjs";
import { loadChain } from "../data/read.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { run } from "../fixtures/process.js";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** All that a path may have on Linux. Node.js itself imports nothing below a folder that has a backslash in its name. */
const name = `C# 100% c%23d "x" 'y' ü\n&?`;
const dataName = `${name}\\`;

/** The library as a host has it, with copies of what it needs: of a link, Node.js would load what it leads to. */
const install = (host: string): void => {
  const portico = join(host, "node_modules/portico");
  const { packages } = JSON.parse(readFileSync(join(root, "node_modules/.package-lock.json"), "utf8")) as { packages: Record<string, { dev?: boolean; peer?: boolean }> };
  for (const [path, { dev, peer }] of Object.entries(packages)) if (dev !== true && peer !== true) cpSync(join(root, path), join(host, path), { recursive: true });
  const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }).map((path) => join("src", path));
  const common = { absWorkingDir: root, outbase: ".", outdir: join(portico, "dist"), platform: "node", target: "node20", logLevel: "error" } as const;
  buildSync({ ...common, entryPoints: files.filter((path) => path.endsWith(".ts")), format: "esm" });
  writeCommonJs(join(portico, "dist"));
  const copy = (from: string, to: string): void => cpSync(join(root, from), join(portico, to));
  for (const path of files.filter((file) => /\.(?:js|css|html)$/.test(file))) copy(path, join("dist", path));
  for (const file of ["swagger-ui.css", "swagger-ui-bundle.js"]) copy(`node_modules/swagger-ui-dist/${file}`, `dist/src/http/docs/swagger-ui/${file}`);
  copy("package.json", "package.json");
};

/** Starts every thread and process that the library has, and asks for every file that it serves. */
const program = `
import { EventEmitter, once } from "node:events";
import { existsSync, readFileSync, watch } from "node:fs";
import { createRequire } from "node:module";
import { createApiPlugin } from "portico";
import { createPatternWorker } from "./node_modules/portico/dist/src/webhooks/conditions/pattern.js";
const { network, blocks } = JSON.parse(readFileSync("chain.json", "utf8"));
const [dataDir, dir] = JSON.parse(readFileSync("folders.json", "utf8"));
const options = { finality: 10, console: true, lake: { dir, blocksPerFile: 10, snapshotEvery: 10 } };
const logger = { debug() {}, info() {}, warn: console.log, error: console.log };
const plugin = createApiPlugin({ network, events: new EventEmitter(), dataDir, blocks: { read: (from, limit) => blocks.slice(from - 1, from - 1 + limit) }, options, logger });
const server = await plugin.listen(0, "127.0.0.1");
const ask = (path) => fetch("http://127.0.0.1:" + server.address().port + "/api" + path);
const files = ["docs", "docs/swagger-ui.css", "docs/swagger-ui-bundle.js", "console", "console/app.js", "console/lib/client.js", "console/lib/preact.js", "console/lib/uplot.js", "console/lib/uplot.css"];
const statuses = await Promise.all(files.map(async (file) => (await ask("/" + file)).status));
await plugin.settled();
const { data } = await (await ask("/node/status")).json();
const manifest = () => existsSync(dir + "/manifest.json") && JSON.parse(readFileSync(dir + "/manifest.json", "utf8"));
const watching = watch(dir);
while (!(manifest()?.snapshots?.length > 0)) await once(watching, "change");
watching.close();
const patterns = createPatternWorker();
const holds = await patterns.test("a+", "aa");
await patterns.close();
const required = createRequire(import.meta.url)("portico").createApiPlugin === createApiPlugin;
await plugin.stop();
console.log(JSON.stringify({ statuses, now: data.now, snapshot: manifest().snapshots[0].height, holds, required }));
`;

describe("a library below a path with characters that URLs, shells and patterns give a meaning", () => {
  const folder = temporaryFolder();

  it("keeps its store, serves its pages and starts its threads and processes, also in a data folder and a lake of such a name", async () => {
    const host = join(folder, name);
    const [dataDir, lake] = [join(folder, dataName, "data"), join(folder, dataName, "lake")];
    mkdirSync(host);
    mkdirSync(lake, { recursive: true });
    install(host);
    const { network, blocks } = loadChain("core3-custom-c");
    writeFileSync(join(host, "chain.json"), JSON.stringify({ network, blocks: blocks.slice(0, 40) }));
    writeFileSync(join(host, "folders.json"), JSON.stringify([dataDir, lake]));
    writeFileSync(join(host, "host.mjs"), program);
    const running = run(process.execPath, ["host.mjs"], { cwd: host, environment: { NODE_OPTIONS: undefined } });
    expect(await running.ended, running.lines.join("\n")).to.equal(0);
    expect(JSON.parse(running.lines.at(-1) ?? "")).to.deep.equal({ statuses: Array(9).fill(200), now: 40, snapshot: 30, holds: true, required: true });
    expect(readdirSync(dirname(dataDir))).to.have.members(["data", "lake"]);
  });
});
