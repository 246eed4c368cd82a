/** `npm run bench`: see `--help`. */
import { sizes } from "./chain/sizes.js";
import { type BenchOptions, readOptions, usage } from "./options.js";
import { runBench } from "./run.js";
import { buildStore } from "./stores/build.js";

const say = (line: string): void => console.error(line);

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
else process.exit(await runBench(options, say));
