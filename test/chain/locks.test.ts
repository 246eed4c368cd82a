import { expect } from "chai";
import { isExpired, lockEndedBy } from "../../src/chain/locks.js";

describe("locks", () => {
  const tip = { id: "1", height: 100, timestamp: 5_000 };

  it("expire when the tip reaches their height or time", () => {
    expect([99, 100, 101].map((value) => isExpired({ expiration: { type: 2, value } }, tip))).to.deep.equal([true, true, false]);
    expect([4_999, 5_000, 5_001].map((value) => isExpired({ expiration: { type: 1, value } }, tip))).to.deep.equal([
      true,
      true,
      false,
    ]);
  });

  it("are named by the transaction that ends them", () => {
    expect(lockEndedBy({ asset: { claim: { lockTransactionId: "a", unlockSecret: "s" } } })).to.equal("a");
    expect(lockEndedBy({ asset: { refund: { lockTransactionId: "b" } } })).to.equal("b");
    expect(lockEndedBy({ asset: { lock: { secretHash: "c" } } })).to.equal(undefined);
    expect(lockEndedBy({})).to.equal(undefined);
  });
});
