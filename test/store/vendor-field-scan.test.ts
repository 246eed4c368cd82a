import { expect } from "chai";
import fc from "fast-check";
import { createChainMaker, networkOf, transfer } from "../../src/conformance/chain/chain-maker.js";
import { rowsOf } from "../../src/conformance/comparing.js";
import { transactionSpec } from "../../src/conformance/lists.js";
import { actors } from "../../src/conformance/chain/actors.js";
import { PorticoError } from "../../src/errors.js";
import type { Store } from "../../src/store/state/store.js";
import type { ChainSnapshot } from "../../types/chain-adapter.js";
import type { Page, TransactionQuery } from "../../types/chain-queries.js";
import type { Transaction } from "../../types/chain.js";
import { firstMilestone } from "../first-milestone.js";
import { count } from "../fixtures/long.js";
import { createMemoryAdapter } from "../memory-adapter/adapter.js";
import { closeTemporaryStores, openTemporaryStore } from "./temporary-store.js";

const { origin, ada } = actors;

const texts = ["rent", "rent ü", "Grüße", "☃ 7", "🚀🚀", "Payout 7", "Payout 77", "7", "a".repeat(255)];
const blocks = 40;
const perBlock = 50;

/** Blocks full of transfers, three quarters of which have a vendor field. */
const openChain = async (textOf: (number: number) => string): Promise<{ store: Store; memory: ChainSnapshot }> => {
  const maker = createChainMaker([firstMilestone(1), { height: 2, aip11: true }]);
  maker.add({ generator: origin, transactions: [transfer(origin, ada, 10n ** 12n, { version: 1, fee: 0n })] });
  for (let block = 1; block <= blocks; block++) {
    const transfers = Array.from({ length: perBlock }, (_, i) => {
      const number = block * perBlock + i;
      return transfer(ada, origin, BigInt(1 + (number % 5)), { fee: 0n, ...(number % 4 === 0 ? {} : { vendorField: textOf(number) }) });
    });
    maker.add({ generator: origin, transactions: transfers });
  }
  const network = networkOf(maker.blocks[0]!);
  const { store, rules } = openTemporaryStore(network, { undoBlocks: 1 });
  await store.apply(maker.blocks.map(rules.parseBlock), maker.blocks.length);
  const memory = createMemoryAdapter(network);
  for (const block of maker.blocks) memory.apply(block);
  return { store, memory: (await memory.snapshot())! };
};

const questionOf = (vendorFieldHex: string): TransactionQuery => ({ filter: { vendorFieldHex }, order: { field: "timestamp", direction: "desc" }, offset: 0, limit: 5 });

/** The answer when so many rows may be looked at, or undefined if it is refused. */
const askWithin = async (store: Store, searchRows: number, query: TransactionQuery): Promise<Page<Transaction> | undefined> => {
  const snapshot = store.snapshot({ searchRows })!;
  try {
    return await snapshot.transactions(query);
  } catch (error) {
    if (error instanceof PorticoError && error.code === "SEARCH_TOO_WIDE") return undefined;
    throw error;
  } finally {
    snapshot.release?.();
  }
};

const hexOf = (text: string): string => Buffer.from(text, "utf8").toString("hex");
const rows = 1 + blocks * perBlock;

describe("searching part of a vendor field", () => {
  /** Few texts, each in many transactions. */
  let few: Awaited<ReturnType<typeof openChain>>;
  before(async () => {
    few = await openChain((number) => texts[number % texts.length] ?? "");
  });
  after(closeTemporaryStores);

  it("gives the same answer as testing every row, in any order, on any page", async () => {
    const { store, memory } = few;
    const snapshot = store.snapshot()!;
    const digits = fc.stringMatching(/^[0-9a-f]{0,3}$/);
    // Parts may start in the middle of a byte.
    const part = fc.tuple(fc.constantFrom(...texts), fc.nat(20), fc.nat(20)).map(([text, from, length]) => hexOf(text).slice(from, from + length));
    const query = fc.record({
      filter: fc.record({ vendorFieldHex: fc.oneof(digits, part, part) }),
      order: fc.record({ field: fc.constantFrom(...transactionSpec.fields), direction: fc.constantFrom("asc" as const, "desc" as const) }),
      offset: fc.oneof(fc.constant(0), fc.nat(1_800)),
      limit: fc.oneof(fc.constant(1), fc.nat(100)),
    });
    const found: number[] = [];
    await fc.assert(
      fc.asyncProperty(query, async (asked) => {
        const [one, other] = [await snapshot.transactions(asked), await memory.transactions(asked)];
        found.push(one.total);
        expect(one.total).to.equal(other.total);
        expect(rowsOf("transaction", one.rows)).to.deep.equal(rowsOf("transaction", other.rows));
      }),
      { numRuns: count(60, 3_000) },
    );
    expect(found).to.include(0);
    expect(new Set(found).size).to.be.above(5);
    snapshot.release?.();
  });

  it("tests each distinct text once when few texts are in many transactions, more than may be looked at", async () => {
    const { store, memory } = few;
    for (const text of ["rent", "7", "🚀", "nobody says so"]) {
      const query = questionOf(hexOf(text));
      const page = await askWithin(store, rows - 1, query);
      expect(page?.total, text).to.equal((await memory.transactions(query)).total);
    }
    // Five for each text and forty for each that matches may come to a fifth of the limit.
    const least = 5 * (texts.length * 5 + 2 * 40);
    expect(await askWithin(store, least, questionOf(hexOf("rent")))).to.have.property("total").above(5);
    expect(await askWithin(store, least - 1, questionOf(hexOf("rent")))).to.equal(undefined);
  });

  it("tests every row when there are as many texts as rows, if that many may be looked at", async () => {
    const { store, memory } = await openChain((number) => `rent ${number}`);
    const query = questionOf(hexOf("rent 1"));
    const { total } = await memory.transactions(query);
    expect((await askWithin(store, rows, query))?.total).to.equal(total);
    expect((await askWithin(store, 2 * rows, query))?.total).to.equal(total);
    expect(await askWithin(store, rows - 1, query)).to.equal(undefined);
  });
});
