import { expect } from "chai";
import { loadChain } from "../data/read.js";
import { closeTemporaryStores, openTemporaryStore } from "./temporary-store.js";

const chain = loadChain("core3-custom-c");

describe("the commit thread", function () {
  this.timeout(10_000);
  afterEach(closeTemporaryStores);

  it("goes on after a commit whose bytes could not be allocated", async () => {
    const { store, rules } = openTemporaryStore(chain.network);
    const tooLong = { length: 2 ** 53 } as Buffer;
    const failure = await store.environment.commit(tooLong).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(RangeError);
    await store.apply([rules.parseBlock(chain.blocks[0]!)]);
    expect(store.tip()?.height).to.equal(1);
  });
});
