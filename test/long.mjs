/**
 * Runs the long form of tests: `npm run test:long -- NAME [--seed N] [--count N] [options of mocha]`.
 * NAME is that of files `test/**\/NAME.long.ts`, with or without their folder (`live/follow`), or `all`. Without a name it lists them.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";

const suffix = ".long.ts";
const paths = readdirSync("test", { recursive: true, encoding: "utf8" });
const files = paths.filter((path) => path.endsWith(suffix)).map((path) => `test/${path}`).sort();
const nameOf = (file) => basename(file, suffix);
/** With its folder, which tells those of one name apart. */
const placeOf = (file) => file.slice("test/".length, -suffix.length);

const fail = (message) => {
  process.stderr.write(`${message}\n`);
  process.exit(1);
};

const list = () => {
  /** The first line of the comment at a file's head says what its long form does. */
  const purpose = (file) => /^\/\*\*\s*(?:\* )?(.*?)(?: \*\/)?$/m.exec(readFileSync(file, "utf8"))?.[1] ?? "";
  return files.map((file) => `  ${placeOf(file).padEnd(24)} ${purpose(file)}`).join("\n");
};

/** Takes `--seed` and `--count` out of the arguments. What is left is mocha's, in its order: only mocha knows which of its options have a value. */
const readOptions = (given) => {
  const environment = {};
  const forMocha = [];
  for (let index = 0; index < given.length; index++) {
    const [, option, attached] = /^--(seed|count)(?:=(.*))?$/.exec(given[index]) ?? [];
    if (option === undefined) {
      forMocha.push(given[index]);
      continue;
    }
    const value = attached ?? given[++index] ?? "";
    if (!/^\d+$/.test(value)) fail(`--${option} has to be a whole number`);
    environment[`PORTICO_${option.toUpperCase()}`] = value;
  }
  return { environment, forMocha };
};

const [name, ...given] = process.argv.slice(2);
const usage = `npm run test:long -- NAME [--seed N] [--count N] [options of mocha], where NAME is\n${list()}`;
if (name === undefined) {
  process.stderr.write(`${usage}\n`);
  process.exit(0);
}
if (name.startsWith("-")) fail(`The name comes first.\n${usage}`);
const chosen = files.filter((file) => ["all", nameOf(file), placeOf(file)].includes(name));
if (chosen.length === 0) fail(`No test is named ${name}. There are:\n${list()}`);

const { environment, forMocha } = readOptions(given);
// A run that finds no test fails (fail-zero).
const command = ["node_modules/mocha/bin/mocha.js", ...chosen, "--timeout", "0", "--fail-zero", ...forMocha];
const { status } = spawnSync(process.execPath, command, { stdio: "inherit", env: { ...process.env, PORTICO_LONG: "1", ...environment } });
process.exit(status ?? 1);
