/**
 * A process whose files may not grow: `sh -c "ulimit -f BLOCKS; exec node full-disk-process.ts DIR MODE"`. It writes blocks,
 * one by one or each ahead of the commit of the one before, until one does not fit, and prints what happened.
 */
import { createChainRules } from "../../src/chain/rules.js";
import { messageOf } from "../../src/errors.js";
import { createStore } from "../../src/store/state/store.js";
import { loadChain } from "../data/read.js";

// A write beyond the limit must fail with an error, not end the process.
process.on("SIGXFSZ", () => undefined);

const [, , dataDir = "", mode] = process.argv;
const { network, blocks } = loadChain("core3-custom-c");
const rules = createChainRules(network);
const store = createStore({ dataDir, undoBlocks: 100 }, { rules });
const failures: string[] = [];
for (const block of blocks) {
  if (failures.length > 0) break;
  const write = mode === "ahead" ? store.applyAhead : store.apply;
  await write([rules.parseBlock(block)]).catch((error: unknown) => failures.push(messageOf(error)));
}
const height = store.tip()?.height ?? 0;
// The failed block again: nothing of it was kept.
await store.apply([rules.parseBlock(blocks[height]!)]).catch((error: unknown) => failures.push(messageOf(error)));
const readable = store.snapshot()?.block({ height }) !== undefined;
process.stdout.write(JSON.stringify({ height, failures, readable, after: store.tip()?.height }));
await store.stop();
