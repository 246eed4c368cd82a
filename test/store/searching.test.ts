import { expect } from "chai";
import type { PorticoError } from "../../src/errors.js";
import { refusalOf } from "../fixtures/refusal.js";
import type { TransactionQuery, WalletQuery } from "../../types/chain-queries.js";
import { loadChain } from "../data/read.js";
import { createMemoryAdapter } from "../memory-adapter/adapter.js";
import { closeTemporaryStores, openStoreAt } from "./temporary-store.js";

const name = "core3-custom-c";
const chain = loadChain(name);
const blocks = chain.blocks.slice(0, 150);

/** No index answers this. */
const withLetter: TransactionQuery = {
  filter: { vendorFieldHex: Buffer.from("e").toString("hex") },
  order: { field: "timestamp", direction: "desc" },
  offset: 0,
  limit: 5,
};
const richest: WalletQuery = { filter: {}, order: { field: "balance", direction: "desc" }, offset: 0, limit: 5 };

/** Every search is interrupted after each step. */
const interrupted = { searches: { turn: 0, most: 4 } };

describe("a search of the store", () => {
  afterEach(closeTemporaryStores);

  it("goes on in the state in which it began while blocks are written and reverted", async () => {
    const { store, rules } = await openStoreAt(name, blocks.length, {}, interrupted);
    const memory = createMemoryAdapter(chain.network);
    for (const block of blocks) memory.apply(block);
    const expected = await (await memory.snapshot())?.transactions(withLetter);
    expect(expected?.total).to.be.above(0);

    const snapshot = store.snapshot();
    const written = { all: false };
    /** One search after another: whenever a block is written or reverted, one is under way. */
    const searching = (async () => {
      const pages: unknown[] = [];
      while (!written.all) pages.push(await snapshot?.transactions(withLetter));
      return pages;
    })();
    const more = chain.blocks.slice(150, 154);
    for (const block of more) await store.apply([rules.parseBlock(block)]);
    for (let count = 0; count < more.length + 10; count++) await store.revert();
    written.all = true;
    for (const page of await searching) expect(page).to.deep.equal(expected);
    snapshot?.release?.();
    const now = store.snapshot();
    expect((await now?.transactions(withLetter))?.total, "what the blocks have changed").to.not.equal(expected?.total);
    now?.release?.();
  });

  it("is abandoned when the store stops, and its snapshot can be released afterwards", async () => {
    const { store } = await openStoreAt(name, blocks.length, {}, interrupted);
    const snapshot = store.snapshot();
    const failure = refusalOf(() => snapshot?.transactions(withLetter)).finally(() => snapshot?.release?.());
    const other = store.snapshot();
    await store.stop();
    expect((await failure)?.code).to.equal("NOT_READY");
    expect((await refusalOf(() => other?.transactions(withLetter)))?.code).to.equal("NOT_READY");
    other?.release?.();
  });

  it("is refused when it would load more rows than its snapshot allows, while indexed queries are not", async () => {
    const { store } = await openStoreAt(name, blocks.length);
    const rows = blocks.reduce((sum, { transactions = [] }) => sum + transactions.length, 0);
    const ask = async (searchRows: number, times = 1): Promise<PorticoError | undefined> => {
      const snapshot = store.snapshot({ searchRows });
      let error: PorticoError | undefined;
      for (let i = 0; i < times; i++) error ??= await refusalOf(() => snapshot?.transactions(withLetter));
      expect((await snapshot?.wallets(richest))?.rows).to.have.length(5);
      snapshot?.release?.();
      return error;
    };
    expect(await ask(rows)).to.equal(undefined);
    expect(await ask(2 * rows, 2)).to.equal(undefined);
    expect((await ask(2 * rows - 1, 2))?.code).to.equal("SEARCH_TOO_WIDE");
    const refused = await ask(rows - 1);
    expect(refused).to.include({ code: "SEARCH_TOO_WIDE", status: 400 });
    expect(refused?.message).to.match(new RegExp(`^The search would scan more than ${rows - 1} rows. Narrow it`));
  });
});
