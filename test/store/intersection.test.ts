import { expect } from "chai";
import fc from "fast-check";
import { rowsOf } from "../../src/conformance/comparing.js";
import { createChainMaker, networkOf, registration, transfer, vote } from "../../src/conformance/chain/chain-maker.js";
import { blockSpec, everyRow, type ListSpec, transactionSpec } from "../../src/conformance/lists.js";
import { actors } from "../../src/conformance/chain/actors.js";
import { codeOf } from "../fixtures/refusal.js";
import { answerList } from "../../src/store/query/list-query.js";
import { createSearches } from "../../src/store/query/search.js";
import { arraySequence, reverseSequence, type Sequence } from "../../src/store/records/sequence.js";
import type { Block, Transaction } from "../../types/chain.js";
import type { ChainSnapshot } from "../../types/chain-adapter.js";
import type { BlockFilter, Page, TransactionFilter } from "../../types/chain-queries.js";
import { loadChain } from "../data/read.js";
import { firstMilestone } from "../first-milestone.js";
import { createMemoryAdapter } from "../memory-adapter/adapter.js";
import { closeTemporaryStores, openTemporaryStore } from "./temporary-store.js";
import { count, endAfter } from "../fixtures/long.js";
import { storedChain } from "../fixtures/stored-chain.js";

const below = 3_000;
const rows = Array.from({ length: below }, (_, number) => number);

/** A filter passes the multiples of a number, or everything else. */
interface Wanted {
  of: number;
  multiples: boolean;
  /** Whether there is also a sequence of the rows that it excludes. */
  others: boolean;
}

interface Filter {
  a?: Wanted;
  b?: Wanted;
  c?: Wanted;
}

const names = ["a", "b", "c"] as const;
const passes = ({ of, multiples }: Wanted, row: number): boolean => (row % of === 0) === multiples;

interface Asked {
  page: Page<number>;
  loaded: number;
  read: number;
}

const ask = async (filter: Filter, { descending = false, offset = 0, limit = 100, most = Infinity } = {}): Promise<Asked> => {
  let [loaded, read] = [0, 0];
  const counted = (numbers: readonly number[]): Sequence<number> => ({
    total: numbers.length,
    slice: (from, count) => {
      const part = numbers.slice(from, from + count);
      read += part.length;
      return part;
    },
  });
  const directed = (refs: Sequence<number>): Sequence<number> => (descending ? reverseSequence(refs) : refs);
  const paths = names.flatMap((name) => {
    const wanted = filter[name];
    if (wanted === undefined) return [];
    const others = { answers: [name], refs: () => counted(rows.filter((row) => !passes(wanted, row))) };
    return [{ answers: [name], ordered: true, refs: directed(counted(rows.filter((row) => passes(wanted, row)))), ...(wanted.others ? { others } : {}) }];
  });
  const page = await answerList<number, number, Filter, "place">(
    {
      query: { filter, order: { field: "place", direction: descending ? "desc" : "asc" }, offset, limit },
      paths: [...paths, { answers: [], ordered: true, refs: directed(arraySequence(rows)) }],
      load: (ref) => {
        loaded++;
        return ref;
      },
      test: (all, answered) => {
        const left = names.filter((name) => all[name] !== undefined && !answered.has(name));
        return left.length === 0 ? undefined : (row) => left.every((name) => passes(all[name]!, row));
      },
      value: undefined,
      ties: "desc",
      window: { from: 0, below, answers: [] },
    },
    createSearches().begin(most),
  );
  return { page, loaded, read };
};

const wanted: fc.Arbitrary<Wanted> = fc.record({ of: fc.integer({ min: 1, max: 40 }), multiples: fc.boolean(), others: fc.boolean() });
const filters: fc.Arbitrary<Filter> = fc.record({ a: wanted, b: wanted, c: wanted }, { requiredKeys: ["a", "b"] });

describe("several filters answered by sequences of numbers", () => {
  it("give the same answer as testing every row, in either direction, on any page", async () => {
    await fc.assert(
      fc.asyncProperty(filters, fc.boolean(), fc.nat({ max: 300 }), fc.integer({ min: 0, max: 150 }), async (filter, descending, offset, limit) => {
        const passing = rows.filter((row) => names.every((name) => filter[name] === undefined || passes(filter[name], row)));
        if (descending) passing.reverse();
        const { page } = await ask(filter, { descending, offset, limit });
        expect(page).to.deep.equal({ rows: passing.slice(offset, offset + limit), total: passing.length });
      }),
    );
  });

  const third = { of: 3, multiples: true, others: false };
  const second = { of: 2, multiples: true, others: false };

  it("are answered without loading a row that is not on the page", async () => {
    const { page, loaded, read } = await ask({ a: third, b: second }, { limit: 10 });
    expect(page).to.deep.equal({ rows: [0, 6, 12, 18, 24, 30, 36, 42, 48, 54], total: 500 });
    expect({ loaded, read }).to.deep.equal({ loaded: 10, read: 1_000 + 1_500 });
  });

  it("are answered from the excluded rows where those are fewer", async () => {
    const { page, loaded, read } = await ask({ a: third, b: { of: 30, multiples: false, others: true } }, { limit: 10 });
    expect(page.total).to.equal(900);
    expect({ loaded, read }).to.deep.equal({ loaded: 10, read: 1_000 + 100 });
  });

  it("have rows tested when one of them leaves few, or when the sequences have many times as many numbers", async () => {
    const few = { of: 31, multiples: true, others: false };
    expect((await ask({ a: few, b: second }, { limit: 10 })).loaded).to.equal(97);
    const some = { of: 29, multiples: true, others: false };
    const most = { of: 3_000, multiples: false, others: false };
    expect((await ask({ a: some, b: most }, { limit: 10 })).loaded).to.equal(104);
  });

  it("count each number read as an eighth of a row, and are refused up front when that is too many", async () => {
    expect(await codeOf(ask({ a: third, b: second }, { limit: 10, most: 2_500 / 8 - 1 }))).to.equal("SEARCH_TOO_WIDE");
    expect(await codeOf(ask({ a: third, b: second }, { limit: 10, most: Math.ceil(2_500 / 8) + 10 }))).to.equal("no error");
  });
});

const { origin, ada, bob } = actors;

/** Long enough that testing rows is not the cheapest way. */
describe("several filters on the lists of a real chain", () => {
  const earlier = 300;
  let [store, memory, pastStore, pastMemory]: ChainSnapshot[] = [];

  before(async () => {
    const { network, blocks } = loadChain("core3-custom-c");
    const adapter = createMemoryAdapter(network);
    for (const block of [network.genesisBlock, ...blocks.slice(1)]) adapter.apply(block);
    const stored = await storedChain("core3-custom-c");
    [store, pastStore] = [(await stored.snapshot())!, (await stored.snapshotAt?.(earlier))!];
    [memory, pastMemory] = [(await adapter.snapshot())!, (await adapter.snapshotAt?.(earlier))!];
  });
  after(async () => {
    store?.release?.();
    pastStore?.release?.();
    await closeTemporaryStores();
  });

  /** Ranges between values evenly spaced among the given ones. */
  const rangesOf = <T extends number | bigint>(values: readonly T[]): { from?: T; to?: T }[] => {
    const sorted = [...values].sort((x, y) => (x < y ? -1 : 1));
    const at = (part: number): T => sorted[Math.floor(part * (sorted.length - 1))]!;
    const [least, early, middle, late] = [at(0), at(0.1), at(0.5), at(0.9)];
    return [{ from: early }, { to: late }, { from: middle }, { from: early, to: late }, { from: least, to: least }, { from: middle, to: middle }];
  };

  type Values<Filter> = { [Name in keyof Filter]?: NonNullable<Filter[Name]>[] };

  /** Filter values that pass many rows. */
  const transactionValues = (all: readonly Transaction[]): Values<TransactionFilter> => {
    const senders = [...new Set(all.map(({ senderId }) => senderId))];
    const busiest = senders.sort((x, y) => all.filter(({ senderId }) => senderId === y).length - all.filter(({ senderId }) => senderId === x).length).slice(0, 3);
    return {
      type: [0, 3, 6],
      typeGroup: [1],
      version: [1, 2],
      senderId: busiest,
      recipientId: busiest,
      ownerId: busiest,
      addresses: [busiest],
      timestamp: rangesOf(all.map(({ timestamp }) => timestamp)),
      amount: rangesOf(all.map(({ amount }) => amount)),
      fee: rangesOf(all.map(({ fee }) => fee)),
    };
  };

  const blockValues = (all: readonly Block[]): Values<BlockFilter> => ({
    version: [0, 1],
    generatorPublicKey: [all[3]!.generatorPublicKey, all[4]!.generatorPublicKey],
    height: rangesOf(all.map(({ height }) => height)),
    timestamp: rangesOf(all.map(({ timestamp }) => timestamp)),
    numberOfTransactions: rangesOf(all.map(({ numberOfTransactions }) => numberOfTransactions)),
    totalAmount: rangesOf(all.map(({ totalAmount }) => totalAmount)),
    totalFee: rangesOf(all.map(({ totalFee }) => totalFee)),
    reward: rangesOf(all.map(({ reward }) => reward)),
    payloadLength: rangesOf(all.map(({ payloadLength }) => payloadLength)),
  });

  const expectAnswers = async <Row extends object, Filter, Field extends string>(
    spec: ListSpec<Row, Filter, Field>,
    valuesOf: (all: readonly Row[]) => Values<Filter>,
    { own = store!, plain = memory!, fields = spec.fields, least = 2 }: { own?: ChainSnapshot; plain?: ChainSnapshot; fields?: readonly Field[]; least?: number } = {},
  ): Promise<void> => {
    const values = Object.entries<unknown[] | undefined>(valuesOf(await everyRow(plain, spec))).flatMap(([name, of = []]) => of.map((value): [string, unknown] => [name, value]));
    const filters = fc.uniqueArray(fc.constantFrom(...values), { minLength: least, maxLength: 4, selector: ([name]) => name });
    const orders = fc.record({ field: fc.oneof(fc.constant(spec.usual.field), fc.constantFrom(...fields)), direction: fc.constantFrom("asc" as const, "desc" as const) });
    await fc.assert(
      fc.asyncProperty(filters, fc.nat({ max: 40 }), orders, async (picked, offset, order) => {
        const filter = Object.fromEntries(picked) as Filter;
        const query = { filter, order, offset, limit: 10 };
        const [found, expected] = [await spec.ask(own, query), await spec.ask(plain, query)];
        expect({ query, total: found.total, rows: rowsOf(spec.kind, found.rows) }).to.deep.equal({ query, total: expected.total, rows: rowsOf(spec.kind, expected.rows) });
      }),
      { numRuns: count(60, 20_000), plugins: endAfter(50_000) },
    );
  };

  it("pass no row that one of them excludes when another is answered from its excluded rows", async () => {
    const maker = createChainMaker([firstMilestone(1), { height: 2, aip11: true }]);
    const first = { version: 1, fee: 0n } as const;
    maker.add({ generator: origin, transactions: [transfer(origin, bob, 1_000_000n, first), registration(ada, "ada", first)] });
    for (let height = 2; height <= 60; height++) {
      const transfers = Array.from({ length: 10 }, (_, i) => transfer(bob, ada, BigInt(1 + (i % 4)), { fee: 0n }));
      maker.add({ generator: origin, transactions: height % 10 === 0 ? [...transfers, vote(ada, [["+", ada]], { fee: 0n })] : transfers });
    }
    const { store: long, rules } = openTemporaryStore(networkOf(maker.blocks[0]!));
    await long.apply(maker.blocks.map(rules.parseBlock));
    // Fewer rows have these amounts than this timestamp; the non-transfers are fewest.
    const filter: TransactionFilter = { type: 0, amount: { from: 3n }, timestamp: { from: rules.parseBlock(maker.blocks[20]!).block.timestamp } };
    const page = await long.snapshot()!.transactions({ filter, order: { field: "amount", direction: "asc" }, offset: 0, limit: 10 });
    expect(page.total).to.equal(40 * 4);
    expect(page.rows.map(({ blockHeight }) => blockHeight)).to.deep.equal([21, 21, 22, 22, 23, 23, 24, 24, 25, 25]);
  });

  it("have the answers of a plain filter: transactions", () => expectAnswers(transactionSpec, transactionValues));
  it("have the answers of a plain filter: blocks", () => expectAnswers(blockSpec, blockValues));

  it("have the answers of a plain filter in an earlier state, whose sets have what came later, too", async () => {
    const past = { own: pastStore!, plain: pastMemory!, least: 1 };
    await expectAnswers(transactionSpec, transactionValues, { ...past, fields: ["timestamp"] });
    await expectAnswers(blockSpec, blockValues, { ...past, fields: ["height", "timestamp"] });
  });
});
