import { EventEmitter } from "eventemitter3";
import { expect } from "chai";
import fc from "fast-check";
import { systemClock } from "../../src/async/clock.js";
import { createApiPlugin } from "../../src/index.js";
import { createProblems } from "../../src/operate/problems.js";
import { createFollower, type Follower } from "../../src/store/sync/follower.js";
import type { Store } from "../../src/store/state/store.js";
import type { BlockData } from "../../types/events.js";
import type { Network } from "../../types/node-context.js";
import { loadChain } from "../data/read.js";
import { closeStores, closeTemporaryStores, openTemporaryStore, temporaryFolder } from "./temporary-store.js";
import { count } from "../fixtures/long.js";
import { storeBlocks } from "../fixtures/stored-blocks.js";

/** Rewards: none up to height 74, then 2, and 3 from 301 on. */
const name = "core3-custom-c";
const chain = loadChain(name);
const at = (height: number): BlockData => chain.blocks[height - 1]!;

/** The same network, whose rewards begin and rise after fewer blocks. */
const [begins, rises] = [12, 31];
const [first, ...rest] = chain.network.milestones;
const soon: Network = {
  ...chain.network,
  milestones: [
    first,
    ...rest
      .map((milestone) => (milestone.height === 75 ? { ...milestone, height: begins } : milestone.height === 301 ? { ...milestone, height: rises } : milestone))
      .toSorted((one, other) => one.height - other.height),
  ],
};
const rightSoon = (height: number): string => (height < begins ? "0" : height < rises ? "200000000" : "300000000");

/** The chain with other rewards at some heights. */
const withRewards = (rewards: Record<number, string>, end: number): BlockData[] =>
  chain.blocks.slice(0, end).map((block) => ({ ...block, transactions: block.height === 1 ? block.transactions! : [], ...(block.height === 1 ? {} : empty), reward: rewards[block.height] ?? block.reward }));
const empty = { numberOfTransactions: 0, totalAmount: "0", totalFee: "0" };

describe("the rewards of a chain that the library reads", () => {

  let lines: string[];
  let dataDir: string;
  let store: Store;
  let follower: Follower;
  let events: EventEmitter;
  let problems: ReturnType<typeof createProblems>;
  const note = (level: string) => (line: string) => void lines.push(`${level} ${line}`);
  const logger = { debug: () => undefined, info: note("info"), warn: note("warn"), error: note("error") };

  const follow = async (blocks: BlockData[], network: Network = chain.network): Promise<void> => {
    const opened = openTemporaryStore(network, { dataDir });
    ({ store } = opened);
    [events, problems] = [new EventEmitter(), createProblems(logger)];
    const source = { read: (from: number, limit: number) => blocks.slice(from - 1, from - 1 + limit) };
    follower = createFollower({ ...opened, events, source, logger, clock: systemClock, onProgress: undefined, problems });
    await follower.start();
    await follower.settled();
  };
  const stop = async (): Promise<void> => {
    await follower.stop();
    await closeStores();
  };
  const told = (): string[] => lines.filter((line) => line.includes("rewards"));

  beforeEach(() => ([lines, dataDir] = [[], temporaryFolder()]));
  afterEach(async () => {
    await follower.stop();
    await closeTemporaryStores();
  });

  it("are those of its milestones on a real chain: nothing is said", async () => {
    await storeBlocks(name, 60, 1_000, dataDir);
    await follow(chain.blocks.slice(0, 90));
    expect([problems.present(), told()]).to.deep.equal([undefined, []]);
  });

  it("lead to one warning and a problem if they are not those of its milestones, after a restart too", async () => {
    const blocks = withRewards({ 60: "1", 80: "1", 81: "1" }, 100);
    const reason = "the chain's rewards are not those of its network: block 60 has the reward 1, but `network.milestones` give 0 at this height: the chain belongs to another network";
    for (let starts = 1; starts <= 2; starts++) {
      await follow(blocks);
      expect([problems.present(), told()]).to.deep.equal([reason, Array.from({ length: starts }, () => `warn ${reason}`)]);
      await stop();
    }
  });

  it("are any where the network says that blocks have their own", async () => {
    await follow(withRewards({ 60: "1", 80: "1" }, 100), { ...chain.network, rewards: "blocks" });
    expect([problems.present(), told()]).to.deep.equal([undefined, []]);
  });

  it("are right again when the host has reverted the blocks with others", async () => {
    const blocks = withRewards({ 98: "1", 100: "1" }, 100);
    await follow(blocks);
    blocks.splice(97);
    for (const height of [100, 99]) events.emit("block.reverted", at(height));
    await follower.settled();
    expect(problems.present()).to.match(/block 98 /);
    events.emit("block.reverted", at(98));
    await follower.settled();
    expect(problems.present()).to.equal(undefined);
    expect(told().at(-1)).to.match(/^info the chain's rewards are those of its network again, after /);
    events.emit("block.applied", withRewards({ 98: "7" }, 98)[97]);
    await follower.settled();
    expect(problems.present()).to.match(/block 98 has the reward 7, /);
  });

  it("do not count in blocks that the network's exceptions name", async () => {
    const exceptions = { blocks: [at(60).id, at(90).id] };
    await follow(withRewards({ 60: "1", 90: "1" }, 100), { ...chain.network, exceptions });
    expect(problems.present()).to.equal(undefined);
    await stop();
    dataDir = temporaryFolder();
    await follow(withRewards({ 60: "1", 90: "1", 91: "5" }, 100), { ...chain.network, exceptions });
    expect(problems.present()).to.match(/block 91 has the reward 5, /);
  });

  it("are compared with the milestones as plain comparison would, from any height", async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.integer({ min: 2, max: 40 }).map(String), fc.constantFrom("0", "200000000", "300000000", "5"), { maxKeys: 4 }), async (rewards) => {
        dataDir = temporaryFolder();
        const others = Object.fromEntries(Array.from({ length: 39 }, (_, i) => [i + 2, rightSoon(i + 2)]));
        await follow(withRewards({ ...others, ...rewards }, 40), soon);
        for (const from of [1, 2, begins - 1, begins, 20, rises, 40]) {
          const first = Object.keys(rewards).map(Number).sort((a, b) => a - b).find((height) => height >= from && rewards[height] !== rightSoon(height));
          expect(store.firstOtherReward(from)?.block.height, JSON.stringify(rewards)).to.equal(first);
        }
        await stop();
      }),
      { numRuns: count(2, 1_000) },
    );
  });

  it("show in the plugin's health", async () => {
    await follow(chain.blocks.slice(0, 2));
    const blocks = withRewards({ 60: "1" }, 70);
    const source = { read: (from: number, limit: number) => blocks.slice(from - 1, from - 1 + limit) };
    const plugin = createApiPlugin({ network: chain.network, events: new EventEmitter(), dataDir: temporaryFolder(), blocks: source, logger });
    await plugin.start();
    const health = plugin.health();
    await plugin.stop();
    expect(health).to.include({ status: "failing", height: 70 });
    expect(health.problem).to.match(/^the chain's rewards are not those of its network: block 60 /);
  });
});
