import { expect } from "chai";
import fc from "fast-check";
import { createEpoch } from "../../src/chain/epoch.js";

describe("epoch time", () => {
  const epoch = createEpoch("2017-03-21T13:00:00.000Z");

  it("is given in three forms", () => {
    expect(epoch.timestamp(0)).to.deep.equal({ epoch: 0, unix: 1_490_101_200, human: "2017-03-21T13:00:00.000Z" });
    expect(epoch.timestamp(305_134_464)).to.deep.equal({
      epoch: 305_134_464,
      unix: 1_795_235_664,
      human: "2026-11-21T04:34:24.000Z",
    });
  });

  it("is converted from the clock and back", () => {
    expect(epoch.toUnix(305_134_464)).to.equal(1_795_235_664);
    expect(epoch.fromUnix(1_795_235_664)).to.equal(305_134_464);
    expect(epoch.fromUnix(1_795_235_664.999)).to.equal(305_134_464);
    expect(epoch.fromUnix(1_490_101_199)).to.equal(-1);
    expect([epoch.toEpoch(1_490_101_200), epoch.toEpoch(1_490_101_201.5), epoch.toEpoch(1_490_101_199)]).to.deep.equal([0, 1.5, -1]);
  });

  it("begins at the network's epoch", () => {
    expect(createEpoch("1970-01-01T00:00:00.000Z").timestamp(1).human).to.equal("1970-01-01T00:00:01.000Z");
  });

  it("is formatted as by Date, at any time and for any epoch, beyond the days that are cached", () => {
    const start = fc.oneof(fc.integer({ min: 0, max: 4_000_000_000 }).map((second) => second * 1000), fc.integer({ min: -1e12, max: 4e12 }));
    fc.assert(
      fc.property(start, fc.array(fc.oneof(fc.nat(200_000), fc.nat(2 ** 31 - 1), fc.nat(2 ** 45))), (begin, timestamps) => {
        const { timestamp } = createEpoch(new Date(begin).toISOString());
        for (const time of timestamps) {
          const moment = new Date((begin / 1000 + time) * 1000);
          if (Number.isNaN(moment.getTime())) expect(() => timestamp(time)).to.throw(RangeError);
          else expect(timestamp(time).human).to.equal(moment.toISOString());
        }
      }),
    );
    for (let day = 0; day < 45_000; day++) {
      const { unix, human } = epoch.timestamp(day * 86_400 + day);
      expect(human).to.equal(new Date(unix * 1000).toISOString());
    }
  });
});
