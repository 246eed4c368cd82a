/**
 * Mutation testing: `node test/mutation/run.mjs [ROOM ...] [--file PATH] [--jobs N]`. It changes the code of a room in one place after the
 * other, and runs the tests that are to notice. Stryker is installed once, beside the other things that tests keep (README.md).
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { expanded, rooms } from "./rooms.mjs";

const packages = { "@stryker-mutator/core": "9.6.1", "@stryker-mutator/mocha-runner": "9.6.1", mocha: "11.7.5" };
/** Part of the mutants that tests have to notice. */
const least = 85;

const { values, positionals } = parseArgs({ options: { file: { type: "string" }, jobs: { type: "string", default: "1" } }, allowPositionals: true });
const unknown = positionals.filter((name) => !(name in rooms));
if (unknown.length > 0) {
  process.stderr.write(`no room is named ${unknown.join(", ")}. There are:\n`);
  for (const [name, { what }] of Object.entries(rooms)) process.stderr.write(`  ${name.padEnd(12)} ${what}\n`);
  process.exit(1);
}

/** Its mocha runner knows mocha up to 11 only, so it has a mocha of its own: that makes no difference to the tests. */
const install = () => {
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "portico");
  const folder = join(cache, `mutation-${packages["@stryker-mutator/core"]}`);
  if (existsSync(folder)) return folder;
  const partial = `${folder}.${process.pid}`;
  mkdirSync(partial, { recursive: true });
  writeFileSync(join(partial, "package.json"), JSON.stringify({ name: "mutation", private: true, dependencies: packages }));
  process.stderr.write(`installing Stryker in ${folder}, once\n`);
  const { status } = spawnSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: partial, stdio: ["ignore", "ignore", "inherit"] });
  if (status !== 0) process.exit(1);
  renameSync(partial, folder);
  return folder;
};

const stryker = install();
const scratch = mkdtempSync(join(tmpdir(), "portico-mutation-"));
const scores = [];

const run = (name) => {
  const { mutate, tests } = rooms[name];
  const report = join(scratch, `${name}.json`);
  const config = {
    testRunner: "mocha",
    plugins: [join(stryker, "node_modules/@stryker-mutator/mocha-runner/dist/src/index.js")],
    mutate: values.file === undefined ? mutate : [values.file],
    mochaOptions: { spec: tests.flatMap(expanded) },
    testRunnerNodeArgs: ["--import", "tsx"],
    coverageAnalysis: "perTest",
    // What is computed once, when a file is loaded, would need a new process for each mutant.
    ignoreStatic: true,
    // Texts of messages are for people.
    mutator: { excludedMutations: ["StringLiteral"] },
    ignorePatterns: [".bench", "dist", "/data", "examples/*/data"],
    // It would rewrite the paths in it, which tests do not need.
    tsconfigFile: "none",
    tempDirName: ".stryker-tmp",
    concurrency: Number(values.jobs),
    timeoutMS: 20_000,
    disableTypeChecks: false,
    allowConsoleColors: false,
    checkers: [],
    reporters: ["clear-text", "json"],
    clearTextReporter: { reportTests: false, allowColor: false },
    jsonReporter: { fileName: report },
  };
  const file = join(scratch, `${name}.config.json`);
  writeFileSync(file, JSON.stringify(config));
  const { status } = spawnSync(process.execPath, [join(stryker, "node_modules/@stryker-mutator/core/bin/stryker.js"), "run", file], { stdio: "inherit", env: { ...process.env, STRYKER: "1", PORTICO_TEST_RUN: scratch } });
  if (status !== 0) process.exit(status ?? 1);
  const mutants = Object.values(JSON.parse(readFileSync(report, "utf8")).files).flatMap((of) => of.mutants);
  const count = (...states) => mutants.filter((mutant) => states.includes(mutant.status)).length;
  const [killed, survived] = [count("Killed", "Timeout"), count("Survived", "NoCoverage")];
  scores.push({ name, killed, all: killed + survived, percent: (100 * killed) / Math.max(1, killed + survived) });
};

try {
  for (const name of positionals.length > 0 ? positionals : Object.keys(rooms)) run(name);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
for (const { name, killed, all, percent } of scores) console.log(`${name}: ${killed} of ${all} mutants noticed, ${percent.toFixed(1)} % (at least ${least} %)`);
process.exit(scores.every(({ percent }) => percent >= least) ? 0 : 1);
