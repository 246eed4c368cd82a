/**
 * A process whose files may not grow beyond 8 KB: `sh -c "ulimit -f 16; exec node no-room-process.ts DIR"`. It prints the
 * result of opening a store there, and of opening a webhook store alone.
 */
import { createChainRules } from "../../src/chain/rules.js";
import { messageOf } from "../../src/errors.js";
import { createStore } from "../../src/store/state/store.js";
import { openWebhookStore } from "../../src/webhooks/rows/store.js";
import { loadChain } from "../data/read.js";

// A write beyond the limit must fail with an error, not end the process.
process.on("SIGXFSZ", () => undefined);

const [, , dataDir = ""] = process.argv;
const rules = createChainRules(loadChain("core3-custom-c").network);
const open = [() => createStore({ dataDir, undoBlocks: 10 }, { rules }), () => openWebhookStore(dataDir)];
const failures = open.map((one) => {
  try {
    one();
    return "open";
  } catch (error) {
    return messageOf(error);
  }
});
process.stdout.write(JSON.stringify(failures));
