/**
 * A node to be killed: `node fault-node.ts DIR MODE`. It commits blocks and emits events as fast as it can, and prints
 * nothing. What it acknowledged is left in its folder: blocks in `height`, events in `acknowledged`.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { EventEmitter } from "eventemitter3";
import type { BlockData } from "../../types/events.js";
import { networkOf } from "../../src/conformance/chain/chain-maker.js";
import { createApiPlugin } from "../../src/plugin/plugin.js";
import { addFaultBlock, createFaultChain } from "./fault-block.js";
import { createLogger, localTargets } from "./stage.js";

const [, , dataDir = "", mode = ""] = process.argv;
const lastIn = (name: string): number => Number(readFileSync(join(dataDir, name), { encoding: "utf8", flag: "a+" }).trimEnd().split("\n").at(-1));

const chain = createFaultChain();
const blockAt = (height: number): BlockData => {
  while (chain.blocks.length < height) addFaultBlock(chain);
  return chain.blocks[height - 1] as BlockData;
};
/** The host's own database, as far as it had come. */
let height = Math.max(1, lastIn("height"));
const events = new EventEmitter();
const plugin = createApiPlugin({
  network: networkOf(blockAt(1)),
  events,
  dataDir,
  blocks: { read: (from, limit) => Array.from({ length: Math.min(limit, height - from + 1) }, (_unused, index) => blockAt(from + index)) },
  logger: createLogger([]),
  options: { webhooks: { tokens: ["any-token-will-do"], allowTargets: localTargets, schedule: [20, 50, 100, 200, 400, 800, 1_600, 3_200], timeout: 5_000 } },
});
await plugin.start();

let event = lastIn("acknowledged");
const turn = async (): Promise<void> => {
  const next = blockAt(height + 1);
  height++;
  appendFileSync(join(dataDir, "height"), `${height}\n`);
  events.emit("block.applied", next);
  for (let count = 0; count < 3; count++) {
    event++;
    events.emit("peer.added", { n: event });
    // Only now has the host's call returned.
    appendFileSync(join(dataDir, "acknowledged"), `${event}\n`);
  }
  await plugin.settled();
  setTimeout(() => void turn(), 2);
};

if (mode === "load") await turn();
// In drain mode it ends by itself when nothing is pending.
else {
  const look = (): void => {
    const { webhooks } = plugin;
    const ids = webhooks?.list({ offset: 0, limit: 100 }).rows.map(({ id }) => id) ?? [];
    const totals = ids.flatMap((id) => (["pending", "retrying"] as const).map((state) => webhooks?.deliveries(id, state, { offset: 0, limit: 1 }).total));
    if (totals.every((total) => total === 0)) void plugin.stop();
    else setTimeout(look, 20);
  };
  void plugin.settled().then(look);
}
