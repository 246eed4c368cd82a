import { sizeNames, sizes } from "./chain/sizes.js";
import { againIfFarOff } from "./measures/again.js";
import { measureAnswers } from "./measures/answers.js";
import { measureCold } from "./measures/cold.js";
import { measureDepth } from "./measures/depth.js";
import { measureDigest } from "./measures/digest.js";
import { measureFollow } from "./measures/follow.js";
import { measureGrowth } from "./measures/growth.js";
import { measureIndexing } from "./measures/indexing.js";
import { measureHistory } from "./measures/history/history.js";
import { measureHot } from "./measures/hot.js";
import { measureImporting } from "./measures/importing.js";
import { measureMachines } from "./measures/machines.js";
import { measureMemory } from "./measures/memory.js";
import { measureMetrics } from "./measures/metrics.js";
import { measureStart } from "./measures/start.js";
import { measureWebhooks } from "./measures/webhooks.js";
import { measureWorkers } from "./measures/workers.js";
import type { Measure, Run } from "./measures/measure.js";
import { type BenchOptions, type Part, parts } from "./options.js";
import { buildStore } from "./stores/build.js";
import { putBack } from "./stores/put-back.js";
import { printed } from "./table/print.js";
import { type Curve, machineClass, writeResults } from "./table/results.js";
import { isFarOff, type Row } from "./table/row.js";

const measures: Record<Exclude<Part, "growth">, Measure> = {
  hot: measureHot,
  cold: measureCold,
  depth: measureDepth,
  answers: measureAnswers,
  indexing: measureIndexing,
  start: measureStart,
  memory: measureMemory,
  importing: measureImporting,
  workers: measureWorkers,
  webhooks: measureWebhooks,
  history: measureHistory,
  digest: measureDigest,
  follow: measureFollow,
  metrics: measureMetrics,
  machines: measureMachines,
};

const runOf = ({ size, quick, row, rounds, soak }: BenchOptions, say: Run["say"]): Run => ({
  size: sizes[size],
  sizes: sizeNames.slice(0, sizeNames.indexOf(size) + 1).map((name) => sizes[name]),
  quick,
  row,
  rounds,
  soak,
  slice: quick ? 300 : 1_500,
  say,
});

/** These make their own chains, or take the smallest. */
const withoutStore: readonly Part[] = ["webhooks", "digest", "follow", "metrics"];

/** Whether the run has every part: its figures are written down for the README. */
const isWhole = ({ only, quick, row }: BenchOptions): boolean => !quick && row === "" && parts.every((part) => only.includes(part));

const commandOf = (args: readonly string[]): string => ["npm run bench", ...(args.length > 0 ? ["--", ...args] : [])].join(" ");

/** Goes on to the other parts when one cannot be measured. */
const measureParts = async ({ only }: BenchOptions, run: Run): Promise<{ rows: Row[]; curves: Curve[]; failed: boolean }> => {
  const rows: Row[] = [];
  let curves: Curve[] = [];
  let failed = false;
  for (const part of only) {
    try {
      if (part === "growth") {
        const growth = await measureGrowth(run);
        rows.push(...growth.rows);
        ({ curves } = growth);
      } else rows.push(...(await (run.quick ? againIfFarOff(measures[part]) : measures[part])(run)));
    } catch (error) {
      failed = true;
      run.say(`${part} could not be measured: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    }
  }
  return { rows, curves, failed };
};

/** Measures what is asked for, prints the table, and returns the code to end with. */
export const runBench = async (options: BenchOptions, say: Run["say"]): Promise<number> => {
  const run = runOf(options, say);
  const growing = options.only.some((part) => part === "growth" || part === "answers");
  const needsStore = options.only.some((part) => !withoutStore.includes(part));
  for (const size of growing ? run.sizes : needsStore ? [run.size] : []) {
    await buildStore(size, say);
    await putBack(size);
  }
  const { rows, curves, failed } = await measureParts(options, run);
  console.log(printed(rows));
  if (options.write || (isWhole(options) && !failed)) {
    writeResults({
      date: new Date().toISOString().slice(0, 10),
      machine: machineClass(),
      node: process.version,
      command: commandOf(process.argv.slice(2)),
      size: options.size,
      rows,
      curves,
    });
    say("written down; npm run docs puts it into the README");
  }
  return failed || (options.quick && rows.some(isFarOff)) ? 1 : 0;
};
