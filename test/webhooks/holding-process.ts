/** A process that keeps a webhook store open until it is killed: `node holding-process.ts DIR`. Prints a line once it is open. */
import { openWebhookStore } from "../../src/webhooks/rows/store.js";

const [, , dataDir = ""] = process.argv;
openWebhookStore(dataDir);
console.log("open");
setInterval(() => undefined, 60_000);
