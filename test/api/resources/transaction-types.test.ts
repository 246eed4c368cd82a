import { expect } from "chai";
import { presentTransactionTypes } from "../../../src/api/resources/transaction-types.js";

const kind = (name: string, type: number, versions?: number[]) => ({ typeGroup: 1, key: name, name, type, ...(versions === undefined ? {} : { versions }) });

describe("the types of transactions", () => {
  it("go by the number of the latest version that has them, in the order of the rows", () => {
    const types = [kind("Transfer", 0), kind("Timelock", 6, [1]), kind("Payment", 6, [2]), kind("Payment", 7, [1]), kind("Own", 0)];
    expect(Object.entries(presentTransactionTypes(types))).to.deep.equal([["Transfer", 0], ["Timelock", 6], ["Payment", 6], ["Own", 0]]);
  });

  it("are a fork's where it puts its own in a core type's place", () => {
    expect(presentTransactionTypes([kind("Transfer", 0), kind("Transfer", 9)])).to.deep.equal({ Transfer: 9 });
  });
});
