import { mkdirSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { PorticoError } from "../../src/errors.js";
import type { BlockData, TransactionData } from "../../types/events.js";
import { loadChain } from "../data/read.js";
import { closeTemporaryStores, contentsOf, openTemporaryStore, temporaryFolder } from "./temporary-store.js";

const chain = loadChain("core3-custom-c");
const whole = { filter: {}, order: { field: "address", direction: "asc" }, offset: 0, limit: 1e9 } as const;

const codeOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    if (error instanceof PorticoError) return error.code;
    throw error;
  }
  return "no error";
};

describe("the LMDB store", function () {
  this.timeout(60_000);
  afterEach(closeTemporaryStores);

  it("comes back to exactly the same bytes after any revert", () => {
    const { store, rules } = openTemporaryStore(chain.network);
    const blocks = chain.blocks.slice(0, 260).map(rules.parseBlock);
    store.apply(blocks.slice(0, 150));
    const at150 = contentsOf(store);
    store.apply(blocks.slice(150));
    const at260 = contentsOf(store);
    for (let i = 0; i < 110; i++) store.revert();
    expect(contentsOf(store)).to.deep.equal(at150);
    for (const block of blocks.slice(150)) store.apply([block]);
    expect(contentsOf(store)).to.deep.equal(at260);
  });

  it("keeps its state when it is closed and opened again", async () => {
    const { store, rules, dataDir } = openTemporaryStore(chain.network);
    store.apply(chain.blocks.slice(0, 100).map(rules.parseBlock));
    const before = contentsOf(store);
    await store.stop();
    const again = openTemporaryStore(chain.network, { dataDir });
    expect(contentsOf(again.store)).to.deep.equal(before);
    again.store.apply(chain.blocks.slice(100, 110).map(rules.parseBlock));
    expect(again.store.tip()?.height).to.equal(110);
  });

  it("writes all of a batch or nothing of it", () => {
    const { store, rules } = openTemporaryStore(chain.network);
    store.apply(chain.blocks.slice(0, 60).map(rules.parseBlock));
    const before = contentsOf(store);
    const [next, , gap] = chain.blocks.slice(60, 63).map(rules.parseBlock);
    expect(codeOf(() => store.apply([next!, gap!]))).to.equal("BLOCK_DOES_NOT_CHAIN");
    expect(contentsOf(store)).to.deep.equal(before);
  });

  it("writes nothing when the hook within the write fails", () => {
    let failing = false;
    const within = (): void => {
      if (failing) throw new Error("no");
    };
    const { store, rules } = openTemporaryStore(chain.network, {}, { within });
    store.apply(chain.blocks.slice(0, 60).map(rules.parseBlock));
    const before = contentsOf(store);
    failing = true;
    expect(() => store.apply([rules.parseBlock(chain.blocks[60]!)])).to.throw("no");
    expect(() => store.revert()).to.throw("no");
    expect(contentsOf(store)).to.deep.equal(before);
  });

  it("refuses a block of another chain, a gap and a vote for nobody", () => {
    const { store, rules } = openTemporaryStore(chain.network);
    const apply = (block: BlockData): string => codeOf(() => store.apply([rules.parseBlock(block)]));
    expect(apply(chain.blocks[1]!)).to.equal("BLOCK_DOES_NOT_CHAIN");
    store.apply(chain.blocks.slice(0, 2).map(rules.parseBlock));
    expect(apply(chain.blocks[3]!)).to.equal("BLOCK_DOES_NOT_CHAIN");
    expect(apply({ ...chain.blocks[2]!, previousBlock: "123" })).to.equal("BLOCK_DOES_NOT_CHAIN");
    const voter = chain.blocks.flatMap(({ transactions = [] }) => transactions).find(({ type, version }) => type === 3 && version === 2)!;
    const nobody = { ...voter, asset: { votes: [`+02${"00".repeat(31)}01`] } };
    expect(apply({ ...chain.blocks[2]!, numberOfTransactions: 1, transactions: [nobody] })).to.equal("BLOCK_INVALID");
    expect(store.tip()?.height).to.equal(2);
  });

  it("refuses a transaction that the chain has already, and that a block holds twice", () => {
    const { store, rules } = openTemporaryStore(chain.network);
    const place = chain.blocks.findIndex(({ height, numberOfTransactions }) => height > 1 && numberOfTransactions > 0);
    const [known] = chain.blocks[place]!.transactions!;
    const apply = (at: number, transactions: TransactionData[]): string =>
      codeOf(() => store.apply([rules.parseBlock({ ...chain.blocks[at]!, numberOfTransactions: transactions.length, transactions })]));
    store.apply(chain.blocks.slice(0, place).map(rules.parseBlock));
    expect(apply(place, [known!, known!])).to.equal("BLOCK_INVALID");
    expect(apply(place, [known!])).to.equal("no error");
    expect(apply(place + 1, [known!])).to.equal("BLOCK_INVALID");
    expect(store.tip()?.height).to.equal(place + 1);
  });

  it("lists a transaction with its recipient although its type does not touch the recipient's wallet", async () => {
    const { store, rules } = openTemporaryStore(chain.network);
    store.apply(chain.blocks.slice(0, 60).map(rules.parseBlock));
    const before = store.snapshot()!;
    const richest = await before.wallets({ ...whole, order: { field: "balance", direction: "desc" } });
    const recipientId = richest.rows[0]!.address;
    before.release?.();
    const contents = contentsOf(store);
    const sender = chain.blocks.flatMap(({ transactions = [] }) => transactions).find(({ version }) => version === 2)!;
    const own: TransactionData = { ...sender, id: "77".repeat(32), typeGroup: 2, type: 77, recipientId };
    store.apply([rules.parseBlock({ ...chain.blocks[60]!, numberOfTransactions: 1, transactions: [own] })]);
    const now = store.snapshot()!;
    const order = { field: "timestamp", direction: "desc" } as const;
    for (const filter of [{ recipientId }, { ownerId: recipientId }, { addresses: [recipientId] }]) {
      const last = await now.transactions({ filter, order, offset: 0, limit: 1 });
      expect(last.rows.map(({ id }) => id)).to.deep.equal([own.id]);
    }
    now.release?.();
    store.revert();
    expect(contentsOf(store)).to.deep.equal(contents);
  });

  it("finds no wallet by the beginning of its second public key", async () => {
    const { store, rules } = openTemporaryStore(chain.network);
    store.apply(chain.blocks.map(rules.parseBlock));
    const now = store.snapshot()!;
    const { rows } = await now.wallets(whole);
    const known = rows.find(({ secondPublicKey }) => secondPublicKey !== null)!.secondPublicKey!;
    const totalOf = async (secondPublicKey: string): Promise<number> => (await now.wallets({ ...whole, filter: { secondPublicKey } })).total;
    expect(await totalOf(known)).to.equal(1);
    expect(await totalOf(known.slice(0, 64))).to.equal(0);
    now.release?.();
  });

  it("takes bounds of amounts that no chain comes near", async () => {
    const { store, rules } = openTemporaryStore(chain.network);
    store.apply([rules.parseBlock(chain.blocks[0]!)]);
    const now = store.snapshot()!;
    const totalOf = async (balance: { from?: bigint; to?: bigint }): Promise<number> => (await now.wallets({ ...whole, filter: { balance } })).total;
    const all = await totalOf({});
    for (const digits of [400, 6_000]) {
      const beyond = 10n ** BigInt(digits);
      const totals = await Promise.all([{ to: beyond }, { from: -beyond }, { from: -beyond, to: beyond }, { from: beyond }, { to: -beyond }].map(totalOf));
      expect(totals).to.deep.equal([all, all, all, 0, 0]);
    }
    now.release?.();
  });

  it("holds a snapshot still while the chain moves on", () => {
    const { store, rules } = openTemporaryStore(chain.network);
    store.apply(chain.blocks.slice(0, 100).map(rules.parseBlock));
    const still = store.snapshot()!;
    const wallets = still.wallets(whole);
    const delegates = still.delegates({ ...whole, order: { field: "rank", direction: "asc" } });
    store.apply(chain.blocks.slice(100, 200).map(rules.parseBlock));
    const now = store.snapshot()!;
    expect(still.tip.height).to.equal(100);
    expect(now.tip.height).to.equal(200);
    expect(still.wallets(whole)).to.deep.equal(wallets);
    expect(still.delegates({ ...whole, order: { field: "rank", direction: "asc" } })).to.deep.equal(delegates);
    expect(now.wallets(whole)).to.not.deep.equal(wallets);
    still.release?.();
    now.release?.();
  });

  it("goes back no further than it keeps undo records, and says so", () => {
    const { store, rules } = openTemporaryStore(chain.network, { undoBlocks: 5 });
    store.apply(chain.blocks.slice(0, 20).map(rules.parseBlock));
    for (let i = 0; i < 5; i++) store.revert();
    expect(store.tip()?.height).to.equal(15);
    expect(codeOf(() => store.revert())).to.equal("STORE_UNDO_EXHAUSTED");
    expect(store.tip()?.height).to.equal(15);
  });

  it("refuses the store of another network and leaves it as it was", async () => {
    const { store, rules, dataDir } = openTemporaryStore(chain.network);
    store.apply(chain.blocks.slice(0, 10).map(rules.parseBlock));
    const before = contentsOf(store);
    await store.stop();
    const other = { ...chain.network, network: { ...chain.network.network, nethash: "ff".repeat(32) } };
    expect(codeOf(() => openTemporaryStore(other, { dataDir }))).to.equal("STORE_FOREIGN");
    expect(contentsOf(openTemporaryStore(chain.network, { dataDir }).store)).to.deep.equal(before);
  });

  it("says what is wrong with a damaged file or a folder that cannot be made", async () => {
    const { store, rules, dataDir: whole } = openTemporaryStore(chain.network);
    store.apply(chain.blocks.slice(0, 60).map(rules.parseBlock));
    await store.stop();
    const healthy = join(whole, "chain.mdb");
    const dataDir = temporaryFolder();
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(join(dataDir, "chain.mdb"), "this is no database, whatever its name says".repeat(1_000));
    expect(() => openTemporaryStore(chain.network, { dataDir })).to.throw(PorticoError, /chain\.mdb cannot be/);
    writeFileSync(join(dataDir, "file"), "");
    truncateSync(healthy, Math.floor(statSync(healthy).size / 3 / 4096) * 4096);
    expect(() => openTemporaryStore(chain.network, { dataDir: dirname(healthy) })).to.throw(PorticoError, /chain\.mdb cannot be opened: it is cut off/);
    expect(() => openTemporaryStore(chain.network, { dataDir: join(dataDir, "file", "folder") })).to.throw(PorticoError, /cannot be opened/);
  });
});

describe("lmdb-js", () => {
  afterEach(closeTemporaryStores);

  it("rolls a synchronous transaction back when its function throws, which the store counts on", () => {
    const { root, db } = openTemporaryStore(chain.network).store.environment;
    const key = Buffer.from("key");
    expect(() =>
      root.transactionSync(() => {
        db.meta.putSync(key, 1);
        throw new Error("changed my mind");
      }),
    ).to.throw("changed my mind");
    expect(db.meta.get(key)).to.equal(undefined);
  });
});
