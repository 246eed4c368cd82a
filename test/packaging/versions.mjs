/**
 * Runs the tests in which the version of Node.js matters with the oldest release that package.json allows, and with the newest one; with `--all`,
 * also with the newest of each line between. Run by `npm run check:versions`; needs the package registry for the releases. Takes a minute or two.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { npmInstall, root, run, step } from "./host.mjs";

const { engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const between = process.argv.includes("--all") ? ["22", "24"] : [];
const releases = [`${engines.node.replace(/^>=/, "")}.0`, ...between, "26"];

/** Those that stand on the sockets, streams, threads, processes, modules and native code of the runtime, and take seconds. */
const tests = [
  "test/http/compression.test.ts",
  "test/http/pipelining.test.ts",
  "test/http/stopping.test.ts",
  "test/http/streams.test.ts",
  "test/live/channel.test.ts",
  "test/live/heartbeat.test.ts",
  "test/live/live.test.ts",
  "test/live/ways.test.ts",
  // With Node.js's own SQLite, which the oldest release does not have.
  "test/follower/kills.test.ts",
  "test/receiver/kills.test.ts",
  "test/webhooks/http-sender.test.ts",
  "test/store/commit-worker.test.ts",
  "test/store/locks.test.ts",
  "test/store/reader-chain.test.ts",
  // With Koa, Express, Fastify, `node:http`, and from CommonJS.
  "test/hosts/servers.test.ts",
  "test/examples/workers.test.ts",
];

/** What the package `node` installs by a script, which npm may not be allowed to run: the release for one kind of machine. */
const packageFor = ({ platform, arch }) => `${platform === "darwin" && arch === "arm64" ? "node-bin" : "node"}-${platform === "win32" ? "win" : platform}-${arch}`;

/** @returns the folder that has `node`, and its exact version. @throws if npm does not have the release, or it does not run on this machine */
const install = (folder, release) => {
  const name = packageFor(process);
  mkdirSync(folder);
  // Not a release that npm has kept from an earlier day; and npm says why it has none.
  npmInstall(folder, "--loglevel=error", "--prefer-online", "--no-prefer-offline", "--no-save", "--prefix", folder, `${name}@${release}`);
  const bin = join(folder, "node_modules", name, "bin");
  return { bin, version: run(join(bin, "node"), ["--version"], folder).trim() };
};

/** @returns whether all tests have passed */
const pass = async ({ bin, version }) => {
  try {
    const env = { PATH: `${bin}${delimiter}${process.env.PATH}` };
    await step(`the tests with Node.js ${version}`, () => void run(join(bin, "node"), ["node_modules/mocha/bin/mocha.js", "--parallel", ...tests], root, env));
    return true;
  } catch ({ message, stdout }) {
    process.stdout.write(`failed\n${stdout ?? message}\n`);
    return false;
  }
};

// Mocha only warns of a file that it does not find.
const missing = tests.filter((file) => !existsSync(join(root, file)));
if (missing.length > 0) throw new Error(`There is no ${missing.join(", ")}`);

const folder = mkdtempSync(join(tmpdir(), "portico-versions-"));
const [tried, failed] = [[], []];
try {
  for (const release of releases) {
    let installed;
    try {
      installed = install(join(folder, release), release);
    } catch {
      process.stdout.write(`Node.js ${release} is left out: ${packageFor(process)}@${release} cannot be installed or run on this machine.\n`);
      continue;
    }
    tried.push(installed.version);
    if (!(await pass(installed))) failed.push(installed.version);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (tried.length === 0) {
  process.stdout.write("No release of Node.js could be installed: nothing has been checked.\n");
  process.exitCode = 1;
}
if (failed.length > 0) {
  process.stdout.write(`The tests fail with Node.js ${failed.join(", ")}.\n`);
  process.exitCode = 1;
}
