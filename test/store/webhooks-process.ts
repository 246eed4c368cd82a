/** A process that writes a webhook beside the one that writes blocks: `fork("webhooks-process.ts", [DIR])`. Ends at the first message. */
import { once } from "node:events";
import { createChainRules } from "../../src/chain/rules.js";
import { createStore } from "../../src/store/state/store.js";
import { createWebhookStore } from "../../src/store/webhooks/webhook-store.js";
import { loadChain } from "../data/read.js";
import { webhookRow } from "../webhooks/webhook-row.js";

const [, , dataDir = ""] = process.argv;
const store = createStore({ dataDir, undoBlocks: 10, access: "webhooks" }, { rules: createChainRules(loadChain("core3-custom-c").network) });
const webhooks = createWebhookStore(store.environment);
webhooks.transaction(() => webhooks.addWebhook(webhookRow));
process.send?.("written");
await once(process, "message");
await store.stop();
process.disconnect();
