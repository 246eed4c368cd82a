import { expect } from "chai";
import { createMilestones } from "../../src/chain/milestones.js";
import { PorticoError } from "../../src/errors.js";
import type { Milestone } from "../../types/node-context.js";
import { loadChain } from "../data/read.js";

const first: Milestone = {
  height: 1,
  reward: 0,
  activeDelegates: 51,
  blocktime: 8,
  epoch: "2017-03-21T13:00:00.000Z",
  block: { version: 0, maxTransactions: 50, maxPayload: 2_097_152 },
  fees: { staticFees: { transfer: 10_000_000, vote: 100_000_000 } },
  vendorFieldLength: 64,
};

const refused = (milestones: Milestone[]): string => {
  try {
    createMilestones(milestones);
  } catch (error) {
    expect(error).to.be.instanceOf(PorticoError).with.property("code", "OPTION_INVALID");
    return (error as Error).message;
  }
  throw new Error("was taken");
};

describe("milestones", () => {
  it("apply from their height on, each on top of the earlier ones", () => {
    const { at, all } = createMilestones([
      first,
      { height: 100, reward: "200000000" },
      { height: 200, activeDelegates: 53, aip11: true },
    ]);
    expect(all.map(({ height }) => height)).to.deep.equal([1, 100, 200]);
    expect(at(1)).to.deep.equal(first);
    expect(at(99).reward).to.equal(0);
    expect(at(100)).to.deep.equal({ ...first, height: 100, reward: "200000000" });
    expect(at(1_000_000)).to.deep.equal({ ...first, height: 200, reward: "200000000", activeDelegates: 53, aip11: true });
  });

  it("merge nested members, and replace lists", () => {
    const { at } = createMilestones([
      { ...first, list: [1, 2, 3] },
      { height: 2, block: { idFullSha256: true }, fees: { staticFees: { vote: 1 } }, list: [4] },
    ]);
    expect(at(2).block).to.deep.equal({ version: 0, maxTransactions: 50, maxPayload: 2_097_152, idFullSha256: true });
    expect(at(2).fees).to.deep.equal({ staticFees: { transfer: 10_000_000, vote: 1 } });
    expect(at(2).list).to.deep.equal([4]);
    expect(at(1).fees).to.deep.equal(first.fees);
  });

  it("replace a member by one of another form as a whole", () => {
    const { at } = createMilestones([{ ...first, extra: { a: 1, b: 2 } }, { height: 2, extra: 5 }, { height: 3, extra: { c: 3 } }, { height: 4, extra: null }, { height: 5, extra: { d: 4 } }, { height: 6, extra: [1] }]);
    expect([1, 2, 3, 4, 5, 6].map((height) => at(height).extra)).to.deep.equal([{ a: 1, b: 2 }, 5, { c: 3 }, null, { d: 4 }, [1]]);
  });

  it("may come in any order, and leave their input unchanged", () => {
    const given = [{ height: 50, reward: 5 }, first, { height: 20, reward: 2 }];
    const copy = structuredClone(given);
    expect([1, 19, 20, 49, 50].map((height) => createMilestones(given).at(height).reward)).to.deep.equal([0, 0, 2, 2, 5]);
    expect(given).to.deep.equal(copy);
  });

  it("give what a real network's node reports", () => {
    const { network, meta } = loadChain("core3-custom-c");
    expect(createMilestones(network.milestones).at(meta.height)).to.deep.equal(meta.nodeConfiguration.data["constants"]);
  });

  it("are refused with the height and the reason", () => {
    expect(refused([])).to.match(/no milestone at height 1/);
    expect(refused([{ ...first, height: 2 }])).to.match(/no milestone at height 1/);
    expect(refused([{ height: 1, reward: 0 }])).to.equal("network.milestones: at height 1 activeDelegates is missing; it must be a whole number above 0");
    expect(refused([first, { height: 9, blocktime: "8" as unknown as number }])).to.equal('network.milestones: at height 9 blocktime is "8"; it must be a whole number of seconds above 0');
    for (const member of ["reward", "activeDelegates", "blocktime", "epoch"] as const) {
      const { [member]: _, ...others } = first;
      expect(refused([others])).to.match(new RegExp(`at height 1 ${member} is missing`));
    }
    expect(refused([first, { height: 9, activeDelegates: 0 }])).to.match(/height 9/);
    expect(refused([first, { height: 9, activeDelegates: 2.5 }])).to.match(/height 9/);
    expect(refused([first, { height: 9, blocktime: -1 }])).to.match(/height 9/);
    expect(refused([first, { height: 9, epoch: "yesterday" }])).to.match(/height 9/);
    expect(refused([first, { height: 1.5, reward: 1 }])).to.match(/1.5 is not a height/);
    expect(refused([first, { height: NaN, reward: 1 }])).to.match(/NaN is not a height/);
    expect(refused([first, { height: 0, reward: 1 }])).to.match(/: 0 is not a height/);
    expect(refused([first, { height: 9, blocktime: 0 }])).to.match(/height 9/);
    const { epoch: _, ...timeless } = first;
    expect(refused([timeless])).to.match(/height 1 .*epoch/);
    for (const reward of [-1, "-1", 1.5, "x", null]) expect(refused([first, { height: 9, reward: reward as number }]), String(reward)).to.match(/at height 9 reward is .*; it must be a whole number/);
    for (const fee of [-1, "1.5", null]) expect(refused([first, { height: 9, fees: { staticFees: { vote: fee as number } } }]), String(fee)).to.match(/height 9 the static fee vote is not a whole number/);
  });
});
