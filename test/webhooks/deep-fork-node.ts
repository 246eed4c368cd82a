/**
 * A node to be killed: `deep-fork-node.ts DIR PORT`. Its host's database is `DIR/host.json`; what the host does from then on comes as messages. The
 * block source is slow, so that kills meet rebuilds.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { EventEmitter } from "eventemitter3";
import type { BlockData } from "../../types/events.js";
import { createApiPlugin } from "../../src/plugin/plugin.js";
import { webhookOptions } from "../e2e/reader-options.js";
import { network } from "../follow/schedule.js";
import { silentLogger } from "../silent.js";
import type { Step } from "../live/forking-host.js";

const [, , dataDir = "", port = ""] = process.argv;
const blocks = JSON.parse(readFileSync(join(dataDir, "host.json"), "utf8")) as BlockData[];
const events = new EventEmitter();
const plugin = createApiPlugin({
  network,
  events,
  dataDir,
  blocks: {
    read: async (from, limit) => {
      await nextTurn();
      return blocks.slice(from - 1, from - 1 + Math.min(limit, 3));
    },
  },
  logger: silentLogger,
  options: { undoBlocks: 2, rateLimit: false, webhooks: { ...webhookOptions, schedule: Array.from({ length: 2_000 }, () => 20), timeout: 5_000 } },
});
process.on("message", (steps: Step[]) => {
  for (const step of steps) {
    if ("applied" in step) {
      blocks.push(step.applied);
      events.emit("block.applied", step.applied);
    } else {
      blocks.pop();
      events.emit("block.reverted", step.reverted);
    }
  }
});
await plugin.listen(Number(port));
process.send?.("serves");
