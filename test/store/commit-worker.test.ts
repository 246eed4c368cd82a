import workerThreads from "node:worker_threads";
import { syncBuiltinESMExports } from "node:module";
import { createHash } from "node:crypto";
import { expect } from "chai";
import { createWriteLog, type LogBytes } from "../../src/store/layout/write-log.js";
import { loadChain } from "../data/read.js";
import { closeTemporaryStores, contentsOf, openStoreAt, openTemporaryStore } from "./temporary-store.js";

const name = "core3-custom-c";
const chain = loadChain(name);

describe("the commit thread", () => {
  afterEach(closeTemporaryStores);

  it("is given logs that stay as they are until they are written, whatever is prepared meanwhile", async () => {
    const { store, rules } = await openStoreAt(name, 20);
    const { commit } = store.environment;
    let [commits, changed] = [0, 0];
    const digest = (log: LogBytes): string => createHash("sha1").update(Buffer.from(log)).digest("hex");
    Object.assign(store.environment, {
      commit: async (log: LogBytes) => {
        const before = digest(log);
        await commit(log);
        await new Promise((resolve) => setImmediate(resolve));
        commits += 1;
        if (digest(log) !== before) changed += 1;
      },
    });
    const blocks = chain.blocks.slice(20, 80).map(rules.parseBlock);
    for (let from = 0; from < blocks.length; from += 4) await store.applyAhead(blocks.slice(from, from + 4));
    await store.written();
    expect([commits, changed]).to.deep.equal([15, 0]);
  });

  it("is replaced when it dies: a commit that it has not begun is reported, and later blocks are written", async () => {
    const { Worker } = workerThreads;
    const threads: InstanceType<typeof Worker>[] = [];
    workerThreads.Worker = class extends Worker {
      constructor(...given: ConstructorParameters<typeof Worker>) {
        super(...given);
        threads.push(this);
      }
    };
    syncBuiltinESMExports();
    try {
      const { store, rules } = openTemporaryStore(chain.network);
      const blocks = chain.blocks.slice(0, 30).map(rules.parseBlock);
      for (const block of blocks.slice(0, 10)) await store.apply([block]);
      await threads.at(-1)!.terminate();
      // A thread that has only just been started does not get to its first log.
      const lost = store.environment.commit(createWriteLog().bytes()).catch((error: unknown) => error);
      await threads.at(-1)!.terminate();
      expect(await lost).to.be.an("error").with.property("message", "The store cannot be written: the thread that writes the store has ended: for an unknown reason.");
      for (const block of blocks.slice(10)) await store.apply([block]);
      expect(threads).to.have.length(3);

      const other = openTemporaryStore(chain.network);
      for (const block of blocks) await other.store.apply([block]);
      expect(contentsOf(store)).to.deep.equal(contentsOf(other.store));
    } finally {
      workerThreads.Worker = Worker;
      syncBuiltinESMExports();
    }
  });
});
