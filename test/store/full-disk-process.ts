/**
 * A process whose files may not grow: `sh -c "ulimit -f BLOCKS; exec node full-disk-process.ts DIR DIR"`. It writes blocks, one by
 * one into the first store, and each ahead of the commit of the one before into the second, until one does not fit, and prints
 * for each what happened.
 */
import { createChainRules } from "../../src/chain/rules.js";
import { messageOf } from "../../src/errors.js";
import { createStore } from "../../src/store/state/store.js";
import { loadChain } from "../data/read.js";

// A write beyond the limit must fail with an error, not end the process.
process.on("SIGXFSZ", () => undefined);

const [, , first = "", second = ""] = process.argv;
const { network, blocks } = loadChain("core3-custom-c");
const rules = createChainRules(network);
for (const [dataDir, isAhead] of [[first, false], [second, true]] as const) {
  const store = createStore({ dataDir, undoBlocks: 1_000 }, { rules });
  const failures: string[] = [];
  for (const block of blocks.slice(store.tip()?.height)) {
    if (failures.length > 0) break;
    const write = isAhead ? store.applyAhead : store.apply;
    await write([rules.parseBlock(block)]).catch((error: unknown) => failures.push(messageOf(error)));
  }
  const height = store.tip()?.height ?? 0;
  // The failed block again: nothing of it was kept.
  await store.apply([rules.parseBlock(blocks[height]!)]).catch((error: unknown) => failures.push(messageOf(error)));
  const readable = store.snapshot()?.block({ height }) !== undefined;
  console.log(JSON.stringify({ height, failures, readable, after: store.tip()?.height }));
  await store.stop();
}
