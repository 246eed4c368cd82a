/**
 * A node to be killed: `node forking-node.ts DIR PORT SEED`. It forges and forks as fast as it can, from a log of its own chain
 * that it writes before it tells anybody; with SEED `rest` it only serves.
 */
import { appendFileSync, existsSync, readFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { EventEmitter } from "eventemitter3";
import { createApiPlugin } from "../../src/plugin/plugin.js";
import { webhookOptions } from "../e2e/reader-options.js";
import { network } from "../follow/schedule.js";
import { createLogger } from "../webhooks/stage.js";
import { ForkingChain, type Step } from "./forking-host.js";

const [, , dataDir = "", port = "", seed = ""] = process.argv;
const path = join(dataDir, "host.ndjson");
const chain = new ForkingChain(seed, Number(seed) || 0);
if (existsSync(path)) {
  const bytes = readFileSync(path);
  const end = bytes.lastIndexOf("\n") + 1;
  truncateSync(path, end);
  for (const line of bytes.toString("utf8", 0, end).split("\n").slice(0, -1)) chain.take(JSON.parse(line) as Step);
}

const events = new EventEmitter();
const plugin = createApiPlugin({
  network,
  events,
  dataDir,
  blocks: { read: (from, limit) => chain.blocks.slice(from - 1, from - 1 + limit) },
  logger: createLogger([]),
  // A receiver that was killed is tried again soon, and for as long as it takes.
  options: { rateLimit: false, webhooks: { ...webhookOptions, schedule: Array.from({ length: 2_000 }, () => 50), timeout: 5_000 } },
});
await plugin.listen(Number(port));
console.log("serves");

while (seed !== "rest") {
  const step = chain.next();
  appendFileSync(path, `${JSON.stringify(step)}\n`);
  chain.take(step);
  if ("applied" in step) events.emit("block.applied", step.applied);
  else events.emit("block.reverted", step.reverted);
  await plugin.settled();
  await pause(2);
}
