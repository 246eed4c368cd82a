/** A process that opens a store for writing at a given time: `node --import tsx racing-process.ts chain|webhooks DIR`, with the time on stdin. */
import { once } from "node:events";
import { PorticoError } from "../../src/errors.js";
import { openEnvironment } from "../../src/store/environment.js";
import { openWebhookStore } from "../../src/store/webhooks/webhook-store.js";

const [, , which = "", dataDir = ""] = process.argv;
const openStore = () => (which === "chain" ? openEnvironment(dataDir, "a network") : openWebhookStore(dataDir));
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
