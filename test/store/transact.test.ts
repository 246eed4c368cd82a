import { fork } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readlinkSync, readSync, statSync, writeSync } from "node:fs";
import { expect } from "chai";
import { createCommitWorker } from "../../src/store/lmdb/environment.js";
import { noEntries } from "../../src/store/layout/write-log.js";
import { newestTransaction } from "../../src/store/lmdb/safe/meta-pages.js";
import type { Store } from "../../src/store/state/store.js";
import { transact } from "../../src/store/lmdb/safe/transact.js";
import { createWebhookStore } from "../../src/webhooks/rows/store.js";
import { loadChain } from "../data/read.js";
import { webhookRow } from "../webhooks/webhook-row.js";
import { branches, end, network } from "./filled-chain.js";
import { closeStores, closeTemporaryStores, contentsOf, openStoreAt, openTemporaryStore } from "./temporary-store.js";
import { programOf } from "../fixtures/programs.js";

const name = "core3-custom-c";
const chain = loadChain(name);
/** Most tests begin with so many blocks. */
const begun = 10;

/** The offset of the transaction count in LMDB's lock file. */
const countAt = 8;

describe("LMDB's transaction count, set back by a process that opens the store in the middle of a commit,", () => {
  let lockFiles: number[];
  beforeEach(() => (lockFiles = []));
  afterEach(async () => {
    await closeStores();
    // Not earlier: closing these files also drops LMDB's own locks on them.
    lockFiles.forEach(closeSync);
    await closeTemporaryStores();
  });

  /** Does what LMDB does in a process that read the meta pages before the last commit and only now goes on. */
  const setter = ({ environment: { path } }: Store) => {
    const file = openSync(`${path}-lock`, "r+");
    lockFiles.push(file);
    const count = Buffer.alloc(8);
    const read = (): bigint => {
      readSync(file, count, 0, 8, countAt);
      return count.readBigUInt64LE();
    };
    const setBack = (by = 1n): void => {
      const newest = newestTransaction(path);
      expect(Number(newest - read()), "LMDB's count lies where it did").to.be.within(-7, 2);
      count.writeBigUInt64LE(newest - by);
      writeSync(file, count, 0, 8, countAt);
    };
    return { read, setBack };
  };

  const setBackAfterCommits = (store: Store): void => {
    const { environment } = store;
    const { commit } = environment;
    const { setBack } = setter(store);
    environment.commit = async (log) => {
      await commit(log);
      setBack();
    };
  };

  const sameAsAlone = async (store: Store, height: number): Promise<void> => {
    const alone = await openStoreAt(name, begun);
    await alone.store.apply(chain.blocks.slice(begun, height).map(alone.rules.parseBlock));
    expect(store.tip()?.height).to.equal(height);
    expect(contentsOf(store)).to.deep.equal(contentsOf(alone.store));
  };

  it("reverts no block, however far and however often it is set back", async () => {
    const { store, rules } = await openStoreAt(name, begun);
    const blocks = chain.blocks.slice(begun, 30).map(rules.parseBlock);
    const { setBack, read } = setter(store);
    for (const block of blocks) {
      setBack(block.block.height % 3 === 0 ? 2n : 1n);
      await store.apply([block]);
    }
    setBack();
    await store.revert();
    expect(read()).to.equal(newestTransaction(store.environment.path));
    await sameAsAlone(store, 29);
  });

  it("is corrected before a commit is shown or built on, even when it is set back right after", async () => {
    const { store, rules } = await openStoreAt(name, begun);
    const blocks = chain.blocks.slice(begun, 40).map(rules.parseBlock);
    setBackAfterCommits(store);
    for (const block of blocks.slice(0, 10)) {
      await store.apply([block]);
      expect(store.tip()?.height).to.equal(block.block.height);
    }
    for (let from = 10; from < 30; from += 2) await store.applyAhead(blocks.slice(from, from + 2));
    await store.written();
    for (let height = 40; height > 30; height--) await store.revert();
    await sameAsAlone(store, 30);
  });

  it("damages no set that is filled, even when it is set back right after each part", async () => {
    const { store, rules } = openTemporaryStore(network);
    await store.apply(branches[0].slice(0, end).map(rules.parseBlock));
    const expected = contentsOf(store);
    await store.environment.db.meta.remove(Buffer.from("sets"));
    store.freePages();
    setBackAfterCommits(store);
    let parts = 0;
    while (await store.fillSets()) parts++;
    expect(parts).to.be.above(3);
    const withoutNote = ({ meta = [], ...rest }: typeof expected) => ({ ...rest, meta: meta.filter((entry) => !entry.startsWith("73657473=")) });
    expect(withoutNote(contentsOf(store))).to.deep.equal(withoutNote(expected));
  });

  it("loses no webhook write, immediate or queued, and no block", async () => {
    const { store, rules, dataDir } = await openStoreAt(name, begun);
    const { setBack } = setter(store);
    const blocks = chain.blocks.slice(begun, begun + 8).map(rules.parseBlock);
    setBack();
    store.markComplete();
    setBack();
    const { instance, transaction, transactionSoon, addWebhook } = createWebhookStore(store.environment);
    const ids: number[] = [];
    const add = (): void => void ids.push(addWebhook(webhookRow).id);
    for (const block of blocks) {
      setBack();
      transaction(add);
      setBack();
      await Promise.all([transactionSoon(add), transactionSoon(add)]);
      setBack();
      await store.apply([block]);
    }
    setBack();
    store.freePages();
    await closeStores();

    const again = openTemporaryStore(chain.network, { dataDir }).store;
    const kept = createWebhookStore(again.environment);
    expect(again.tip()?.height).to.equal(18);
    expect(again.isComplete()).to.equal(true);
    expect(kept.instance).to.equal(instance);
    expect(ids).to.deep.equal(Array.from({ length: 24 }, (_, index) => index + 1));
    expect(Array.from(kept.webhooks(), ({ id }) => id)).to.deep.equal(ids);
  });

  it("reverts nothing when other processes really open the store without a pause", async () => {
    // Commits of empty blocks that do not wait for the disk are fastest, and coincide with an opening most often.
    const other = "core3-testnet-a";
    const { store, rules } = await openStoreAt(other, 40, { disposable: true });
    const blocks = loadChain(other).blocks.slice(40, 160).map(rules.parseBlock);
    const script = programOf(new URL("opening-process.ts", import.meta.url));
    const others = [1, 2].map(() => fork(script, [store.environment.path], { execArgv: [] }));
    try {
      await Promise.all(others.map((other) => once(other, "message")));
      for (const block of blocks) await store.apply([block]);
    } finally {
      await Promise.all(
        others.map((other) => {
          const ended = once(other, "exit");
          other.disconnect();
          return ended;
        }),
      );
    }
    const alone = await openStoreAt(other, 40);
    await alone.store.apply(blocks);
    expect(store.tip()?.height).to.equal(160);
    expect(contentsOf(store)).to.deep.equal(contentsOf(alone.store));
  });

  it("is corrected for readers when pages are freed, even though nothing is written", async () => {
    const { store } = await openStoreAt(name, begun);
    const { setBack, read } = setter(store);
    setBack();
    store.freePages();
    // The correction is queued behind earlier commits.
    await store.environment.commit(noEntries);
    expect(read()).to.equal(newestTransaction(store.environment.path));
  });

  it("is corrected through one open file, which leaves the process its locks", async function () {
    if (!existsSync("/proc/locks")) this.skip();
    const { store } = await openStoreAt(name, begun);
    const { environment } = store;
    const { setBack } = setter(store);
    const lockFile = `${environment.path}-lock`;
    const { ino } = statSync(lockFile);
    const locks = (): number => readFileSync("/proc/locks", "utf8").split("\n").filter((line) => line.includes(` ${process.pid} `) && line.includes(`:${ino} `)).length;
    const isLockFile = (file: string): boolean => {
      try {
        return readlinkSync(`/proc/self/fd/${file}`) === lockFile;
      } catch {
        return false;
      }
    };
    const openFiles = (): number => readdirSync("/proc/self/fd").filter(isLockFile).length;
    const webhooks = createWebhookStore(environment);
    const [locksBefore, filesBefore] = [locks(), openFiles()];
    expect(locksBefore).to.equal(2);
    for (let times = 0; times < 3; times++) {
      setBack();
      await Promise.all(Array.from({ length: 20 }, () => webhooks.transactionSoon(() => webhooks.announceWork())));
    }
    expect(openFiles()).to.equal(filesBefore + 1);

    // A second thread, as when the first one has ended.
    setBack();
    const thread = createCommitWorker(environment.path, { noSubdir: true, maxDbs: 64, keyEncoding: "binary", eventTurnBatching: false, overlappingSync: false });
    await thread.commit(noEntries);
    await thread.close();
    expect(locks()).to.equal(locksBefore);
  });

  it("is left alone when the lock file is not as expected, and nothing is written then", async () => {
    const { store, rules } = await openStoreAt(name, begun);
    const { setBack } = setter(store);
    const { environment } = store;
    const newest = newestTransaction(environment.path);
    setBack(-7n);
    expect(() => transact(environment, () => environment.root.putSync(Buffer.from("key"), 1))).to.throw(
      /has seen \d+ transactions, but its lock file does not match/,
    );
    expect(newestTransaction(environment.path)).to.equal(newest);
    setBack(0n);
    await store.apply([rules.parseBlock(chain.blocks[begun]!)]);
    await sameAsAlone(store, begun + 1);
  });
});
