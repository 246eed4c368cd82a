/** A process that opens a store for writing at a given time: `node racing-process.ts chain|webhooks DIR`, with the time on stdin. */
import { once } from "node:events";
import { createChainRules } from "../../src/chain/rules.js";
import { PorticoError } from "../../src/errors.js";
import { createStore } from "../../src/store/state/store.js";
import { createWebhookStore, openWebhookStore } from "../../src/store/webhooks/webhook-store.js";
import { loadChain } from "../data/read.js";

const [, , which = "", dataDir = ""] = process.argv;
const rules = createChainRules(loadChain("core3-custom-c").network);
/** With the webhooks in it, as a node has it. */
const openChain = () => {
  const { environment, stop } = createStore({ undoBlocks: 1_000, dataDir }, { rules });
  createWebhookStore(environment);
  return { close: stop };
};
const openStore = which === "chain" ? openChain : () => openWebhookStore(dataDir);
console.log("ready");
const [moment] = (await once(process.stdin, "data")) as [Buffer];
// A busy wait, not a timer: others do the same at the same moment.
while (Date.now() < Number(moment.toString()));
try {
  const opened = openStore();
  console.log("opened");
  await once(process.stdin, "end");
  await opened.close();
} catch (error) {
  console.log(error instanceof PorticoError ? error.code : String(error));
}
