/** A node whose streams are measured: `node streaming.js DIR STREAMS`. Tells its port; on "memory" what it has beyond the start, on "block" when it emits one, on "used" what it has used since. */
import type { AddressInfo } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { EventEmitter } from "eventemitter3";
import { createApiPlugin } from "../../../src/plugin/plugin.js";
import type { BlockData } from "../../../types/events.js";
import { blockData, genesis, network, transferData } from "../../follow/schedule.js";
import type { StreamsTold } from "./streams.js";

const [, , dataDir = "", streams = "0"] = process.argv;
const tell = (told: StreamsTold): void => void process.send?.(told);

const blocks: BlockData[] = [genesis];
const grow = (): BlockData => {
  const tip = blocks.at(-1) ?? genesis;
  const height = tip.height + 1;
  const block = blockData(`streamed ${height}`, height, tip.id, Array.from({ length: 10 }, (_, i) => transferData(`${height} ${i}`, i, i, i + 1)));
  blocks.push(block);
  return block;
};
for (let i = 0; i < 100; i++) grow();

const events = new EventEmitter();
const silent = (): void => undefined;
const logger = { debug: silent, info: silent, warn: silent, error: console.error };
const plugin = createApiPlugin({
  network,
  events,
  dataDir,
  blocks: { read: (from, limit) => blocks.slice(from - 1, from - 1 + limit) },
  logger,
  options: { webhooks: false, maxStreams: Number(streams), maxConnections: 2 * Number(streams) },
});
const server = await plugin.listen(0);

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const memory = (): number => {
  for (let i = 0; i < 3; i++) collect();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
};
const before = memory();

let usedBefore = process.cpuUsage();

process.on("message", (asked) => {
  if (asked === "memory") return tell({ memory: (memory() - before) * 1_024 });
  const { user, system } = process.cpuUsage(usedBefore);
  if (asked === "used") return tell({ used: user + system });
  const block = grow();
  usedBefore = process.cpuUsage();
  tell({ at: performance.timeOrigin + performance.now() });
  events.emit("block.applied", block);
});
tell({ port: (server.address() as AddressInfo).port });
