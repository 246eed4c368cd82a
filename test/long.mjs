/**
 * Runs the long form of tests: `npm run test:long -- NAME [--seed N] [--count N] [options of mocha]`.
 * NAME is that of files `test/**\/NAME.long.ts`, or `all`. Without a name it lists them.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { parseArgs } from "node:util";

const suffix = ".long.ts";
const paths = readdirSync("test", { recursive: true, encoding: "utf8" });
const files = paths.filter((path) => path.endsWith(suffix)).map((path) => `test/${path}`).sort();
const nameOf = (file) => basename(file, suffix);

const { values, positionals, tokens } = parseArgs({
  options: { seed: { type: "string" }, count: { type: "string" } },
  allowPositionals: true,
  strict: false,
  tokens: true,
});
const [name] = positionals;

const list = () => {
  /** The first line of the comment at a file's head says what its long form does. */
  const purpose = (file) => /^\/\*\*\s*(?:\* )?(.*?)(?: \*\/)?$/m.exec(readFileSync(file, "utf8"))?.[1] ?? "";
  for (const file of files) process.stderr.write(`  ${nameOf(file).padEnd(16)} ${purpose(file)}\n`);
};

const chosen = files.filter((file) => name === "all" || nameOf(file) === name);
if (chosen.length === 0) {
  process.stderr.write(name === undefined ? "npm run test:long -- NAME [--seed N] [--count N], where NAME is\n" : `No test is named ${name}. There are:\n`);
  list();
  process.exit(name === undefined ? 0 : 1);
}

for (const [option, value] of Object.entries({ seed: values.seed, count: values.count })) {
  if (value !== undefined && !/^\d+$/.test(String(value))) {
    process.stderr.write(`--${option} has to be a whole number\n`);
    process.exit(1);
  }
}
const ours = new Set(["seed", "count"]);
const forMocha = tokens.flatMap((token) => (token.kind === "option" && !ours.has(token.name) ? [token.rawName, ...(token.value === undefined ? [] : [token.value])] : []));
const environment = {
  ...process.env,
  PORTICO_LONG: "1",
  ...(values.seed === undefined ? {} : { PORTICO_SEED: values.seed }),
  ...(values.count === undefined ? {} : { PORTICO_COUNT: values.count }),
};
const { status } = spawnSync(process.execPath, ["node_modules/mocha/bin/mocha.js", "--timeout", "0", ...forMocha, ...chosen], { stdio: "inherit", env: environment });
process.exit(status ?? 1);
