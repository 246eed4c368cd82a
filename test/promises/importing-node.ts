/** A node to be killed while it imports and writes its lake: `importing-node.ts DATA LAKE HEIGHT`. It prints each height it has reached, then `whole`. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { EventEmitter } from "eventemitter3";
import { createApiPlugin } from "../../src/index.js";
import { loadChain } from "../data/read.js";
import { silentLogger } from "../silent.js";
import { importOptions, lakeEnds, lakeOptions } from "./import-options.js";

const [, , dataDir = "", lakeDir = "", top = ""] = process.argv;
const { network, blocks: all } = loadChain("core3-custom-c");
const blocks = all.slice(0, Number(top));
const ends = lakeEnds(blocks.length);
const events = new EventEmitter();
const plugin = createApiPlugin({
  network,
  events,
  dataDir,
  // Few at a time, so that there are many commits.
  blocks: { read: (from, limit) => blocks.slice(from - 1, from - 1 + Math.min(limit, 20)), height: () => blocks.length },
  logger: silentLogger,
  options: { ...importOptions, webhooks: false, lake: { ...lakeOptions, dir: lakeDir } },
});
await plugin.start();

const heightOf = async (): Promise<number> => {
  const snapshot = await plugin.chain.snapshot();
  const height = snapshot?.tip.height ?? 0;
  snapshot?.release?.();
  return height;
};

interface Listed {
  blocks: { to: number }[];
  snapshots: { height: number }[];
}

const isWritten = (): boolean => {
  const path = join(lakeDir, "manifest.json");
  if (!existsSync(path)) return false;
  const { blocks: files, snapshots } = JSON.parse(readFileSync(path, "utf8")) as Listed;
  return files.at(-1)?.to === ends.block && snapshots.at(-1)?.height === ends.snapshot;
};

for (let [height, told] = [0, 0]; height < blocks.length || !isWritten(); height = await heightOf()) {
  if (height > told) console.log(`height ${(told = height)}`);
  await delay(5);
}
console.log("whole");
