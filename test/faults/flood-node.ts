/**
 * A node to be flooded: `node flood-node.ts DIR TRANSACTIONS PER_BLOCK`. It serves a chain of that many transfers, prints its port
 * and, told to by a line of input, its connections, the most memory that it ever had, what a turn of its loop took at the most since it was last
 * asked and, told to by the line `memory`, the memory that it cannot let go of, which takes a collection of all garbage. Its own address may ask as often as it likes, others no more than they may by default.
 */
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { createInterface } from "node:readline";
import { EventEmitter } from "eventemitter3";
import { createApiPlugin } from "../../src/index.js";
import { actors } from "../../src/conformance/chain/actors.js";
import { createChainMaker, milestones, networkOf, transfer } from "../../src/conformance/chain/chain-maker.js";
import { silentLogger } from "../silent.js";

const [, , dataDir = "", transactions = "0", perBlock = "1"] = process.argv;
const { origin, ...people } = actors;
const others = Object.values(people);
const maker = createChainMaker(milestones);
maker.add({ generator: origin, transactions: [transfer(origin, actors.ada, 10n ** 17n)] });
const draftAt = (i: number) => transfer(actors.ada, others[i % others.length] ?? origin, BigInt((i * 7_919) % 100_003), { vendorField: `number ${i}` });
for (let made = 0; made < Number(transactions); made += Number(perBlock)) {
  maker.add({ generator: actors.bob, transactions: Array.from({ length: Number(perBlock) }, (_, i) => draftAt(made + i)) });
}
const [first] = maker.blocks;
if (first === undefined) throw new Error("no genesis");
const plugin = createApiPlugin({
  network: networkOf(first),
  events: new EventEmitter(),
  dataDir,
  blocks: { read: (from, limit) => maker.blocks.slice(from - 1, from - 1 + limit) },
  logger: silentLogger,
  options: { rateLimit: { exempt: ["127.0.0.1"] }, metrics: true },
});
/** Milliseconds of processor time that the main thread has taken: a machine that others use holds up the loop, but takes none of it. Linux. */
const taken = (): number => Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
let [before, held] = [taken(), 0];
setInterval(() => {
  const now = taken();
  held = Math.max(held, now - before);
  before = now;
}, 1).unref();
const server = await plugin.listen(0);
const connections = promisify(server.getConnections.bind(server));
const collect = gc ?? (() => undefined);
/** MB. */
const keptMemory = (): number => {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
};
/** Bodies that take long to read: a megabyte of numbers, and a list of 100,000 addresses. */
const bodies = { numbers: `[${"1e22,".repeat(209_000)}1]`, addresses: JSON.stringify(Array.from({ length: 100_000 }, (_, index) => `A${String(index).padStart(33, "0")}`)) };
/** Milliseconds that nothing but reading such a body takes on this machine now, and writing one that is kept: the middle of some tries. */
const reading = (body: keyof typeof bodies): number => {
  const bytes = Buffer.from(bodies[body]);
  const tries = Array.from({ length: 5 }, () => {
    collect();
    const begun = taken();
    const read = JSON.parse(bytes.toString()) as unknown;
    if (body === "addresses") Buffer.from(JSON.stringify(read));
    return taken() - begun;
  });
  return tries.toSorted((a, b) => a - b)[2] ?? 0;
};
const tell = async (line = "", more: object = {}): Promise<void> => {
  const told = { ...more, held, connections: await connections() };
  const asked = line === "memory" ? { kept: keptMemory() } : line === "numbers" || line === "addresses" ? { reading: reading(line) } : {};
  process.stdout.write(`${JSON.stringify({ ...told, ...asked, peak: process.resourceUsage().maxRSS / 2 ** 10 })}\n`);
  [before, held] = [taken(), 0];
};
await plugin.settled();
await tell("", { port: (server.address() as { port: number }).port });
for await (const line of createInterface({ input: process.stdin })) await tell(line);
await plugin.stop();
