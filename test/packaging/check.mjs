/**
 * Packs the library, installs the tarball in an empty folder as a host would, and uses it from ESM, CommonJS and TypeScript.
 * Run by `npm run check:package`; needs the package registry for the library's dependencies.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "portico-package-"));

const run = (command, args, cwd) => execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
const step = async (what, work) => {
  process.stdout.write(`${what} ... `);
  await work();
  process.stdout.write("ok\n");
};

const networkFolder = join(root, "test/data/core3-custom-c/network");
const network = Object.fromEntries(
  ["network", "milestones", "exceptions", "genesisBlock"].map((name) => [name, JSON.parse(gunzipSync(readFileSync(join(networkFolder, `${name}.json.gz`))))]),
);

const uses = (dataDir) => `
const refuses = (context) => { try { createApiPlugin(context); } catch (error) { return error instanceof PorticoError; } };
if (!refuses({ network: {}, events: {} })) throw new Error("a context that is not valid was accepted");
const serve = async () => {
  const network = JSON.parse(readFileSync("network.json", "utf8"));
  const plugin = createApiPlugin({ network, events: new EventEmitter(), dataDir: ${JSON.stringify(dataDir)} });
  const server = await plugin.listen(0);
  const reply = await (await fetch("http://127.0.0.1:" + server.address().port + "/api/node/status")).json();
  if (reply.data.now !== 1) throw new Error("the genesis block is not served: " + JSON.stringify(reply));
  await plugin.stop();
};
serve();
`;

const consumer = `
import { createApiPlugin, type ApiPlugin, type ChainAdapter, type NodeContext } from "portico";
import { type ChainRules, createChainRules } from "portico/chain";
import { describeConformance } from "portico/conformance";
export const plugin = (context: NodeContext): ApiPlugin => createApiPlugin(context);
export const adapter = (of: ApiPlugin): ChainAdapter => of.chain;
export const rules = (context: NodeContext): ChainRules => createChainRules(context.network);
export const conformance = describeConformance;
// @ts-expect-error: a number is no Koa app; it would pass if Koa's types were missing
export const app: Parameters<ApiPlugin["mount"]>[0] = 1;
`;

const fromCommonJs = `
import portico = require("portico");
import { createApiPlugin } from "portico";
export const plugin = (context: portico.NodeContext): portico.ApiPlugin => createApiPlugin(context);
`;

/** How hosts are compiled: the module system of host.ts, and how imports are resolved. */
const compilers = [
  { module: "NodeNext", moduleResolution: "NodeNext" },
  { module: "Node16", moduleResolution: "Node16" },
  { module: "CommonJS", moduleResolution: "Node10" },
  { module: "Preserve", moduleResolution: "Bundler" },
];

try {
  let tarball = "";
  await step("packing", () => {
    run("npm", ["run", "build", "--silent"], root);
    run("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder], root);
    tarball = join(folder, readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "");
  });
  await step("checking what is published (publint)", () => run("npx", ["--no-install", "publint", "--strict", tarball], root));
  await step("checking its types (attw)", () => run("npx", ["--no-install", "attw", tarball], root));
  await step("installing it in an empty folder", () => {
    writeFileSync(join(folder, "network.json"), JSON.stringify(network));
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "host", private: true }));
    // Without peer dependencies, as some package managers install: the library must declare what it needs.
    run("npm", ["install", "--silent", "--omit=peer", "--prefer-offline", "--no-audit", "--no-fund", tarball], folder);
  });
  await step("import from ESM, and serve", () => {
    const imports = `import { EventEmitter } from "node:events"; import { readFileSync } from "node:fs"; import { createApiPlugin, PorticoError } from "portico";`;
    writeFileSync(join(folder, "esm.mjs"), imports + uses("data-esm"));
    run("node", ["esm.mjs"], folder);
  });
  await step("require from CommonJS, and serve", () => {
    const requires = `const { EventEmitter } = require("node:events"); const { readFileSync } = require("node:fs"); const { createApiPlugin, PorticoError } = require("portico");`;
    writeFileSync(join(folder, "cjs.cjs"), requires + uses("data-cjs"));
    run("node", ["cjs.cjs"], folder);
  });
  await step("the host of the README", async () => {
    run("npm", ["install", "--silent", "--omit=peer", "--prefer-offline", "--no-audit", "--no-fund", "koa@3", "eventemitter3@5"], folder);
    mkdirSync(join(folder, "network"));
    for (const [name, part] of Object.entries(network)) writeFileSync(join(folder, `network/${name}.json`), JSON.stringify(part));
    writeFileSync(join(folder, "host.mjs"), /\n```js\n([\s\S]*?)\n```\n/.exec(readFileSync(join(root, "README.md"), "utf8"))[1]);
    const host = spawn("node", ["host.mjs"], { cwd: folder, env: { ...process.env, PORT: "0" }, stdio: ["ignore", "pipe", "inherit"] });
    try {
      let port;
      for await (const line of createInterface(host.stdout)) if ((port = /port: (\d+)/.exec(line)?.[1]) !== undefined) break;
      const reply = await (await fetch(`http://127.0.0.1:${port}/api/node/status`)).json();
      if (reply.data.now !== 1) throw new Error("the genesis block is not served: " + JSON.stringify(reply));
    } finally {
      host.kill();
      if (host.exitCode === null && host.signalCode === null) await once(host, "exit");
    }
  });
  await step("installing what a host in TypeScript has", () => {
    run("npm", ["install", "--silent", "--omit=peer", "--prefer-offline", "--no-audit", "--no-fund", "--no-save", "@types/node@20"], folder);
    writeFileSync(join(folder, "host.mts"), consumer);
    writeFileSync(join(folder, "host.ts"), consumer);
    writeFileSync(join(folder, "host.cts"), fromCommonJs);
  });
  for (const { module, moduleResolution } of compilers) {
    await step(`types for a host in TypeScript (${module}, ${moduleResolution})`, () => {
      const compilerOptions = { strict: true, target: "ES2022", module, moduleResolution, skipLibCheck: false, noEmit: true, types: ["node"] };
      // Only in these modes does a file's name determine its module system.
      const named = module.startsWith("Node") ? ["host.mts", "host.cts"] : [];
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["host.ts", ...named] }));
      run("npx", ["--no-install", "tsc", "-p", join(folder, "tsconfig.json")], root);
    });
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
