/** A node for figures: `chain-process.ts BLOCKS ADDRESSES FOLDER`. Each block has one transfer, to one of so many addresses. */
import { EventEmitter } from "node:events";
import type { AddressInfo } from "node:net";
import { createApiPlugin } from "../../src/index.js";
import type { BlockData } from "../../types/events.js";
import { blockData, genesis, hex, network, randomFrom, transferData } from "../follow/schedule.js";
import { silentLogger } from "../silent.js";

const [, , blocks = "", addresses = "", dataDir = ""] = process.argv;
const random = randomFrom(5);
const chain: BlockData[] = [genesis];
while (chain.length < Number(blocks)) {
  const height = chain.length + 1;
  const recipientId = `A${hex(String(Math.floor(random() * Number(addresses)))).slice(0, 33)}`;
  chain.push(blockData(String(height), height, chain.at(-1)?.id ?? null, [{ ...transferData(String(height), 1, 0, 0), recipientId }]));
}
const read = (from: number, limit: number): BlockData[] => chain.slice(from - 1, from - 1 + limit);
const plugin = createApiPlugin({ network, events: new EventEmitter(), dataDir, blocks: { read }, logger: silentLogger, options: { webhooks: false, staleAfter: false, rateLimit: false } });
const server = await plugin.listen(0);
await plugin.settled();
process.stdout.write(`serves http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
