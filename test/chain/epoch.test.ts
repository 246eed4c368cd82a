import { expect } from "chai";
import { createEpoch } from "../../src/chain/epoch.js";

describe("epoch time", () => {
  const epoch = createEpoch("2017-03-21T13:00:00.000Z");

  it("is told in three forms", () => {
    expect(epoch.timestamp(0)).to.deep.equal({ epoch: 0, unix: 1_490_101_200, human: "2017-03-21T13:00:00.000Z" });
    expect(epoch.timestamp(305_134_464)).to.deep.equal({
      epoch: 305_134_464,
      unix: 1_795_235_664,
      human: "2026-11-21T04:34:24.000Z",
    });
  });

  it("is found from the clock and back", () => {
    expect(epoch.toUnix(305_134_464)).to.equal(1_795_235_664);
    expect(epoch.fromUnix(1_795_235_664)).to.equal(305_134_464);
    expect(epoch.fromUnix(1_795_235_664.999)).to.equal(305_134_464);
    expect(epoch.fromUnix(1_490_101_199)).to.equal(-1);
  });

  it("begins where the network says", () => {
    expect(createEpoch("1970-01-01T00:00:00.000Z").timestamp(1).human).to.equal("1970-01-01T00:00:01.000Z");
  });
});
