import { expect } from "chai";
import { createMilestones, finalHeightAt, finalityAt } from "../../src/chain/milestones.js";
import { firstMilestone } from "../first-milestone.js";

describe("Finality", () => {
  const milestones = createMilestones([firstMilestone(3), { height: 100, activeDelegates: 5 }]);

  it("is twice the number of active delegates at the tip", () => {
    expect(finalityAt(99, milestones)).to.equal(6);
    expect(finalityAt(100, milestones)).to.equal(10);
    expect(finalHeightAt(99, milestones)).to.equal(93);
    expect(finalHeightAt(100, milestones)).to.equal(90);
  });

  it("is what the host configures, 0 included", () => {
    expect(finalHeightAt(99, milestones, 20)).to.equal(79);
    expect(finalHeightAt(99, milestones, 0)).to.equal(99);
  });

  it("includes genesis however young the chain is", () => {
    expect(finalHeightAt(1, milestones)).to.equal(1);
    expect(finalHeightAt(6, milestones)).to.equal(1);
    expect(finalHeightAt(8, milestones)).to.equal(2);
  });
});
