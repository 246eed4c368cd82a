import { expect } from "chai";
import fc from "fast-check";
import { createChainMaker, networkOf, registration, transfer } from "../../src/conformance/chain/chain-maker.js";
import { actors } from "../../src/conformance/chain/actors.js";
import { type DelegateList, readDelegates } from "../../src/store/query/lists/delegate-list.js";
import { atOnce } from "../../src/async/time-slicing.js";
import { createReadSession, type ReadSession } from "../../src/store/lmdb/read-session.js";
import { readState } from "../../src/store/records/records.js";
import type { Store } from "../../src/store/state/store.js";
import { readUndo } from "../../src/store/write/undo.js";
import { firstMilestone } from "../first-milestone.js";
import { buildRandomChain, chainWish } from "../random-chain.js";
import { closeTemporaryStores, openTemporaryStore } from "./temporary-store.js";
import { count, endAfter } from "../fixtures/long.js";

const read = (store: Store, before?: DelegateList, wrap: (reading: ReadSession) => ReadSession = (reading) => reading): DelegateList => {
  const reading = wrap(createReadSession(store.environment));
  return atOnce(readDelegates(reading, readState(reading)!, before));
};

/** What a list holds, regardless of the order in which it was built. */
const contentsOf = ({ tip, all, secondPublicKeys, numbers, byPublicKey, byAddress, byUsername, ranks, producedBlocks }: DelegateList) => {
  const sorted = <T>(entries: Iterable<[string, T]>): [string, T][] => [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    tip,
    all: sorted(all.map((delegate) => [delegate.publicKey, delegate])),
    secondPublicKeys: sorted(secondPublicKeys),
    numbers: sorted(numbers),
    byPublicKey: sorted(byPublicKey),
    byAddress: sorted(byAddress),
    byUsername: sorted(byUsername),
    ranks: sorted(ranks),
    producedBlocks,
  };
};

const expectSame = (one: DelegateList, other: DelegateList): void => void expect(contentsOf(one)).to.deep.equal(contentsOf(other));

/** How many blocks to apply (or, if negative, to revert) before the delegates are read again. */
const moves = fc.array(fc.oneof({ weight: 3, arbitrary: fc.integer({ min: 1, max: 3 }) }, fc.integer({ min: -4, max: -1 })), { minLength: 5, maxLength: 40 });

const { origin, ada, bob, cyd } = actors;

const chains = chainWish({ among: ["registration", "secondSignature", "vote", "vote", "unvote", "switch", "resignation", "transfer", "lock", "claim"] });

const heightOf = (store: Store): number => store.tip()?.height ?? 0;

/** Whether the tip can be reverted and leave a chain. */
const canRevert = (store: Store): boolean => heightOf(store) > 1 && atOnce(readUndo(createReadSession(store.environment), heightOf(store))) !== undefined;

describe("the delegates at a tip", () => {
  afterEach(closeTemporaryStores);

  it("are the same whether all are read, or only the changes since an earlier tip, a later one or one of another branch", async () => {
    await fc.assert(
      fc.asyncProperty(chains, moves, fc.integer({ min: 1, max: 8 }), async (wish, steps, undoBlocks) => {
        const { network, blocks, forkHeight, otherBranch } = await buildRandomChain(wish);
        const branches = [blocks, [...blocks.slice(0, forkHeight), ...otherBranch]];
        const { store, rules } = openTemporaryStore(network, { undoBlocks });
        await store.apply([rules.parseBlock(blocks[0]!)]);
        const lists = [read(store)];
        let branch = 0;
        for (const by of steps) {
          for (let left = -by; left > 0 && canRevert(store); left--) await store.revert();
          if (heightOf(store) <= forkHeight) branch = lists.length % 2;
          const next = branches[branch]!.slice(heightOf(store), heightOf(store) + Math.max(0, by));
          if (next.length > 0) await store.apply(next.map(rules.parseBlock));
          const all = read(store);
          for (const before of lists.slice(-3)) expectSame(read(store, before), all);
          lists.push(read(store, lists.at(-1)));
        }
        await closeTemporaryStores();
      }),
      { numRuns: count(4, 500), plugins: endAfter(40_000) },
    );
  });

  it("miss every slot of a gap, however long, which is counted at once and taken back with its block", async () => {
    const maker = createChainMaker([firstMilestone(3)]);
    const first = { version: 1, fee: 0n } as const;
    maker.add({ generator: origin, transactions: [ada, bob, cyd].flatMap((actor) => [transfer(origin, actor, 1_000n, first), registration(actor, actor.name, first)]) });
    maker.add({ generator: ada });
    const { store, rules } = openTemporaryStore(networkOf(maker.blocks[0]!));
    await store.apply(maker.blocks.map(rules.parseBlock));
    const before = read(store);
    const missed = ({ all }: DelegateList): unknown[] => all.map(({ missedBlocks }) => missedBlocks).sort();
    expect(missed(before), "genesis and the first block are years apart").to.deep.equal([0, 0, 0]);
    await store.apply([rules.parseBlock(maker.add({ generator: ada, missed: 5_000_000 }))]);
    expect(missed(read(store))).to.deep.equal([1_666_666, 1_666_667, 1_666_667]);
    expect(read(store).byUsername.get("cyd")?.productivity).to.equal(0);
    await store.revert();
    expectSame(read(store), before);
  });

  it("are reused and not read again when a block does not touch them", async () => {
    const maker = createChainMaker([firstMilestone(3)]);
    const first = { version: 1, fee: 0n } as const;
    const registered = [ada, bob, cyd];
    maker.add({
      generator: origin,
      transactions: registered.flatMap((actor) => [transfer(origin, actor, 1_000n, first), registration(actor, actor.name, first)]),
    });
    const { store, rules } = openTemporaryStore(networkOf(maker.blocks[0]!));
    await store.apply(maker.blocks.map(rules.parseBlock));
    const before = read(store);
    await store.apply([rules.parseBlock(maker.add({ generator: ada, transactions: [transfer(bob, origin, 1n, first)] }))]);

    const looked = new Set<string>();
    const after = read(store, before, (reading) => ({
      ...reading,
      get: (database, key) => {
        if (database === "delegates") looked.add(key.toString("hex"));
        return reading.get(database, key);
      },
      range: (database, bounds) => {
        expect(database, "all delegates are gone through").to.not.equal("delegates");
        return reading.range(database, bounds);
      },
    }));
    expect([...looked]).to.have.members([ada.publicKey, bob.publicKey]);
    expect(after.byAddress.get(cyd.address)).to.equal(before.byAddress.get(cyd.address));
    expect(after.byUsername.get("ada")?.producedBlocks).to.equal(1);
    expect(after.byUsername.get("bob")?.balance).to.equal(999n);
  });
});
