import { Crypto, type Interfaces, Managers } from "@arkecosystem/crypto";
import { expect } from "chai";
import fc from "fast-check";
import { createMilestones } from "../../src/chain/milestones.js";
import { slotHeights, slotsAt } from "../../src/chain/rounds.js";
import type { Milestone, Network } from "../../types/node-context.js";
import { firstMilestone } from "../first-milestone.js";
import { loadChain } from "../data/read.js";

const { network } = loadChain("core3-custom-c");

/** ARK Core 3.9.1's `findIndex`, beside whose slots it counts turns. */
const coreTurn = (height: number, slot: number, timeOf: (height: number) => number): number => {
  const { configManager } = Managers;
  let [first, delegates] = [0, Number(configManager.getMilestone(1)["activeDelegates"])];
  let next = configManager.getNextMilestoneWithNewKey(1, "activeDelegates");
  while (next.found && height >= next.height) {
    first = Crypto.Slots.getSlotNumber(timeOf, timeOf(next.height - 1), next.height - 1) + 1;
    delegates = Number(next.data);
    next = configManager.getNextMilestoneWithNewKey(next.height, "activeDelegates");
  }
  return (slot - first) % delegates;
};

const blocktimes = fc.uniqueArray(fc.record({ height: fc.integer({ min: 2, max: 40 }), blocktime: fc.integer({ min: 2, max: 9 }) }), { maxLength: 4, selector: ({ height }) => height });
const sizes = fc.array(fc.record({ rounds: fc.integer({ min: 1, max: 3 }), activeDelegates: fc.integer({ min: 2, max: 7 }) }), { maxLength: 3 });

/** Core takes another number of delegates at the beginning of a round alone. */
const atRounds = (changes: readonly { rounds: number; activeDelegates: number }[]): Milestone[] => {
  let [height, active] = [1, firstMilestone(5).activeDelegates];
  return changes.map(({ rounds, activeDelegates }) => {
    [height, active] = [height + rounds * active, activeDelegates];
    return { height, activeDelegates };
  });
};

describe("slots", () => {
  it("are floor(time / block time), and turns go by them, where no milestone changes either", () => {
    const milestones = createMilestones([firstMilestone(3), { height: 3, reward: 2 }]);
    expect(slotHeights(1_000_000, milestones)).to.deep.equal([]);
    const { slotOf, beginOf, forgerOf } = slotsAt(1_000_000, milestones, () => NaN);
    expect([0, 7, 8, 305_134_464].map(slotOf)).to.deep.equal([0, 0, 1, 38_141_808]);
    expect([0, 1, 38_141_808].map(beginOf)).to.deep.equal([0, 8, 305_134_464]);
    expect([0, 1, 2, 3, 7].map((slot) => forgerOf(slot, ["a", "b", "c"]))).to.deep.equal(["a", "b", "c", "a", "b"]);
    expect(forgerOf(1, [])).to.equal(undefined);
  });

  it("are those of ARK Core 3.9.1 after milestones that change the block time or the number of delegates", () => {
    fc.assert(
      fc.property(blocktimes, sizes, fc.array(fc.nat(3), { minLength: 45, maxLength: 45 }), (other, changes, gaps) => {
        const given: Network["milestones"] = [firstMilestone(5), ...other, ...atRounds(changes)];
        const milestones = createMilestones(given);
        Managers.configManager.setConfig(structuredClone({ ...network, milestones: given }) as unknown as Interfaces.NetworkConfig);
        const times = [0];
        for (const [index, gap] of gaps.entries()) times.push((times.at(-1) ?? 0) + milestones.at(index + 1).blocktime + gap * milestones.at(index + 2).blocktime);
        for (let height = 2; height <= times.length; height++) {
          const needed = new Set(slotHeights(height, milestones));
          const coreTime = (at: number): number => times[at - 1] ?? NaN;
          const { slotOf, beginOf, forgerOf } = slotsAt(height, milestones, (at) => (needed.has(at) ? coreTime(at) : NaN));
          const time = coreTime(height);
          const slot = Crypto.Slots.getSlotNumber(coreTime, time, height);
          const turn = coreTurn(height, slot, coreTime);
          const order = Array.from({ length: milestones.at(height).activeDelegates }, (_, place) => place);
          expect([slotOf(time), beginOf(slot)]).to.deep.equal([slot, Crypto.Slots.getSlotTime(coreTime, slot, height)]);
          expect(forgerOf(slot, order)).to.equal(turn < 0 ? turn + order.length : turn === 0 ? 0 : turn);
        }
      }),
    );
  });
});
