import { expect } from "chai";
import { createEntryLog } from "../../src/store/entry-log.js";
import { textKey } from "../../src/store/keys.js";
import { loadChain } from "../data/read.js";
import { closeTemporaryStores, openTemporaryStore } from "./temporary-store.js";

const chain = loadChain("core3-custom-c");

describe("the commit thread", function () {
  this.timeout(10_000);
  afterEach(closeTemporaryStores);

  it("writes nothing of a log that breaks off, says so, and goes on", async () => {
    const { store, rules } = openTemporaryStore(chain.network);
    const log = createEntryLog();
    log.add("meta", textKey("one"), Buffer.from("1"));
    log.add("meta", textKey("two"), Buffer.from("2"));
    const brokenOff = log.bytes().subarray(0, -6);
    const failure = await store.environment.commit(brokenOff).catch((error: unknown) => error);
    expect(failure).to.be.an("error").with.property("message").that.matches(/^LMDB cannot write: /);
    store.environment.root.resetReadTxn();
    expect(store.environment.db.meta.doesExist(textKey("one"))).to.equal(false);
    await store.apply([rules.parseBlock(chain.blocks[0]!)]);
    expect(store.tip()?.height).to.equal(1);
  });
});
