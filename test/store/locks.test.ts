import { expect } from "chai";
import { createChainMaker, htlcClaim, htlcLock, networkOf, transfer } from "../../src/conformance/chain/chain-maker.js";
import { rowsOf } from "../../src/conformance/comparing.js";
import { lockSpec } from "../../src/conformance/lists.js";
import { actors } from "../../src/conformance/chain/actors.js";
import { sets } from "../../src/store/layout/keys.js";
import type { ChainSnapshot } from "../../types/chain-adapter.js";
import type { LockFilter, LockOrder } from "../../types/chain-queries.js";
import type { BlockData, TransactionData } from "../../types/events.js";
import { firstMilestone } from "../first-milestone.js";
import { createMemoryAdapter } from "../memory-adapter/adapter.js";
import { closeTemporaryStores, contentsOf, openTemporaryStore } from "./temporary-store.js";

const { origin, ada, bob } = actors;

/** What no network has today but nothing forbids: unusual ids, expirations of any size and of unknown types. */
const odd: readonly { id?: string; type: number; value: number }[] = [
  { type: 1, value: 8_000 },
  { type: 2, value: 2 },
  { id: "17184958558311101492", type: 2, value: 3 },
  { id: "9", type: 2, value: 3 },
  { id: "ABCDEF", type: 2, value: -1 },
  { id: "a", type: 1, value: 2 ** 32 + 1 },
  { id: "Grüße", type: 2, value: Number.MAX_SAFE_INTEGER },
  { id: "b", type: 1, value: -(2 ** 40) },
  { id: "c", type: 3, value: 2 },
  { id: "d", type: 3, value: 8_000 },
  { id: "e", type: 0, value: 0 },
];

const oddChain = (): readonly BlockData[] => {
  const maker = createChainMaker([firstMilestone(1)]);
  maker.add({ generator: origin, transactions: [transfer(origin, ada, 10n ** 12n, { version: 1, fee: 0n })] });
  const locks = odd.map((_, i) =>
    htlcLock(ada, bob, BigInt(1 + (i % 3)), { label: `odd ${i}`, secret: `odd ${i % 2}`, expiration: { type: 2, value: 9 } }, { vendorField: i % 2 === 0 ? "even" : "odd" }),
  );
  maker.add({ generator: origin, transactions: locks });
  maker.add({ generator: origin, transactions: [htlcClaim(bob, "odd 1")] });
  return maker.blocks.map((block, height) => (height === 1 ? { ...block, transactions: block.transactions?.map(asOdd) ?? [] } : block));
};

const asOdd = (data: TransactionData, place: number): TransactionData => {
  const { id = data.id, ...expiration } = odd[place]!;
  const { secretHash } = (data.asset as { lock: { secretHash: string } }).lock;
  return { ...data, id, asset: { lock: { secretHash, expiration } } };
};

describe("the store's locks", () => {
  afterEach(closeTemporaryStores);

  it("are found by any filter, in any order, whatever their ids and expirations", async () => {
    const blocks = oddChain();
    const network = networkOf(blocks[0]!);
    const { store, rules } = openTemporaryStore(network);
    const memory = createMemoryAdapter(network);
    await store.apply(blocks.map(rules.parseBlock));
    for (const block of blocks) memory.apply(block);
    const [found, expected] = [store.snapshot()!, memory.snapshot() as ChainSnapshot];
    const all = await expected.locks({ filter: {}, order: lockSpec.usual, offset: 0, limit: 100 });
    expect(all.rows).to.have.length(odd.length - 1);
    const around = { height: expected.tip.height, timestamp: expected.tip.timestamp, secondPublicKeys: new Map<string, string>() };
    const filters: LockFilter[] = lockSpec.filters.flatMap(({ name, samples }) => samples(all.rows, around).map((value) => ({ [name]: value })));
    const endless = { from: -Infinity, to: Infinity };
    filters.push({}, { expirationValue: endless }, { expirationValue: { from: 1.5, to: 2.5 } }, { amount: {}, timestamp: endless }, { lockId: "" }, { vendorField: "\ud800" });
    filters.push({ isExpired: false, vendorField: "odd" }, { expirationType: 1.5 }, { expirationType: 3, timestamp: { from: 8_000 } });
    for (const filter of filters) {
      for (const field of lockSpec.fields satisfies readonly LockOrder[]) {
        for (const direction of ["asc", "desc"] as const) {
          const query = { filter, order: { field, direction }, offset: 1, limit: 3 };
          const [page, other] = [await found.locks(query), await expected.locks(query)];
          expect({ ...query, total: page.total, rows: rowsOf("lock", page.rows) }).to.deep.equal({ ...query, total: other.total, rows: rowsOf("lock", other.rows) });
        }
      }
    }
    found.release?.();
  });

  it("leave no set entries when they end, and are restored when that is reverted", async () => {
    const blocks = oddChain();
    const { store, rules } = openTemporaryStore(networkOf(blocks[0]!));
    const ofLocks = new Set<number>(Object.entries(sets).flatMap(([name, set]) => (name.startsWith("locksBy") ? [set] : [])));
    const entries = (): number => [...store.environment.db.sets.getKeys({})].filter(([set = 0, level]) => ofLocks.has(set) && level === 0).length;
    await store.apply(blocks.slice(0, 2).map(rules.parseBlock));
    const before = contentsOf(store);
    expect(entries()).to.equal(ofLocks.size * odd.length);
    await store.apply(blocks.slice(2).map(rules.parseBlock));
    expect(entries()).to.equal(ofLocks.size * (odd.length - 1));
    await store.revert();
    expect(contentsOf(store)).to.deep.equal(before);
  });
});
