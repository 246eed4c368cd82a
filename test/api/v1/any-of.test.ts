import { expect } from "chai";
import fc from "fast-check";
import { deepest, transactionsOfAny } from "../../../src/api/v1/transactions.js";
import { PorticoError } from "../../../src/errors.js";
import type { Transaction } from "../../../types/chain.js";
import type { ChainSnapshot } from "../../../types/chain-adapter.js";
import type { TransactionFilter, TransactionQuery } from "../../../types/chain-queries.js";

type Order = TransactionQuery["order"];

const transaction = (sequence: number, rest: Partial<Transaction> = {}): Transaction => ({
  id: sequence.toString(16).padStart(64, "0"),
  version: 2,
  typeGroup: 1,
  type: 0,
  timestamp: sequence,
  senderPublicKey: "02".padEnd(66, "a"),
  senderId: "A",
  amount: 0n,
  fee: 0n,
  blockId: "1",
  blockHeight: Math.floor(sequence / 3) + 1,
  sequence: sequence % 3,
  ...rest,
});

const place = (row: Transaction): number => row.blockHeight * 1_000_000 + row.sequence;

/** The filters used here; `value` is what the order compares. */
const passes = (row: Transaction, { type, version, senderId, fee, vendorField }: TransactionFilter): boolean =>
  (type === undefined || row.type === type) &&
  (version === undefined || row.version === version) &&
  (senderId === undefined || row.senderId === senderId) &&
  (vendorField === undefined || row.vendorField === vendorField) &&
  (fee === undefined || row.fee === fee.from);

const inOrder = (rows: readonly Transaction[], { field, direction }: Order): Transaction[] => {
  const value = (row: Transaction) => (field === "timestamp" ? 0 : row[field]);
  const descending = [...rows].sort((a, b) => (value(a) > value(b) ? -1 : value(a) < value(b) ? 1 : place(b) - place(a)));
  return direction === "desc" ? descending : descending.reverse();
};

/** A chain with these transactions, and a count of the rows read from it. */
const chainOf = (all: readonly Transaction[]): { chain: ChainSnapshot; read: () => number } => {
  let read = 0;
  const lists = new Map<string, Transaction[]>();
  const transactions = ({ filter, order, offset, limit }: TransactionQuery) => {
    const question = `${order.field} ${order.direction} ${Object.entries(filter).map(([key, value]) => `${key} ${String((value as { from?: bigint }).from ?? (value as string))}`).join(", ")}`;
    const rows = lists.get(question) ?? inOrder(all.filter((row) => passes(row, filter)), order);
    lists.set(question, rows);
    const page = rows.slice(offset, offset + limit);
    read += page.length;
    return { rows: page, total: rows.length };
  };
  return { chain: { transactions } as Partial<ChainSnapshot> as ChainSnapshot, read: () => read };
};

const rowArbitrary = fc.record({
  type: fc.integer({ min: 0, max: 2 }),
  version: fc.integer({ min: 1, max: 2 }),
  senderId: fc.constantFrom("A", "B", "C"),
  fee: fc.bigInt({ min: 0n, max: 2n }),
  amount: fc.bigInt({ min: 0n, max: 3n }),
  vendorField: fc.constantFrom("x", "y"),
});
const filterArbitrary = fc
  .record(
    {
      type: fc.integer({ min: 0, max: 3 }),
      version: fc.integer({ min: 1, max: 2 }),
      senderId: fc.constantFrom("A", "B", "D"),
      fee: fc.bigInt({ min: 0n, max: 3n }),
      vendorField: fc.constantFrom("x", "z"),
    },
    { requiredKeys: [] },
  )
  .map(({ fee, ...rest }): TransactionFilter[] => [
    ...Object.entries(rest).map(([key, value]) => ({ [key]: value })),
    ...(fee === undefined ? [] : [{ fee: { from: fee, to: fee } }]),
  ]);
const orderArbitrary = fc.record({
  field: fc.constantFrom("timestamp", "type", "amount", "fee", "version", "id"),
  direction: fc.constantFrom("asc", "desc"),
}) as fc.Arbitrary<Order>;

describe("transactions that match any of several filters", () => {
  it("are the same as by testing all of them, on each page and in each order", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(rowArbitrary, { maxLength: 40 }),
        filterArbitrary,
        orderArbitrary,
        fc.integer({ min: 0, max: 45 }),
        fc.integer({ min: 1, max: 20 }),
        async (rows, filters, order, offset, limit) => {
          const all = rows.map((row, index) => transaction(index, row));
          const expected = inOrder(all.filter((row) => filters.length === 0 || filters.some((filter) => passes(row, filter))), order);
          const page = await transactionsOfAny(filters, { order, page: { offset, limit } }, chainOf(all).chain);
          expect(page.total).to.equal(expected.length);
          expect(page.rows.map(({ id }) => id)).to.deep.equal(expected.slice(offset, offset + limit).map(({ id }) => id));
        },
      ),
      { numRuns: 300 },
    );
  });

  const order: Order = { field: "timestamp", direction: "desc" };
  const filters: TransactionFilter[] = [{ type: 0 }, { senderId: "A" }];
  const long = Array.from({ length: 2 * deepest + 1_000 }, (_, index) => transaction(index));
  const ask = (offset: number, limit = 100, asked = filters) => {
    const { chain, read } = chainOf(long);
    return transactionsOfAny(asked, { order, page: { offset, limit } }, chain).then(({ rows }) => ({ rows, read: read() }));
  };

  it("are read from the nearer end of the list", async () => {
    const { rows, read } = await ask(long.length - 150);
    expect(rows.map(({ timestamp }) => timestamp)).to.deep.equal(Array.from({ length: 100 }, (_, i) => 149 - i));
    expect(read).to.be.lessThan(400);
  });

  it("are not read beyond a limit from either end", async () => {
    expect((await ask(deepest)).rows[0]?.timestamp).to.equal(long.length - 1 - deepest);
    expect((await ask(deepest + 1_000)).rows[0]?.timestamp).to.equal(long.length - 1 - deepest - 1_000);
    const refused = await ask(deepest + 1).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(PorticoError);
    expect((refused as PorticoError).message).to.equal(`"offset" must be within ${deepest} of either end of the list when several filters are given`);
    expect((await ask(deepest + 1, 100, [{ type: 0 }])).rows[0]?.timestamp).to.equal(long.length - 2 - deepest);
  });

  it("are an empty list beyond the end, with hardly a row read", async () => {
    const { rows, read } = await ask(long.length);
    expect(rows).to.deep.equal([]);
    expect(read).to.be.lessThan(4);
  });
});
