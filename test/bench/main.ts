/** `npm run bench`: see `--help`. */
import { parseArgs } from "node:util";
import { isSizeName, sizeNames, sizes } from "./chain/sizes.js";
import { buildStore } from "./stores/build.js";

const usage = `npm run bench -- [options]

  (nothing)      figures of the webhook engine
  --build SIZE   only builds the store of a size (${sizeNames.join(", ")}); goes on where it was interrupted
  --help         prints this
`;

const say = (line: string): void => console.error(line);

const { values } = parseArgs({ options: { build: { type: "string" }, help: { type: "boolean" } } });

if (values.help === true) console.log(usage);
else if (values.build !== undefined) {
  if (!isSizeName(values.build)) throw new Error(`there is no size ${values.build}; there are ${sizeNames.join(", ")}`);
  say(`built: ${await buildStore(sizes[values.build], say)}`);
} else await import("./webhooks.js");
