/** A block of 100,000 transactions, and as many in blocks of 150: prints what a turn of the loop took at the most while they were indexed, and the memory. `--count`: transactions. */
import { expect } from "chai";
import { count } from "../fixtures/long.js";
import { startFloodedNode } from "./flooded-node.js";

describe("a block of 100,000 transactions", () => {
  const indexed = async (transactions: number, perBlock: number): Promise<{ held: number; peak: number }> => {
    const { held, peak } = (await startFloodedNode(transactions, perBlock)).told;
    return { held, peak };
  };

  it("holds no turn of the loop for longer than 50 ms", async () => {
    const transactions = count(100_000, 100_000);
    const [none, small, large] = [await indexed(0, 1), await indexed(transactions, 150), await indexed(transactions, transactions)];
    console.log({ transactions, none, small, large });
    expect(large.held).to.be.below(50);
  });
});
