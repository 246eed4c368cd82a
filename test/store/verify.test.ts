import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { PorticoError } from "../../src/errors.js";
import { verifyStore } from "../../src/index.js";
import { numberKey } from "../../src/store/layout/keys.js";
import { metaOffsets } from "../../src/store/lmdb/safe/meta-pages.js";
import { createWebhookStore } from "../../src/webhooks/rows/store.js";
import { loadChain } from "../data/read.js";
import { webhookRow } from "../webhooks/webhook-row.js";
import { byHand } from "./by-hand.js";
import { closeStores, closeTemporaryStores, openStoreAt, openTemporaryStore, temporaryFolder } from "./temporary-store.js";

const name = "core3-custom-c";
const chain = loadChain(name);
const { nethash } = chain.network.network;

describe("verifyStore", () => {
  afterEach(closeTemporaryStores);

  /** A store that has been written for a while: blocks with and without undo records, some reverted, webhooks. */
  let made: { file: Buffer; digest: string | undefined };

  before(async () => {
    const { store, rules } = await openStoreAt(name, 40, { undoBlocks: 20 });
    const webhooks = createWebhookStore(store.environment);
    for (const block of chain.blocks.slice(40, 60)) await store.apply([rules.parseBlock(block)]);
    for (let count = 0; count < 3; count++) await store.revert();
    webhooks.transaction(() => void webhooks.addWebhook(webhookRow));
    store.markComplete();
    const { path } = store.environment;
    const snapshot = store.snapshot();
    const digest = snapshot?.digest;
    snapshot?.release?.();
    expect(digest).to.match(/^[0-9a-f]{64}$/);
    await closeStores();
    made = { file: readFileSync(path), digest };
  });

  /** That store, in a folder of its own. */
  const makeStore = (): { dataDir: string; path: string; digest: string | undefined } => {
    const dataDir = temporaryFolder();
    const path = join(dataDir, "chain.mdb");
    writeFileSync(path, made.file);
    return { dataDir, path, digest: made.digest };
  };

  it("finds nothing wrong with a sound store, says what its tip is, and writes nothing", async () => {
    const { dataDir, path, digest } = makeStore();
    const bytes = readFileSync(path);
    expect(await verifyStore({ dataDir, nethash })).to.deep.equal({ sound: true, faults: [], files: [path], height: 57, nethash, id: chain.blocks[56]?.id, digest });
    expect(readFileSync(path).equals(bytes)).to.equal(true);
  });

  it("reads the state of one moment beside a node that writes", async () => {
    const { store, rules, dataDir } = await openStoreAt(name, 10, { undoBlocks: 20 });
    let next = 10;
    const stopped = new AbortController();
    const writing = (async () => {
      while (!stopped.signal.aborted && next < chain.blocks.length) await store.apply([rules.parseBlock(chain.blocks[next++]!)]);
    })();
    for (let seen = 10; seen < 16; ) {
      const { faults, height = 0 } = await verifyStore({ dataDir, nethash });
      expect(faults).to.deep.equal([]);
      expect(height).to.be.within(seen, next);
      seen = height;
    }
    stopped.abort();
    await writing;
  });

  it("finds a changed letter in a webhook's target or secret, which would be read as any other, and the node does not answer with it", async () => {
    const { dataDir, path } = makeStore();
    const original = readFileSync(path);
    for (const text of [webhookRow.target, webhookRow.token]) {
      const bytes = Buffer.from(original);
      // All that is left of it in the file, in pages that are free, too.
      for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) bytes[at + 9] = (bytes[at + 9] ?? 0) ^ 1;
      writeFileSync(path, bytes);
      const { faults } = await verifyStore({ dataDir, nethash });
      expect(faults).to.have.length(1);
      expect(faults[0]).to.match(/database "webhooks-register", key .*: its record cannot be read \(The store is damaged: a row of the webhooks is not what was written/);
      const { environment } = openTemporaryStore(chain.network, { dataDir }).store;
      const webhooks = createWebhookStore(environment);
      expect(() => webhooks.webhook(1)).to.throw(PorticoError).with.property("code", "RECORD_DAMAGED");
      await closeStores();
    }
  });

  it("finds a meta page that says another number than its own: LMDB takes the state before the last transaction for the newest", async () => {
    const { dataDir, path } = makeStore();
    const original = readFileSync(path);
    const numbers = [0, 4_096].map((page) => original.readBigUInt64LE(page + metaOffsets.transaction));
    const newest = numbers.reduce((one, other) => (one > other ? one : other));
    for (const [of, said] of [[newest, newest - 2n], [newest - 1n, newest + 1n]] as const) {
      const bytes = Buffer.from(original);
      bytes.writeBigUInt64LE(said, numbers.indexOf(of) * 4_096 + metaOffsets.transaction);
      writeFileSync(path, bytes);
      const { sound, faults } = await verifyStore({ dataDir, nethash });
      expect({ sound, fault: faults[0] }).to.deep.equal({ sound: false, fault: `${path}: a meta page says that it is of transaction ${said}, but leads to pages of another` });
    }
  });

  it("says so where there is no store, or one of another network", async () => {
    const { dataDir, path } = makeStore();
    const error: unknown = await verifyStore({ dataDir: temporaryFolder() }).catch((reason: unknown) => reason);
    expect(error).to.have.property("code", "NOT_READY");
    const { sound, faults } = await verifyStore({ dataDir, nethash: "another" });
    expect([sound, faults]).to.deep.equal([false, [`${path}: it belongs to the network ${nethash}, not to another`]]);
  });

  it("says what is wrong with a file that a killed node has left damaged, at which LMDB would end the process", async () => {
    const { dataDir, path } = makeStore();
    const sound = readFileSync(path);
    const noMeta = Buffer.concat([Buffer.alloc(4_096), sound.subarray(4_096)]);
    const damaged: [bytes: Buffer, fault: RegExp][] = [
      [Buffer.alloc(0), /chain\.mdb: a meta page is damaged$/],
      [sound.subarray(0, 100), /chain\.mdb: a meta page is damaged$/],
      [noMeta, /chain\.mdb: a meta page is damaged$/],
      [sound.subarray(0, sound.length / 2), /chain\.mdb: .* is missing, because the file ends before it/],
    ];
    for (const [bytes, fault] of damaged) {
      writeFileSync(path, bytes);
      // Nobody has this process id.
      writeFileSync(`${path}-writer`, String(2 ** 30));
      const { sound: isSound, faults } = await verifyStore({ dataDir });
      expect(isSound).to.equal(false);
      expect(faults[0]).to.match(fault);
    }
  });

  it("finds what was changed of blocks beyond the chain, and of what is noted of those on it", async () => {
    const { store, rules, dataDir } = await openStoreAt(name, 10);
    for (const block of chain.blocks.slice(10, 20).map(rules.parseBlock)) await store.apply([block], block.block.height, 1_000 + block.block.height);
    for (let reverted = 0; reverted < 2; reverted++) await store.revert();
    const { orphans } = store.environment.db;
    const keys = [...orphans.getKeys({})].map((key) => Buffer.from(key));
    const rowOf = (key: Buffer): unknown[] => orphans.get(key) as unknown[];
    const keyOf = (kind: string): Buffer => keys.find((key) => key.toString("latin1", 0, 1) === kind) ?? Buffer.alloc(0);
    const faultsWith = async (key: Buffer, value: unknown): Promise<string[]> => {
      const before = orphans.get(key);
      if (value === undefined) orphans.removeSync(key);
      else orphans.putSync(key, value);
      const { faults } = await verifyStore({ dataDir });
      orphans.putSync(key, before);
      return faults.map((fault) => fault.replace(/^.*chain\.mdb: /, ""));
    };
    const [orphan, applied, time] = [keyOf("o"), keyOf("a"), keyOf("t")];
    expect(await faultsWith(orphan, rowOf(orphan))).to.deep.equal([]);
    const changed = (key: Buffer, at: number, value: unknown): unknown[] => rowOf(key).map((one, index) => (index === at ? value : one));
    for (const [key, value] of [
      [orphan, changed(orphan, 0, rowOf(applied)[0])],
      [orphan, changed(orphan, 2, 7)],
      [orphan, changed(orphan, 4, 9)],
      [applied, changed(applied, 1, 7)],
      [applied, changed(applied, 2, 3)],
      [applied, rowOf(applied).slice(0, 3)],
      [time, false],
    ] as const) {
      expect(await faultsWith(key, value)).to.deep.equal([`database "orphans", key ${key.toString("hex")}: it is not what was written`]);
    }
    expect(await faultsWith(time, undefined)).to.deep.equal(['database "orphans": the list of times is not that of its blocks (1 differ)']);
  });

  for (const what of ["balance", "vote", "rank"] as const) {
    it(`finds a ${what} that was changed by hand, by the digest of the state`, async () => {
      const { store, dataDir } = await openStoreAt(name, 60);
      byHand[what](store.environment);
      await closeStores();
      const { sound, faults } = await verifyStore({ dataDir });
      expect(sound).to.equal(false);
      expect(faults.join("\n")).to.match(/the state is not that of block 60: its digest is [\da-f]{64}, but was [\da-f]{64}/);
    });
  }

  it("finds a record that was changed by somebody else, although everything can be read", async () => {
    const { store, dataDir } = await openStoreAt(name, 20);
    const { db, path } = store.environment;
    db.blocks.putSync(numberKey(7), db.blocks.get(numberKey(8)));
    await closeStores();
    const { faults } = await verifyStore({ dataDir });
    expect(faults).to.deep.equal([`${path}: database "blocks", range 000000: its entries are not those that were written (20 are there, 20 were written)`]);
  });
});
