import { parseArgs } from "node:util";
import { measureSources } from "./sources.js";
import { measureWays } from "./ways.js";

/**
 * Prints how large the project is beside what it may be: `npm run count`. With `--check`, exits with 1 where a budget is exceeded by more
 * than a twentieth. `--seconds N` adds the time that `npm test` took.
 */

const budgets: Record<string, number> = {
  "lines of src and types": 38_000,
  "files of src and types": 300,
  "% of files under 60 lines with one importer": 10,
  "% of lines over 140 characters": 1,
  "files on the way of a cold GET": 36,
  "files on the way of a hot GET": 20,
  "files on the way of a block": 50,
  "files on the way of a delivery": 28,
  "rows of the glossary": 30,
  "lines of tests": 45_000,
  "words of the documents": 18_000,
  "seconds of npm test": 240,
};

const { values } = parseArgs({ options: { check: { type: "boolean", default: false }, seconds: { type: "string" } } });
const ways = Object.entries(await measureWays());
const measured: Record<string, number> = {
  ...measureSources(),
  ...Object.fromEntries(ways.map(([name, { files }]) => [`files on the way of ${name}`, files])),
  ...(values.seconds === undefined ? {} : { "seconds of npm test": Number(values.seconds) }),
};

let exceeded = false;
for (const [name, budget] of Object.entries(budgets)) {
  const value = measured[name];
  if (value === undefined) continue;
  const over = value > budget * 1.05;
  exceeded ||= over;
  console.log(`${name.padEnd(46)}${String(value).padStart(8)} of ${String(budget).padStart(6)}${over ? "  exceeded" : ""}`);
}
for (const [name, { functions, calls }] of ways) console.log(`${name}: ${functions} functions, ${calls} calls`);
if (values.check && exceeded) process.exitCode = 1;
