/** A process that has a webhook store of its own open until it is killed: `node --import tsx holding-process.ts DIR`. Says so in a line. */
import { openWebhookStore } from "../../src/store/webhooks/webhook-store.js";

const [, , dataDir = ""] = process.argv;
openWebhookStore(dataDir);
console.log("open");
setInterval(() => undefined, 60_000);
