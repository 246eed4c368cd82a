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
    expect(epoch.toMilliseconds(305_134_464)).to.equal(1_795_235_664_000);
    expect([1_490_101_200_000, 1_490_101_201_500, 1_490_101_199_000, 1_795_235_664_000].map(epoch.fromMilliseconds)).to.deep.equal([0, 1.5, -1, 305_134_464]);
  });

  it("has whole seconds since 1970 where the network's epoch has milliseconds", () => {
    const fine = createEpoch("2019-07-22T05:13:20.585Z");
    expect(fine.timestamp(8)).to.deep.equal({ epoch: 8, unix: 1_563_772_408, human: "2019-07-22T05:13:28.585Z" });
    expect([fine.toMilliseconds(8), fine.fromMilliseconds(1_563_772_408_585)]).to.deep.equal([1_563_772_408_585, 8]);
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
          const moment = new Date(begin + time * 1000);
          if (Number.isNaN(moment.getTime())) expect(() => timestamp(time)).to.throw(RangeError);
          else expect(timestamp(time)).to.deep.equal({ epoch: time, unix: Math.floor(moment.getTime() / 1000), human: moment.toISOString() });
        }
      }),
    );
    for (let day = 0; day < 45_000; day++) {
      const { unix, human } = epoch.timestamp(day * 86_400 + day);
      expect(human).to.equal(new Date(unix * 1000).toISOString());
    }
  });
});
