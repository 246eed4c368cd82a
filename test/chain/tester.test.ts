import { expect } from "chai";
import { blockList, delegateList, lockList, transactionList, walletList } from "../../src/chain/lists.js";
import { createTester } from "../../src/chain/tester.js";

const value = () => null;

describe("the tester of a list", () => {
  it("is not made without the values that rows have no member for, and names them", () => {
    expect(() => createTester(delegateList.filters)).to.throw(/valuesOf.*`secondPublicKey`$/);
    const some = { recipientId: value, ownerId: value };
    expect(() => createTester(transactionList.filters, some)).to.throw(/valuesOf.*: `vendorFieldHex`, `addresses`$/).with.property("code", "OPTION_INVALID");
    expect(() => createTester(lockList.filters)).to.throw(/`isExpired`, `expirationType`, `expirationValue`$/);
    for (const { filters } of [walletList, blockList]) expect(createTester<object, object>(filters)({})).to.equal(undefined);
  });
});
