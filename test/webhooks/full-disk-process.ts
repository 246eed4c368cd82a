/**
 * A process whose files may not grow: `sh -c "ulimit -f BLOCKS; exec node full-disk-process.ts DIR"`. It writes
 * messages into a webhook store until one does not fit, and prints what happened.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { messageOf } from "../../src/errors.js";
import { openWebhookStore } from "../../src/webhooks/rows/store.js";

// A write beyond the limit must fail with an error, not end the process.
process.on("SIGXFSZ", () => undefined);

const [, , dataDir = ""] = process.argv;

const { store, close } = openWebhookStore(dataDir);
const json = JSON.stringify("x".repeat(20_000));
const failures: string[] = [];
let written = 0;
const write = async (text: string): Promise<void> => {
  try {
    await store.transactionSoon(() => store.append({ at: 1, json: text }, [{ webhookId: 1, key: "msg", event: "peer.added" }]));
    written++;
  } catch (error) {
    failures.push(messageOf(error));
  }
};
while (failures.length === 0) await write(json);
await Promise.all([write(json), write(json)]);
// Any later error from lmdb-js is raised now.
await nextTurn();
const { total } = store.deliveries(1, undefined, { offset: 0, limit: 1 });
process.stdout.write(JSON.stringify({ written, total, failures }));
await close();
