/**
 * A process whose files may not grow beyond 64 KB: `sh -c "ulimit -f 128; exec node full-log-process.ts FILE"`. It appends
 * blocks of which one does not fit, and prints what came of each.
 */
import { openBlockLog } from "../../examples/standalone/files/block-log.js";
import { messageOf } from "../../src/errors.js";
import { loadChain } from "../data/read.js";

// A write beyond the limit must fail with an error, not end the process.
process.on("SIGXFSZ", () => undefined);

const [, , path = ""] = process.argv;
const [first, second, third] = loadChain("core3-custom-c").blocks.slice(1);
const log = await openBlockLog(path);
const append = (block: unknown): string => {
  try {
    log.append(block as NonNullable<typeof first>);
    return `height ${log.height()}`;
  } catch (error) {
    return messageOf(error);
  }
};
const results = [append(first), append({ ...second, padding: "x".repeat(100_000) }), append(second), append(third)];
await log.close();
process.stdout.write(JSON.stringify(results));
