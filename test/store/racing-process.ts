/** A process that opens stores for writing at given times: `node racing-process.ts`, with lines `chain|webhooks TIME DIR` on stdin. It keeps them open until stdin ends. */
import { createInterface } from "node:readline";
import { createChainRules } from "../../src/chain/rules.js";
import { PorticoError } from "../../src/errors.js";
import { createStore } from "../../src/store/state/store.js";
import { createWebhookStore, openWebhookStore } from "../../src/webhooks/rows/store.js";
import { loadChain } from "../data/read.js";

const rules = createChainRules(loadChain("core3-custom-c").network);
/** With the webhooks in it, as a node has it. */
const openChain = (dataDir: string) => {
  const { environment, stop } = createStore({ undoBlocks: 1_000, dataDir }, { rules });
  createWebhookStore(environment);
  return { close: stop };
};
console.log("ready");
const opened: { close(): Promise<void> }[] = [];
for await (const line of createInterface({ input: process.stdin })) {
  const [which, moment, dataDir = ""] = line.split(" ");
  // A busy wait, not a timer: others do the same at the same moment.
  while (Date.now() < Number(moment));
  try {
    opened.push(which === "chain" ? openChain(dataDir) : openWebhookStore(dataDir));
    console.log("opened");
  } catch (error) {
    console.log(error instanceof PorticoError ? error.code : String(error));
  }
}
for (const { close } of opened) await close();
