/**
 * A process whose files may not grow: `sh -c "ulimit -f BLOCKS; exec node full-disk-process.ts DIR WHERE"`. It writes
 * messages into a webhook store of its own, or into that of a chain, until one does not fit, and prints what happened.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { createChainRules } from "../../src/chain/rules.js";
import { messageOf } from "../../src/errors.js";
import { createStore } from "../../src/store/state/store.js";
import { createWebhookStore, openWebhookStore } from "../../src/store/webhooks/webhook-store.js";
import { loadChain } from "../data/read.js";

// A write beyond the limit must fail with an error, not end the process.
process.on("SIGXFSZ", () => undefined);

const [, , dataDir = "", where] = process.argv;

const openStore = () => {
  if (where === "own") return openWebhookStore(dataDir);
  const chain = createStore({ dataDir, undoBlocks: 10 }, { rules: createChainRules(loadChain("core3-custom-c").network) });
  return { store: createWebhookStore(chain.environment), close: chain.stop };
};

const { store, close } = openStore();
const json = JSON.stringify("x".repeat(20_000));
const failures: string[] = [];
let written = 0;
const write = async (text: string): Promise<void> => {
  try {
    await store.transactionSoon(() => store.append({ at: 1, json: text }, [{ webhookId: 1, key: "msg", event: "peer.added", begin: { state: "pending" } }]));
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
