import { expect } from "chai";
import { presentTransactionTypes } from "../../../src/api/v2/transactions.js";

const kind = (name: string, type: number, versions?: number[]) => ({ typeGroup: 1, key: name, name, type, ...(versions === undefined ? {} : { versions }) });

describe("transaction types by name", () => {
  it("have the number of the latest version with that name, in the order of the rows", () => {
    const types = [kind("Transfer", 0), kind("Timelock", 6, [1]), kind("Payment", 6, [2]), kind("Payment", 7, [1]), kind("Own", 0)];
    expect(Object.entries(presentTransactionTypes(types))).to.deep.equal([["Transfer", 0], ["Timelock", 6], ["Payment", 6], ["Own", 0]]);
  });

  it("have a fork's number when the fork redefines a core type", () => {
    expect(presentTransactionTypes([kind("Transfer", 0), kind("Transfer", 9)])).to.deep.equal({ Transfer: 9 });
  });
});
