import { expect } from "chai";
import { createMemoryAdapter } from "../../memory-adapter/adapter.js";
import { openTemporaryStore, closeTemporaryStores } from "../../store/temporary-store.js";
import { blockDataOf, createBenchChain } from "./chain.js";
import { busiest, origin } from "./deeds.js";
import { createAddresses, publicKeyOf } from "./names.js";
import { type ChainSize, genesisTransactions, sizes, transactionsAt } from "./sizes.js";

/** Small enough for a test, but with every transaction type. */
const size: ChainSize = {
  ...sizes["10k"],
  transactions: 3_400,
  blocks: 600,
  fullBlocks: 20,
  singleBlocks: 3_400 - genesisTransactions - 3_000,
  wallets: 340,
  delegates: 80,
  busiest: 85,
  openLocks: 3,
};

describe("the bench's chain", () => {
  after(closeTemporaryStores);

  it("is the same whether it is made block by block or skipped through", () => {
    const whole = createBenchChain(size);
    const blocks = Array.from({ length: size.blocks }, () => whole.next());
    const skipped = createBenchChain(size);
    skipped.skipTo(421);
    expect(skipped.next()).to.deep.equal(blocks[420]);
    skipped.skipTo(size.blocks + 1);
    expect(skipped.next(7)).to.deep.equal(whole.next(7));
  });

  it("has blocks that parse to what was made", () => {
    const chain = createBenchChain(size);
    for (let height = 1; height <= 200; height++) {
      const full = chain.next();
      expect(chain.rules.parseBlock(blockDataOf(full))).to.deep.equal(full);
    }
  });

  it("has the numbers that its size declares", () => {
    for (const one of [size, ...Object.values(sizes).slice(0, 2)]) {
      let transactions = genesisTransactions;
      for (let height = 2; height <= one.blocks; height++) transactions += transactionsAt(height, one);
      expect(transactions, one.name).to.equal(one.transactions);
    }
    const chain = createBenchChain(size);
    chain.skipTo(size.blocks + 1);
    expect(chain.ledger).to.include({ wallets: size.wallets, transactions: size.transactions });
    expect(chain.ledger.delegates).to.have.length(size.delegates);
  });

  it("gives, in the store, the balances and nonces that its maker expected, none below zero", async () => {
    const chain = createBenchChain(size);
    const { store } = openTemporaryStore(chain.network);
    const kinds = new Set<string>();
    while (chain.height <= size.blocks) {
      const full = chain.next();
      for (const { version, type } of full.transactions) kinds.add(`${version}/${type}`);
      await store.apply([full]);
    }
    expect([...kinds].sort()).to.include.members(["1/0", "1/1", "1/2", "1/3", "2/0", "2/1", "2/3", "2/5", "2/6", "2/8", "2/9"]);
    const snapshot = store.snapshot();
    const addressOf = createAddresses(size.wallets);
    for (let number = origin + 1; number < size.wallets; number++) {
      const wallet = await snapshot?.wallet(addressOf(number));
      expect(wallet, `wallet ${number}`).to.include({
        balance: BigInt(chain.ledger.balances[number] ?? -1),
        nonce: BigInt(chain.ledger.nonces[number] ?? -1),
      });
      expect(chain.ledger.balances[number], `wallet ${number}`).to.be.at.least(0);
    }
    const busiestPage = await snapshot?.transactions({
      filter: { ownerId: addressOf(busiest) },
      order: { field: "timestamp", direction: "desc" },
      offset: 0,
      limit: 1,
    });
    expect(busiestPage).to.have.property("total", size.busiest);
    expect(await snapshot?.delegate(publicKeyOf(busiest + 1))).to.have.property("producedBlocks").that.is.above(10);
    snapshot?.release?.();
  });

  it("is read the same by another store", async () => {
    const chain = createBenchChain(size);
    const { store } = openTemporaryStore(chain.network);
    const other = createMemoryAdapter(chain.network);
    for (let height = 1; height <= 150; height++) {
      const full = chain.next();
      await store.apply([full]);
      other.apply(blockDataOf(full));
    }
    const query = { filter: {}, order: { field: "balance", direction: "desc" }, offset: 0, limit: 1_000 } as const;
    const [snapshot, expected] = [store.snapshot(), await other.snapshot()];
    expect(await snapshot?.wallets(query)).to.deep.equal(await expected?.wallets(query));
    snapshot?.release?.();
  });
});
