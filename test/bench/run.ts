import { sizeNames, sizes } from "./chain/sizes.js";
import { measureAnswers } from "./measures/answers.js";
import { measureCold } from "./measures/cold.js";
import { measureDepth } from "./measures/depth.js";
import { measureGrowth } from "./measures/growth.js";
import { measureIndexing } from "./measures/indexing.js";
import { measureHot } from "./measures/hot.js";
import { measureImporting } from "./measures/importing.js";
import { measureMemory } from "./measures/memory.js";
import { measureStart } from "./measures/start.js";
import { measureWebhooks } from "./measures/webhooks.js";
import type { Measure, Run } from "./measures/measure.js";
import type { BenchOptions, Part } from "./options.js";
import { buildStore } from "./stores/build.js";
import { printed } from "./table/print.js";
import { type Curve, machineClass, writeResults } from "./table/results.js";
import { isFarOff, type Row } from "./table/row.js";

const measures: Partial<Record<Exclude<Part, "growth">, Measure>> = {
  hot: measureHot,
  cold: measureCold,
  depth: measureDepth,
  answers: measureAnswers,
  indexing: measureIndexing,
  start: measureStart,
  memory: measureMemory,
  importing: measureImporting,
  webhooks: measureWebhooks,
};

const runOf = ({ size, quick, rounds, soak }: BenchOptions, say: Run["say"]): Run => ({
  size: sizes[size],
  sizes: sizeNames.slice(0, sizeNames.indexOf(size) + 1).map((name) => sizes[name]),
  quick,
  rounds,
  soak,
  slice: quick ? 300 : 1_500,
  say,
});

/** Measures what is asked for, prints the table, and returns the code to end with. */
export const runBench = async (options: BenchOptions, say: Run["say"]): Promise<number> => {
  const run = runOf(options, say);
  const neededSizes = options.only.some((part) => part === "growth" || part === "answers") ? run.sizes : [run.size];
  for (const size of neededSizes) await buildStore(size, say);
  const rows: Row[] = [];
  let curves: Curve[] = [];
  for (const part of options.only) {
    if (part === "growth") {
      const growth = await measureGrowth(run);
      rows.push(...growth.rows);
      ({ curves } = growth);
    } else rows.push(...((await measures[part]?.(run)) ?? []));
  }
  console.log(printed(rows));
  if (options.write) {
    writeResults({
      date: new Date().toISOString().slice(0, 10),
      machine: machineClass(),
      node: process.version,
      command: ["npm run bench", ...(process.argv.length > 2 ? ["--", ...process.argv.slice(2)] : [])].join(" "),
      size: options.size,
      rows,
      curves,
    });
  }
  return options.quick && rows.some(isFarOff) ? 1 : 0;
};
