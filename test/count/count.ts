import { parseArgs } from "node:util";
import { budgets, ceilings } from "./budgets.js";
import { measureSources } from "./sources.js";
import { measureWays } from "./ways.js";

/**
 * Prints how large the project is beside what it may be: `npm run count`. With `--check`, which leaves the ways out, names the budgets that
 * are exceeded by more than a twentieth (or their ceilings), and exits with 1 if there are any. `--seconds N` adds the time that `npm test`
 * took.
 */

const { values } = parseArgs({ options: { check: { type: "boolean", default: false }, seconds: { type: "string" } } });
// They vary with what timers do meanwhile.
const ways = values.check ? [] : Object.entries(await measureWays());
const measured: Record<string, number> = {
  ...measureSources(),
  ...Object.fromEntries(ways.map(([name, { files }]) => [`files on the way of ${name}`, files])),
  ...(values.seconds === undefined ? {} : { "seconds of npm test": Number(values.seconds) }),
};

const exceeded: string[] = [];
for (const [name, budget] of Object.entries(budgets)) {
  const value = measured[name];
  if (value === undefined) continue;
  const ceiling = ceilings[name];
  const note = value <= budget * 1.05 ? "" : `  exceeded${ceiling === undefined ? "" : `, ceiling ${ceiling}`}`;
  console.log(`${name.padEnd(46)}${String(value).padStart(8)} of ${String(budget).padStart(6)}${note}`);
  if (value > Math.max(ceiling ?? 0, budget * 1.05)) exceeded.push(`${name}: ${value}, and may be ${ceiling ?? budget}`);
}
for (const [name, { functions, calls }] of ways) console.log(`${name}: ${functions} functions, ${calls} calls`);
if (values.check && exceeded.length > 0) {
  console.error(`Too large:\n${exceeded.map((line) => `  ${line}\n`).join("")}`);
  process.exitCode = 1;
}
