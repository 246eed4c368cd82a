/** `npm run bench`: see `--help`. */
import { buildStore } from "./stores/build.js";
import { sizes } from "./chain/sizes.js";
import { readOptions, usage } from "./options.js";
import { runBench } from "./run.js";

const say = (line: string): void => console.error(line);
const options = readOptions(process.argv.slice(2));

if (options.help) console.log(usage);
else if (options.build !== undefined) say(`built: ${await buildStore(sizes[options.build], say)}`);
else process.exitCode = await runBench(options, say);
