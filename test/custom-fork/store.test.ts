import { mkdirSync } from "node:fs";
import { expect } from "chai";
import { EventEmitter } from "eventemitter3";
import type { BlockData, Network, PorticoError, Transaction } from "portico";
import { createForkNetwork, forkAddressOf, token, treasury } from "../../examples/custom-fork/network.js";
import { createForkNode, crewAddress, rewardOf } from "../../examples/custom-fork/node.js";
import { split } from "../../examples/custom-fork/split.js";
import { openDatabase } from "../../examples/custom-fork/store/database.js";
import { createSqliteChain, type SqliteChain, type SqliteChainOptions } from "../../examples/custom-fork/store/sqlite-chain.js";
import { atEndOfTest } from "../at-end.js";
import { temporaryFolder } from "../fixtures/folder.js";

describe("the custom fork's chain", () => {
  let folder: string;
  let path: string;
  let network: Network;

  beforeEach(() => {
    folder = temporaryFolder();
    path = `${folder}/chain.sqlite`;
    network = createForkNetwork();
  });

  const open = async (options: Partial<SqliteChainOptions> = {}): Promise<SqliteChain> => {
    const chain = createSqliteChain({ path, network, transactionTypes: [split], ...options });
    atEndOfTest(() => chain.stop());
    await chain.start();
    return chain;
  };
  const grown = async (blocks: number, options: Partial<SqliteChainOptions> = {}) => {
    const chain = await open(options);
    chain.apply(network.genesisBlock);
    const node = createForkNode({ network, chain, events: new EventEmitter() });
    const forged: BlockData[] = [];
    for (let count = 0; count < blocks; count++) forged.push(await node.forge());
    return { chain, node, forged };
  };
  const reading = async <T>(chain: SqliteChain, read: (snapshot: NonNullable<Awaited<ReturnType<SqliteChain["snapshot"]>>>) => Promise<T>): Promise<T> => {
    const snapshot = await chain.snapshot();
    if (snapshot === undefined) throw new Error("no state");
    try {
      return await read(snapshot);
    } finally {
      snapshot.release?.();
    }
  };
  const balanceOf = (chain: SqliteChain, address: string) => reading(chain, async (snapshot) => (await snapshot.wallet(address))?.balance);

  it("has the same genesis every time", () => {
    expect(createForkNetwork()).to.deep.equal(network);
    expect(network.genesisBlock.id).to.equal("bfbf48e614c6ee96d09a5061a4a54d143be7cc8ac4f8adc577b7dbf29c285b18");
    expect(forkAddressOf(treasury)).to.match(/^H/);
  });

  it("keeps amounts above 2^63 to the last digit", async () => {
    const { chain } = await grown(9);
    const stakes = 15n * 1_000_000n * token;
    const wages = Array.from({ length: 9 }, (_, index) => token * BigInt(index + 1)).reduce((a, b) => a + b);
    const spent = wages + 9n * (10n * token + 1n) + 9n * 3_000_000n;
    expect(await balanceOf(chain, forkAddressOf(treasury))).to.equal(18_000_000_000_000_000_000n - stakes - spent);
    // Blocks 6 to 10 have a reward, one by each of the five delegates.
    const rewards = [1, 2, 3, 4, 5].map((rank) => rewardOf(50_000_000n, rank)).reduce((a, b) => a + b);
    expect(await reading(chain, async ({ supply }) => Promise.resolve(supply))).to.equal(18_000_000_000_000_000_000n + rewards);
  });

  it("divides a split's amount among its recipients by their shares, and lists it under each of them", async () => {
    const { chain, forged } = await grown(1);
    const given = forged[0]?.transactions?.[1];
    // 10 tokens and 1 unit: a sixth, two sixths and three sixths, with a remainder.
    const sixth = 166_666_666n;
    const [first, second, third] = [2, 3, 4].map(crewAddress);
    expect(await balanceOf(chain, first ?? "")).to.equal(sixth + 2n);
    expect(await balanceOf(chain, second ?? "")).to.equal(333_333_333n);
    expect(await balanceOf(chain, third ?? "")).to.equal(500_000_000n);
    const received = await reading(chain, async (snapshot) =>
      snapshot.transactions({ filter: { recipientId: third ?? "" }, order: { field: "timestamp", direction: "desc" }, offset: 0, limit: 10 }),
    );
    expect(received.rows.map(({ id }: Transaction) => id)).to.deep.equal([given?.id]);
  });

  it("resumes where it stopped, even after a process that never closed it", async () => {
    const { chain, forged } = await grown(3);
    await chain.stop();
    const again = await open();
    expect(again.tip()?.id).to.equal(forged[2]?.id);
    await again.stop();
    // The folder that a killed process leaves: the package's lock.
    mkdirSync(`${path}.lock`);
    expect((await open()).tip()?.height).to.equal(4);
  });

  it("keeps blocks that were reverted for readers that follow it, for as long as it is told to", async () => {
    const { chain, node, forged } = await grown(3, { keepReverted: 60_000 });
    const last = forged[2] as BlockData;
    node.revert(last);
    const orphan = async () => {
      const view = await chain.changes?.view();
      try {
        return await view?.orphan(last.id);
      } finally {
        view?.release?.();
      }
    };
    expect((await orphan())?.block.id).to.equal(last.id);
    await chain.stop();
    const later = await open({ keepReverted: 60_000 });
    expect((await later.changes?.view())?.tip.id).to.equal(forged[1]?.id);
    later.apply(last);
    later.revert();
    const again = await later.changes?.view();
    expect([(await again?.orphan(last.id))?.times, await again?.timesOf?.("reverted", last)]).to.deep.equal([1, 1]);
    again?.release?.();
    await later.stop();
    // What is kept for no time at all goes with the next block.
    const forgetful = await open({ keepReverted: -1 });
    await createForkNode({ network, chain: forgetful, events: new EventEmitter() }).forge();
    const view = await forgetful.changes?.view();
    expect(await view?.orphan(last.id)).to.equal(undefined);
    view?.release?.();
  });

  it("applies a block completely or not at all", async () => {
    const { chain, node } = await grown(2);
    const before = chain.tip();
    const next = await node.forge();
    chain.revert();
    const broken = { ...next, transactions: next.transactions?.map((transaction) => (transaction.typeGroup === 1 ? transaction : { ...transaction, asset: {} })) };
    expect(() => chain.apply(broken)).to.throw(/has no asset\.split/);
    expect(chain.tip()).to.deep.equal(before);
    chain.apply(next);
    expect(chain.tip()?.id).to.equal(next.id);
    expect(() => chain.apply(next)).to.throw(/does not follow the tip/);
  });

  it("knows what changed a wallet above its oldest state, as a chain that keeps all, and refuses what begins there or below", async () => {
    const { chain, forged } = await grown(10, { undoBlocks: 4 });
    const whole = await open({ path: `${folder}/whole.sqlite` });
    for (const block of [network.genesisBlock, ...forged]) whole.apply(block);
    const oldest = { height: 7, id: forged[5]?.id };
    const changesFrom = (of: SqliteChain, from: number | undefined) =>
      reading(of, async (snapshot) => snapshot.walletChanges?.({ address: forkAddressOf(treasury), heights: from === undefined ? {} : { from }, direction: "desc", offset: 1, limit: 2 }));
    for (const from of [8, 9, 11, 12]) expect(await changesFrom(chain, from)).to.deep.equal(await changesFrom(whole, from));
    expect((await changesFrom(chain, 8))?.total).to.equal(4);
    for (const from of [undefined, 1, 7]) {
      const error: unknown = await changesFrom(chain, from).catch((thrown: unknown) => thrown);
      expect(error).to.include({ code: "HISTORY_MISSING", message: "Changes of this wallet up to height 7 are not kept. Ask from height 8 on." });
      expect((error as PorticoError).members).to.deep.equal({ oldest });
    }
  });

  it("deletes old versions, except those that an open snapshot needs", async () => {
    const { chain, node } = await grown(5, { undoBlocks: 2 });
    const held = await chain.snapshot();
    const at6 = await held?.wallet(forkAddressOf(treasury));
    for (let count = 0; count < 6; count++) await node.forge();
    expect(await held?.wallet(forkAddressOf(treasury))).to.deep.equal(at6);
    held?.release?.();
    await node.forge();
    await chain.stop();

    const database = openDatabase(path);
    const versions = database.get("SELECT count(*) AS count FROM wallets WHERE address = ?", [forkAddressOf(treasury)])?.count;
    const states = database.get("SELECT count(*) AS count FROM states")?.count;
    database.close();
    expect({ versions, states }).to.deep.equal({ versions: 3, states: 3 });

    await chain.start();
    chain.revert();
    chain.revert();
    expect(() => chain.revert()).to.throw(/is no longer kept/);
    expect(chain.tip()?.height).to.equal(11);
  });
});
