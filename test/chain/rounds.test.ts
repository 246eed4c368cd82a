import { expect } from "chai";
import fc from "fast-check";
import { createMilestones } from "../../src/chain/milestones.js";
import {
  endsRound,
  forgingOrder,
  missedTurns,
  rankDelegates,
  type Round,
  roundOf,
} from "../../src/chain/rounds.js";
import type { Milestone } from "../../types/node-context.js";
import type { Tip } from "../../types/chain.js";
import { missedSlots } from "../memory-adapter/missed-slots.js";
import { loadChain } from "../data/read.js";

const first: Milestone = { height: 1, reward: 0, activeDelegates: 51, blocktime: 8, epoch: "2017-03-21T13:00:00.000Z" };

const milestonesOf = (sizes: Record<number, number>) =>
  createMilestones([
    first,
    ...Object.entries(sizes).map(([height, activeDelegates]) => ({ height: Number(height), activeDelegates })),
  ]);

const round = (number: number, firstHeight: number, lastHeight: number, activeDelegates: number): Round => ({
  round: number,
  firstHeight,
  lastHeight,
  activeDelegates,
});

describe("rounds", () => {
  it("have as many blocks as there are active delegates", () => {
    const milestones = milestonesOf({});
    expect(roundOf(1, milestones)).to.deep.equal(round(1, 1, 51, 51));
    expect(roundOf(51, milestones)).to.deep.equal(round(1, 1, 51, 51));
    expect(roundOf(52, milestones)).to.deep.equal(round(2, 52, 102, 51));
    expect(roundOf(268, milestones)).to.deep.equal(round(6, 256, 306, 51));
  });

  it("are counted across milestones that change their length", () => {
    const milestones = milestonesOf({ 1: 5, 16: 4, 24: 7 });
    expect([1, 5, 6, 15, 16, 19, 20, 23, 24, 30, 31].map((height) => roundOf(height, milestones).round)).to.deep.equal([
      1, 1, 2, 3, 4, 4, 5, 5, 6, 6, 7,
    ]);
    expect(roundOf(15, milestones)).to.deep.equal(round(3, 11, 15, 5));
    expect(roundOf(16, milestones)).to.deep.equal(round(4, 16, 19, 4));
    expect(roundOf(31, milestones)).to.deep.equal(round(7, 31, 37, 7));
  });

  it("ignore milestones that change something else", () => {
    const plain = milestonesOf({ 1: 5 });
    const busy = createMilestones([
      { ...first, activeDelegates: 5 },
      { height: 3, reward: 2 },
      { height: 8, vendorFieldLength: 255 },
      { height: 12, activeDelegates: 5 },
    ]);
    for (let height = 1; height <= 40; height++) expect(roundOf(height, busy)).to.deep.equal(roundOf(height, plain));
  });

  it("are cut short when a change falls within them", () => {
    const milestones = milestonesOf({ 1: 5, 8: 3 });
    expect(roundOf(7, milestones)).to.deep.equal(round(2, 6, 7, 5));
    expect(roundOf(8, milestones)).to.deep.equal(round(3, 8, 10, 3));
  });

  it("contain the height by which they are found", () => {
    for (const sizes of [{}, { 1: 5, 16: 4, 24: 7 }, { 1: 5, 8: 3 }, { 1: 1, 4: 2 }]) {
      const milestones = milestonesOf(sizes);
      for (let height = 1; height <= 400; height++) {
        const found = roundOf(height, milestones);
        expect(found.firstHeight <= height && height <= found.lastHeight).to.equal(true);
      }
    }
  });

  it("end with their last block, and genesis ends one of its own", () => {
    const ends = (sizes: Record<number, number>, to: number): number[] => {
      const milestones = milestonesOf(sizes);
      return Array.from({ length: to }, (_, index) => index + 1).filter((height) => endsRound(height, milestones));
    };
    expect(ends({}, 110)).to.deep.equal([1, 51, 102]);
    expect(ends({ 1: 5, 16: 4, 24: 7 }, 31)).to.deep.equal([1, 5, 10, 15, 19, 23, 30]);
    expect(ends({ 1: 5, 8: 3 }, 14)).to.deep.equal([1, 5, 7, 10, 13]);
    expect(ends({ 1: 1 }, 4)).to.deep.equal([1, 2, 3, 4]);
  });
});

describe("the forging order", () => {
  it("matches that of a real node", () => {
    const { roundDelegatesByRank, activeDelegatesInForgingOrder, roundOfTip } = loadChain("core3-testnet-a").meta;
    expect(forgingOrder(roundDelegatesByRank, roundOfTip.round)).to.deep.equal(
      activeDelegatesInForgingOrder.map(({ username }) => username),
    );
  });

  it("is drawn from the SHA-256 of the round's number, skipping every fifth position", () => {
    // SHA-256("1") begins 6b 86 b2 73 ff 34 …: of five, it swaps 0-2, 1-4, 2-3 and 3-0; the fifth position has no draw.
    expect(forgingOrder(["a", "b", "c", "d", "e"], 1)).to.deep.equal(["a", "e", "d", "c", "b"]);
  });

  it("has every delegate once, and leaves its input unchanged", () => {
    for (const count of [0, 1, 2, 4, 5, 51, 53, 300]) {
      const byRank = Array.from({ length: count }, (_, index) => index);
      for (const number of [1, 2, 1_000]) {
        const order = forgingOrder(byRank, number);
        expect(order.toSorted((a, b) => a - b)).to.deep.equal(byRank);
      }
      expect(byRank).to.deep.equal(Array.from({ length: count }, (_, index) => index));
    }
  });

});

describe("missed turns", () => {
  const order = ["a", "b", "c", "d", "e", "f", "g"];
  const delegatesOf = (round: number) => order.slice(0, 3 + (round % 5)).map((publicKey) => ({ publicKey }));
  const counted = (keys: readonly string[]): Record<string, number> => {
    const counts: Record<string, number> = {};
    for (const key of keys) counts[key] = (counts[key] ?? 0) + 1;
    return counts;
  };

  it("are those of the slots that pass between two blocks, whatever milestones change", () => {
    const gaps = fc.array(fc.tuple(fc.constantFrom(0, 0, 0, 1, 5, 40), fc.constantFrom(0, 0, 3)), { minLength: 1, maxLength: 20 });
    const changes = fc.array(fc.record({ height: fc.integer({ min: 2, max: 20 }), blocktime: fc.constantFrom(2, 5, 8, 13), activeDelegates: fc.integer({ min: 1, max: 7 }) }), { maxLength: 4 });
    fc.assert(
      fc.property(changes, gaps, (later, wishes) => {
        const milestones = createMilestones([{ ...first, activeDelegates: 5 }, ...later]);
        const times = [0];
        for (const [missed, late] of wishes) times.push((times.at(-1) ?? 0) + milestones.at(times.length).blocktime + missed * milestones.at(times.length + 1).blocktime + late);
        const timeOf = (height: number): number => times[height - 1] ?? NaN;
        for (let height = 3; height <= times.length; height++) {
          const [before, block] = [height - 1, height].map((at) => ({ id: "", height: at, timestamp: timeOf(at) })) as [Tip, Tip];
          const { round } = roundOf(height, milestones);
          const byRank = delegatesOf(round).map(({ publicKey }) => publicKey);
          const slots = missedSlots(before, block, { milestones: milestones.all, timeOf, round, byRank });
          expect(Object.fromEntries(missedTurns(block, { milestones, round: delegatesOf, timeOf }))).to.deep.equal(counted(slots));
        }
      }),
    );
  });

  it("are none before the second block, and are counted at once however many they are", () => {
    const milestones = milestonesOf({ 1: 5 });
    const needs = { milestones, round: () => order.slice(0, 5).map((publicKey) => ({ publicKey })), timeOf: (height: number) => (height === 1 ? 0 : 1_000_000_000) };
    expect(missedTurns({ height: 2, timestamp: 1_000_000_000 }, needs).size).to.equal(0);
    expect(missedTurns({ height: 3, timestamp: 1_000_000_008 }, needs).size).to.equal(0);
    // After slot 125,000,000, which is the first delegate's: the gap begins with the second's turn.
    const gap = 3_000_000_002;
    const missed = missedTurns({ height: 3, timestamp: 1_000_000_000 + 8 * (gap + 1) }, needs);
    const [one = "", two = "", three = "", four = "", five = ""] = forgingOrder(order.slice(0, 5), 1);
    expect(Object.fromEntries(missed)).to.deep.equal({ [two]: 600_000_001, [three]: 600_000_001, [four]: 600_000_000, [five]: 600_000_000, [one]: 600_000_000 });
  });
});

describe("ranks", () => {
  it("are by descending vote balance, then ascending public key, without resigned delegates", () => {
    const delegate = (publicKey: string, voteBalance: bigint, resigned = false) => ({ publicKey, voteBalance, resigned });
    const given = [
      delegate("03", 5n),
      delegate("02", 5n),
      delegate("06", 2n ** 64n),
      delegate("07", 2n ** 64n + 1n),
      delegate("04", 9n, true),
      delegate("01", 4n),
      delegate("05", 5n),
    ];
    const ranked = ["07", "06", "02", "03", "05", "01"];
    expect(rankDelegates(given).map(({ publicKey }) => publicKey)).to.deep.equal(ranked);
    expect(rankDelegates(given.toReversed()).map(({ publicKey }) => publicKey)).to.deep.equal(ranked);
    expect(given[0]?.publicKey).to.equal("03");
  });
});
