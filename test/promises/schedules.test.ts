import { setTimeout as delay } from "node:timers/promises";
import { EventEmitter } from "eventemitter3";
import { expect } from "chai";
import { createApiPlugin } from "../../src/index.js";
import type { BlockData } from "../../types/events.js";
import type { ApiPlugin } from "../../types/plugin.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { count, seedOr } from "../fixtures/long.js";
import { blockData, genesis, network, randomFrom, transferData } from "../follow/schedule.js";
import { createMemoryAdapter } from "../memory-adapter/adapter.js";
import { silentLogger } from "../silent.js";

/** A schedule is some moves of the host's chain, told badly, and then one block that is told well. */
const schedules = count(6, 10_000);
/** Schedules on one node. */
const together = 20;
const undoBlocks = 6;

type Told = [event: string, block: BlockData];

/** A host's chain, and the events that it should have emitted since it was last asked. */
class Host {
  readonly chain: BlockData[] = [genesis];
  private made = 0;
  private told: Told[] = [];
  private readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  apply(random: () => number): void {
    const label = `${this.name} ${this.made++}`;
    const transfers = Array.from({ length: Math.floor(random() * 3) }, (_, place) => transferData(`${label} ${place}`, 1 + Math.floor(random() * 9), Math.floor(random() * 3), Math.floor(random() * 3)));
    const block = blockData(label, this.chain.length + 1, this.chain.at(-1)?.id ?? null, transfers);
    this.chain.push(block);
    this.told.push(["block.applied", block]);
  }

  revert(depth: number): void {
    for (let left = depth; left > 0 && this.chain.length > 1; left--) {
      const block = this.chain.pop();
      if (block !== undefined) this.told.push(["block.reverted", block]);
    }
  }

  take(): Told[] {
    const told = this.told;
    this.told = [];
    return told;
  }
}

/** Events as a careless host emits them: some missing, doubled, in another order, late, or with the header alone. */
const mangled = (told: readonly Told[], late: Told[], random: () => number): Told[] => {
  const emitted: Told[] = late.splice(0, random() < 0.5 ? late.length : 0);
  for (const [event, block] of told) {
    const how = random();
    if (how < 0.15) continue;
    if (how < 0.25) late.push([event, block]);
    else if (how < 0.35) emitted.push([event, { ...block, transactions: undefined }]);
    else emitted.push([event, block]);
    if (how > 0.85) emitted.push([event, block]);
  }
  for (let place = emitted.length - 1; place > 0; place--) {
    if (random() > 0.2) continue;
    const other = Math.floor(random() * (place + 1));
    [emitted[place], emitted[other]] = [emitted[other] as Told, emitted[place] as Told];
  }
  return emitted;
};

const digestOf = (chain: readonly BlockData[]): string | undefined => {
  const memory = createMemoryAdapter(network);
  for (const block of chain) memory.apply(block);
  return (memory.snapshot() as { digest?: string } | undefined)?.digest;
};

/** What a node shows when it has reached a tip: a rebuild may take longer than what it was told last. */
const stateAt = async ({ chain }: ApiPlugin, tip: string): Promise<{ tip: string | undefined; height: number | undefined; digest: string | undefined }> => {
  for (let left = 5_000; ; left--) {
    const snapshot = await chain.snapshot();
    const found = { tip: snapshot?.tip.id, height: snapshot?.tip.height, digest: snapshot?.digest };
    snapshot?.release?.();
    if (found.tip === tip || left === 0) return found;
    await delay(5);
  }
};

describe("a host that forks and tells of it late, twice, in no order, in part or not at all", () => {
  it(`leaves a state that is that of its chain, beyond undo records and through restarts, too (${schedules} schedules)`, async () => {
    const seed = seedOr(311);
    let rebuilt = 0;
    for (let first = 0; first < schedules; first += together) {
      const random = randomFrom(seed + first);
      const host = new Host(`${seed + first}`);
      const dataDir = temporaryFolder();
      const late: Told[] = [];
      const open = (): { plugin: ApiPlugin; events: EventEmitter } => {
        const events = new EventEmitter();
        const blocks = { read: (from: number, limit: number) => host.chain.slice(from - 1, from - 1 + limit), height: () => host.chain.length };
        return { events, plugin: createApiPlugin({ network, events, dataDir, blocks, logger: silentLogger, options: { undoBlocks, webhooks: false, rateLimit: false } }) };
      };
      let node = open();
      await node.plugin.start();
      try {
        for (let schedule = 0; schedule < Math.min(together, schedules - first); schedule++) {
          for (let move = 0; move < 4; move++) {
            const choice = random();
            if (choice < 0.6) for (let blocks = 1 + Math.floor(random() * 5); blocks > 0; blocks--) host.apply(random);
            else {
              const depth = 1 + Math.floor(random() * (random() < 0.2 ? 3 * undoBlocks : 4));
              if (depth > undoBlocks) rebuilt++;
              host.revert(depth);
            }
            for (const [event, block] of mangled(host.take(), late, random)) node.events.emit(event, block);
            // Sometimes it is told before it has followed, and sometimes it is stopped on the way.
            if (random() < 0.5) await node.plugin.settled();
            if (random() < 0.06) {
              await node.plugin.stop();
              node = open();
              await node.plugin.start();
            }
          }
          host.apply(random);
          host.take();
          const tip = host.chain.at(-1) as BlockData;
          node.events.emit("block.applied", tip);
          await node.plugin.settled();
          const found = await stateAt(node.plugin, tip.id);
          expect({ seed: seed + first, schedule, ...found }).to.deep.equal({ seed: seed + first, schedule, tip: tip.id, height: tip.height, digest: digestOf(host.chain) });
        }
      } finally {
        await node.plugin.stop();
      }
    }
    expect(rebuilt).to.be.greaterThan(0);
  });
});
