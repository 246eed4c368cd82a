import { expect } from "chai";
import { atOnce } from "../../src/async/time-slicing.js";
import { createWriteLog, entriesOf, keysIn } from "../../src/store/layout/write-log.js";

const key = Buffer.from("key");

describe("a log of entries", () => {
  it("has its entries in order, without those that were dropped, however long they are", () => {
    const log = createWriteLog();
    const long = Buffer.alloc(100_000, 7);
    const first = log.add("wallets", key, Buffer.from("1"));
    log.add("blocks", Buffer.alloc(0), null);
    const last = log.add("wallets", key, long);
    log.drop(first);
    expect(log.valueAt(last)?.equals(long)).to.equal(true);
    expect(entriesOf(log.bytes())).to.deep.equal([
      { database: "blocks", key: Buffer.alloc(0), value: null },
      { database: "wallets", key, value: long },
    ]);
    expect(atOnce(keysIn(log.bytes(), ["wallets", "locks"]))).to.deep.equal({ wallets: [key], locks: [] });
  });

  it("is empty when cleared, and gives values that outlive it", () => {
    const log = createWriteLog();
    const value = log.valueAt(log.add("wallets", key, Buffer.from("before")));
    const entries = entriesOf(log.bytes());
    log.clear();
    expect(log.bytes()).to.have.length(0);
    const begin = log.add("blocks", Buffer.from("yek"), Buffer.from("behind"));
    expect(log.valueAt(begin)?.toString()).to.equal("behind");
    expect(value?.toString()).to.equal("before");
    expect(entries).to.deep.equal([{ database: "wallets", key, value: Buffer.from("before") }]);
  });

  it("keeps its memory when cleared, unless that is large and was hardly used", () => {
    const log = createWriteLog();
    const memoryAfter = (length: number): SharedArrayBuffer => {
      log.add("blocks", key, Buffer.alloc(length));
      const memory = log.bytes().buffer;
      log.clear();
      return memory;
    };
    const small = memoryAfter(1_000_000);
    expect(memoryAfter(1_000)).to.equal(small);
    const large = memoryAfter(5_000_000);
    expect(memoryAfter(4_000_000)).to.equal(large);
    expect(memoryAfter(1_000)).to.equal(large);
    expect(memoryAfter(1_000).byteLength).to.be.below(100_000);
  });
});
