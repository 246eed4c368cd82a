/** A node whose block source is slow: `DATA_DIR=... node rebuild-process.ts`. It prints what is read of the source, and when it is at its end. */
import { EventEmitter } from "eventemitter3";
import { createApiPlugin } from "../../src/index.js";
import { silentLogger } from "../silent.js";
import { after, chain, newTip, undoBlocks } from "../store/branches.js";
import { webhookOptions } from "./reader-options.js";

let reads = 0;
const plugin = createApiPlugin({
  network: chain.network,
  events: new EventEmitter(),
  dataDir: process.env["DATA_DIR"] ?? "",
  blocks: {
    read: async (from) => {
      await new Promise((resolve) => setImmediate(resolve));
      console.log(`read ${++reads} from ${from}: ${plugin.health().status}`);
      return after.filter(({ height }) => height >= from).slice(0, 3);
    },
  },
  logger: silentLogger,
  options: { undoBlocks, webhooks: webhookOptions },
});
await plugin.start();
await plugin.settled();
const { status, height } = plugin.health();
console.log(`settled ${status} ${height}`);
if (height === newTip.height) await plugin.stop();
