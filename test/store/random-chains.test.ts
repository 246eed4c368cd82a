import { expect } from "chai";
import fc from "fast-check";
import { rowsOf } from "../../src/conformance/comparing.js";
import type { Surroundings } from "../../src/conformance/filters.js";
import { blockSpec, delegateSpec, everyRow, type ListSpec, lockSpec, transactionSpec, walletSpec } from "../../src/conformance/lists.js";
import type { ChainSnapshot } from "../../types/chain-adapter.js";
import type { BlockData } from "../../types/events.js";
import type { Network } from "../../types/node-context.js";
import { count, endAfter } from "../fixtures/long.js";
import { createMemoryAdapter } from "../memory-adapter/adapter.js";
import { buildRandomChain, type ChainWish, chainWish } from "../random-chain.js";
import { closeTemporaryStores, contentsOf, openTemporaryStore } from "./temporary-store.js";

/** A list query as numbers that pick among a list's filters, their samples and its orders. */
interface QueryWish {
  list: number;
  filters: { filter: number; sample: number }[];
  field: number;
  direction: "asc" | "desc";
  offset: number;
  limit: number;
}

const pick = fc.nat({ max: 1_000 });

const queryWish: fc.Arbitrary<QueryWish> = fc.record({
  list: pick,
  filters: fc.array(fc.record({ filter: pick, sample: pick }), { maxLength: 3 }),
  field: pick,
  direction: fc.constantFrom("asc", "desc"),
  offset: fc.oneof(fc.constant(0), fc.nat({ max: 40 })),
  limit: fc.oneof(fc.constant(100), fc.integer({ min: 1, max: 9 })),
});

type Compare = (store: ChainSnapshot, memory: ChainSnapshot, wish: QueryWish, around: Surroundings) => Promise<void>;

const comparing =
  <Row extends object, Filter, Field extends string>(spec: ListSpec<Row, Filter, Field>): Compare =>
  async (store, memory, wish, around) => {
    const rows = await everyRow(memory, spec);
    const chosen = wish.filters.map((one): [string, unknown] => {
      const filter = spec.filters[one.filter % spec.filters.length]!;
      const samples = filter.samples(rows, around);
      return [filter.name, samples[one.sample % samples.length]];
    });
    // an empty list has no values to filter by
    const filter = Object.fromEntries(chosen.filter(([, value]) => value !== undefined)) as Filter;
    const order = { field: spec.fields[wish.field % spec.fields.length]!, direction: wish.direction };
    const query = { filter, order, offset: wish.offset, limit: wish.limit };
    const [found, expected] = [await spec.ask(store, query), await spec.ask(memory, query)];
    const what = { list: spec.name, ...query };
    expect({ ...what, total: found.total }).to.deep.equal({ ...what, total: expected.total });
    expect({ ...what, rows: rowsOf(spec.kind, found.rows) }).to.deep.equal({ ...what, rows: rowsOf(spec.kind, expected.rows) });
  };

const comparisons: readonly Compare[] = [
  comparing(walletSpec),
  comparing(delegateSpec),
  comparing(blockSpec),
  comparing(transactionSpec),
  comparing(transactionSpec),
  comparing(lockSpec),
];

const surroundingsOf = async (snapshot: ChainSnapshot): Promise<Surroundings> => ({
  height: snapshot.tip.height,
  timestamp: snapshot.tip.timestamp,
  secondPublicKeys: new Map(
    (await everyRow(snapshot, walletSpec)).map(({ address, secondPublicKey }) => [address, secondPublicKey]),
  ),
});

const whole =
  <Row extends object, Filter, Field extends string>(spec: ListSpec<Row, Filter, Field>) =>
  async (snapshot: ChainSnapshot): Promise<unknown> =>
    rowsOf(spec.kind, await everyRow(snapshot, spec));

/** Every row of every list, every round, and fee statistics of some windows: the whole observable state. */
const stateOf = async (snapshot: ChainSnapshot): Promise<Record<string, unknown>> => {
  const { tip, supply, digest } = snapshot;
  const rounds: unknown[] = [];
  for (let round = 0; round <= tip.height + 1; round++) rounds.push(await snapshot.round(round));
  const fees: unknown[] = [];
  for (const [from, to] of [
    [0, tip.timestamp],
    [1, tip.timestamp - 1],
    [tip.timestamp, tip.timestamp],
    [tip.timestamp - 64, tip.timestamp - 16],
  ] as const) {
    for (const minFee of [0n, 2n]) fees.push(await snapshot.feeStatistics({ from, to, minFee }));
  }
  return {
    tip: { id: tip.id, height: tip.height, timestamp: tip.timestamp },
    supply,
    digest,
    wallets: await whole(walletSpec)(snapshot),
    delegates: await whole(delegateSpec)(snapshot),
    blocks: await whole(blockSpec)(snapshot),
    transactions: await whole(transactionSpec)(snapshot),
    locks: await whole(lockSpec)(snapshot),
    rounds,
    fees,
  };
};

const memoryOf = (network: Network, blocks: readonly BlockData[]): ChainSnapshot => {
  const memory = createMemoryAdapter(network);
  for (const block of blocks) memory.apply(block);
  return memory.snapshot() as ChainSnapshot;
};

const expectState = async (store: ReturnType<typeof openTemporaryStore>["store"], expected: ChainSnapshot): Promise<void> => {
  const snapshot = store.snapshot();
  if (snapshot === undefined) throw new Error("no state");
  expect(await stateOf(snapshot)).to.deep.equal(await stateOf(expected));
  snapshot.release?.();
};

/** The limit is for shrinking after a failure: all runs take a few seconds. */
const effort = { numRuns: count(2, 2_000), plugins: endAfter(60_000) };

const failureOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "",
    (error: unknown) => String(error),
  );

/** Sizes of the batches in which a chain is written. */
const batches = fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 4 });

describe("the store on random chains", () => {
  afterEach(closeTemporaryStores);

  it("reaches the state that plain addition gives, whatever the batches", async () => {
    await fc.assert(
      fc.asyncProperty(chainWish(), batches, async (wish, sizes) => {
        const { network, blocks } = await buildRandomChain(wish);
        const { store, rules } = openTemporaryStore(network);
        for (let start = 0, turn = 0; start < blocks.length; turn++) {
          const size = sizes[turn % sizes.length] ?? 1;
          await store.apply(blocks.slice(start, start + size).map(rules.parseBlock));
          start += size;
        }
        await expectState(store, memoryOf(network, blocks));
        await closeTemporaryStores();
      }),
      effort,
    );
  });

  it("reaches the same bytes when it knows the chain's height, and reverts as many blocks as configured", async () => {
    await fc.assert(
      fc.asyncProperty(chainWish(), fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 6 }), async (wish, size, undoBlocks) => {
        const { network, blocks } = await buildRandomChain(wish);
        const plain = openTemporaryStore(network, { undoBlocks });
        const told = openTemporaryStore(network, { undoBlocks });
        for (let start = 0; start < blocks.length; start += size) {
          const batch = blocks.slice(start, start + size);
          await plain.store.apply(batch.map(plain.rules.parseBlock));
          await told.store.apply(batch.map(told.rules.parseBlock), blocks.length);
        }
        expect(contentsOf(told.store)).to.deep.equal(contentsOf(plain.store));
        for (let taken = 0; taken < Math.min(undoBlocks, blocks.length - 1); taken++) {
          await plain.store.revert();
          await told.store.revert();
        }
        expect(contentsOf(told.store)).to.deep.equal(contentsOf(plain.store));
        if (blocks.length > undoBlocks + 1) expect(await failureOf(told.store.revert())).to.include("cannot be reverted");
        await closeTemporaryStores();
      }),
      effort,
    );
  });

  const expectAnswers = (chains: fc.Arbitrary<ChainWish>, lists: readonly Compare[]): Promise<void> =>
    fc.assert(
      fc.asyncProperty(chains, fc.array(queryWish, { minLength: 150, maxLength: 150 }), async (wish, queries) => {
        const { network, blocks } = await buildRandomChain(wish);
        const { store, rules } = openTemporaryStore(network);
        await store.apply(blocks.map(rules.parseBlock));
        const snapshot = store.snapshot();
        if (snapshot === undefined) throw new Error("no state");
        const memory = memoryOf(network, blocks);
        const around = await surroundingsOf(memory);
        for (const query of queries) await lists[query.list % lists.length]!(snapshot, memory, query, around);
        snapshot.release?.();
        await closeTemporaryStores();
      }),
      effort,
    );

  it("answers any query like filtering, sorting and slicing the whole list", () => expectAnswers(chainWish({ maxBlocks: 16 }), comparisons));

  it("answers any query of locks the same way, when there are many", () =>
    expectAnswers(chainWish({ maxBlocks: 20, among: ["transfer", "lock", "lock", "lock", "lock", "claim"] }), [comparing(lockSpec)]));

  it("reverts what it applied, to the byte, and goes on from there on another branch", async () => {
    await fc.assert(
      fc.asyncProperty(chainWish(), async (wish) => {
        const { network, blocks, forkHeight, otherBranch } = await buildRandomChain(wish);
        const { store, rules } = openTemporaryStore(network);
        await store.apply(blocks.slice(0, forkHeight).map(rules.parseBlock));
        const before = contentsOf(store);
        const last = blocks.slice(forkHeight);
        for (const block of last) await store.apply([rules.parseBlock(block)]);
        const after = contentsOf(store);

        for (const _ of last) await store.revert();
        expect(contentsOf(store)).to.deep.equal(before);
        await expectState(store, memoryOf(network, blocks.slice(0, forkHeight)));

        await store.apply(otherBranch.map(rules.parseBlock));
        await expectState(store, memoryOf(network, [...blocks.slice(0, forkHeight), ...otherBranch]));
        for (const _ of otherBranch) await store.revert();
        await store.apply(last.map(rules.parseBlock));
        expect(contentsOf(store)).to.deep.equal(after);
        await closeTemporaryStores();
      }),
      effort,
    );
  });
});

describe("random chains", () => {
  it("contain every transaction type in both versions, and only the genesis wallet goes below zero", async () => {
    const seen = new Set<string>();
    for (const wish of fc.sample(chainWish(), { numRuns: 20, seed: 2_026 })) {
      const { network, blocks } = await buildRandomChain(wish);
      const { rows } = await memoryOf(network, blocks).wallets({
        filter: { balance: { to: -1n } },
        order: { field: "balance", direction: "desc" },
        offset: 0,
        limit: 10,
      });
      expect(rows).to.have.length(1);
      for (const { version, typeGroup, type } of blocks.flatMap(({ transactions }) => transactions ?? [])) {
        if ((typeGroup ?? 1) === 1) seen.add(`${version}/${type}`);
      }
    }
    const kinds = [1, 2].flatMap((version) => Array.from({ length: version === 1 ? 9 : 11 }, (_, type) => `${version}/${type}`));
    expect([...seen]).to.have.members(kinds);
  });
});
