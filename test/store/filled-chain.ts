import { type Actor, actors } from "../../src/conformance/chain/actors.js";
import { createChainMaker, fakeHash, networkOf, registration, transfer, vote } from "../../src/conformance/chain/chain-maker.js";
import type { BlockData } from "../../types/events.js";
import { firstMilestone } from "../first-milestone.js";

const { origin, ada, bob } = actors;
const perBlock = 130;
export const [fork, end] = [12, 16];

const someone = (n: number): Actor => ({ name: `nobody ${n}`, publicKey: `02${fakeHash(`key ${n}`, 64)}`, address: `A${fakeHash(`address ${n}`, 20)}` });

/** Each block pays wallets that are new, and some of those before it pay back, which shows their public keys. Two branches differ above `fork`. */
const chainOf = (branch: number): readonly BlockData[] => {
  const maker = createChainMaker([firstMilestone(2, 1)]);
  const first = { version: 1, fee: 0n } as const;
  maker.add({
    generator: origin,
    transactions: [...[ada, bob].map((actor) => transfer(origin, actor, 2n ** 60n, first)), registration(ada, "ada", first), registration(bob, "bob", first), vote(ada, [["+", ada]], first)],
  });
  for (let height = 2; height <= end; height++) {
    const own = height > fork ? branch * 100_000 : 0;
    const paid = Array.from({ length: perBlock }, (_, index) => transfer(bob, someone(own + height * 1_000 + index), BigInt(1 + (index % 7)), { fee: 0n }));
    const before = height - 1 > fork ? own : 0;
    const back = height === 2 ? [] : Array.from({ length: 40 }, (_, index) => transfer(someone(before + (height - 1) * 1_000 + index), bob, 1n, { fee: 0n }));
    maker.add({ generator: height % 2 === 0 ? ada : bob, transactions: [...paid, ...back] });
  }
  return maker.blocks;
};

export const branches = [chainOf(1), chainOf(2)] as const;
export const network = networkOf(branches[0][0] as BlockData);
