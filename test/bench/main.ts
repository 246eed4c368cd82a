/** `npm run bench`: see `--help`. */
import { sizes } from "./chain/sizes.js";
import { measureFollow } from "./follow/follow.js";
import { againIfFarOff, type Measure, type Run } from "./measure.js";
import { measureCold } from "./measures/cold.js";
import { measureDepth } from "./measures/depth.js";
import { measureGrowth } from "./measures/growth.js";
import { measureHistory } from "./measures/history.js";
import { measureHot } from "./measures/hot.js";
import { measureImporting } from "./measures/importing.js";
import { measureIndexing } from "./measures/indexing.js";
import { measureMachines } from "./measures/machines.js";
import { measureMoney } from "./measures/money.js";
import { measureStart } from "./measures/start.js";
import { type BenchOptions, type Part, readOptions, usage } from "./options.js";
import { buildStore, putBack } from "./stores/build.js";
import { isFarOff, printed, type Row } from "./table.js";

const measures: Record<Part, Measure> = {
  hot: measureHot,
  cold: measureCold,
  depth: measureDepth,
  growth: measureGrowth,
  indexing: measureIndexing,
  start: measureStart,
  importing: measureImporting,
  history: measureHistory,
  follow: measureFollow,
  money: measureMoney,
  machines: measureMachines,
};

const say = (line: string): void => console.error(line);

/** Measures what is asked for, prints the table, and returns the code to end with. Goes on to the other parts when one cannot be measured. */
const runBench = async ({ size, quick, row, rounds, only }: BenchOptions): Promise<number> => {
  const run: Run = { size: sizes[size], smallest: sizes["10k"], quick, row, rounds, slice: quick ? 300 : 1_500, say };
  for (const one of only.every((part) => part === "follow" || part === "money") ? [run.smallest] : new Set([run.smallest, run.size])) {
    await buildStore(one, say);
    await putBack(one);
  }
  const rows: Row[] = [];
  let failed = false;
  for (const part of only) {
    try {
      rows.push(...(await (quick ? againIfFarOff(measures[part]) : measures[part])(run)));
    } catch (error) {
      failed = true;
      say(`${part} could not be measured: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    }
  }
  console.log(printed(rows));
  return failed || (quick && rows.some(isFarOff)) ? 1 : 0;
};

/** A mistyped option is reported in a sentence, without a stack. */
const readArguments = (): BenchOptions | undefined => {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    say(`${error instanceof Error ? error.message : String(error)}; --help lists the options`);
    return undefined;
  }
};

const options = readArguments();
if (options === undefined) process.exitCode = 2;
else if (options.help) console.log(usage);
else if (options.build !== undefined) say(`built: ${await buildStore(sizes[options.build], say)}`);
// Ends whatever a part that failed has left running.
else process.exit(await runBench(options));
