/**
 * Packs the library in a fresh clone, installs it as hosts do (tarball, folder, git), and uses it from ESM, CommonJS and TypeScript.
 * Run by `npm run check:package`, which takes two to three minutes, and with `-- --all`, before a release, in every way and with every setting, which takes
 * about ten. Needs git, and the package registry for the library's dependencies and for what checks packages (publint, attw).
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { compileHost, createHost, importAndServe, network, npmInstall, requireAndServe, root, run, step } from "./host.mjs";
import { reportTypes } from "./types.mjs";
import { checkWays, freshClone, pack } from "./ways.mjs";

const folder = mkdtempSync(join(tmpdir(), "portico-package-"));

const isAll = process.argv.includes("--all");

/** How hosts are compiled: their module system, and how imports are resolved. What the others find is the same by attw. */
const compilers = [
  { module: "NodeNext", moduleResolution: "NodeNext" },
  { module: "CommonJS", moduleResolution: "Node10" },
  ...(isAll ? [{ module: "Node16", moduleResolution: "Node16" }, { module: "Preserve", moduleResolution: "Bundler" }] : []),
];

/** Bytes of the tarball, and of what npm writes on a host's disk. */
const most = { packed: 1_700_000, unpacked: 5_800_000 };

const checkTarball = (tarball) => {
  const files = run("tar", ["--list", "--verbose", "--gzip", "--file", tarball], folder).trim().split("\n").map((line) => line.split(/\s+/));
  const unpacked = files.reduce((sum, [, , size]) => sum + Number(size), 0);
  const packed = statSync(tarball).size;
  process.stdout.write(`${packed} bytes, ${unpacked} unpacked ... `);
  if (packed > most.packed || unpacked > most.unpacked) throw new Error(`The tarball may have ${most.packed} bytes, ${most.unpacked} unpacked`);
  const manifest = JSON.parse(run("tar", ["--extract", "--to-stdout", "--gzip", "--file", tarball, "package/package.json"], folder));
  const needless = ["private", "scripts", "devDependencies", "mocha"].filter((name) => manifest[name] !== undefined);
  if (needless.length > 0) throw new Error(`The published package.json has ${needless.join(", ")}`);
};

const serveReadmeHost = async (host) => {
  writeFileSync(join(host, "network.json"), JSON.stringify({ data: network }));
  writeFileSync(join(host, "host.mjs"), /\n```js\n([\s\S]*?)\n```\n/.exec(readFileSync(join(root, "README.md"), "utf8"))[1]);
  const node = spawn("node", ["host.mjs"], { cwd: host, env: { ...process.env, PORT: "0" }, stdio: ["ignore", "pipe", "inherit"] });
  try {
    let port;
    for await (const line of createInterface(node.stdout)) if ((port = /port: (\d+)/.exec(line)?.[1]) !== undefined) break;
    const reply = await (await fetch(`http://127.0.0.1:${port}/api/node/status`)).json();
    if (reply.data.now !== 1) throw new Error("the genesis block is not served: " + JSON.stringify(reply));
  } finally {
    node.kill();
    if (node.exitCode === null && node.signalCode === null) await once(node, "exit");
  }
};

try {
  let tarball = "";
  const host = createHost(join(folder, "host"));
  await step(`${isAll ? "npm ci and " : ""}packing in a fresh clone`, () => void (tarball = pack(freshClone(join(folder, "clone")), isAll)));
  await step("checking its size, and its package.json", () => checkTarball(tarball));
  await step("comparing its public types with those that were reviewed", () => reportTypes(join(folder, "clone")));
  await step("checking what is published (publint)", () => run("npx", ["--yes", "publint@0.3.25", "--strict", tarball], root));
  await step("checking its types (attw)", () => run("npx", ["--yes", "--package=@arethetypeswrong/cli@0.18.5", "attw", tarball], root));
  // Without peer dependencies, as some package managers install: the library must declare what it needs.
  await step("installing it in an empty folder", () => npmInstall(host, "--omit=peer", tarball));
  await step("import from ESM, and serve", () => importAndServe(host));
  await step("require from CommonJS, and serve", () => requireAndServe(host));
  await step("the host of the README", async () => {
    npmInstall(host, "--omit=peer", "koa@3", "eventemitter3@5");
    await serveReadmeHost(host);
  });
  await step("installing what a host in TypeScript has", () => npmInstall(host, "--omit=peer", "--no-save", "@types/node@20"));
  for (const compiler of compilers) {
    await step(`types for a host in TypeScript (${compiler.module}, ${compiler.moduleResolution})`, () => compileHost(host, compiler));
  }
  await checkWays(folder, tarball, isAll);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
