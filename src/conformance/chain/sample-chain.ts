import type { BlockData } from "../../../types/events.js";
import type { Network } from "../../../types/node-context.js";
import {
  type BlockDraft,
  createChainMaker,
  type Draft,
  foreign,
  htlcClaim,
  htlcLock,
  htlcRefund,
  ipfs,
  milestones,
  multiPayment,
  multiSignature,
  networkOf,
  registration,
  resignation,
  secondSignature,
  timelock,
  transfer,
  vote,
} from "./chain-maker.js";
import { actors, secondKeys } from "./actors.js";

// The suite's own chain, block by block. The files in `figures` hold the expected results: after a change here, they must be worked
// out anew, by the rules and not by this project's code.

const { origin, ada, bob, cyd, dan, eve, fay, gus, hal, ivy, joe, kim, mia, ned, pia, quin, rae, sam, council } = actors;

const v1 = { version: 1 } as const;
const free = { version: 1, fee: 0n } as const;

const genesis: Draft[] = [
  transfer(origin, ada, 1_000_000_000_000_000_003n, free),
  transfer(origin, bob, 1_000_000_000_000_000_001n, free),
  transfer(origin, cyd, 900_000_000_000_000_000n, free),
  transfer(origin, dan, 800_000_000_000_000_000n, free),
  transfer(origin, eve, 700_000_000_000_000_000n, free),
  transfer(origin, fay, 600_000_000_000_000_000n, free),
  transfer(origin, ivy, 2_000_000_000_000_000_000n, free),
  transfer(origin, joe, 3_000_000_000_000_000_000n, free),
  transfer(origin, kim, 2_499_999_999_999_999_997n, free),
  ...[ada, bob, cyd, dan, eve, fay].map((actor) => registration(actor, actor.name, free)),
  ...[ada, bob, cyd, dan, eve].map((actor) => vote(actor, [["+", actor]], free)),
  vote(ivy, [["+", bob]], free),
];

/** Rounds in wire version 1: heights 2 to 5 (the first round begins with genesis) and 6 to 10. */
const firstVersion: BlockDraft[] = [
  {
    generator: bob,
    transactions: [
      transfer(joe, mia, 9_007_199_254_740_993n, { ...v1, vendorField: "rent" }),
      transfer(joe, ned, 9_007_199_254_740_992n, { ...v1, vendorField: "rent" }),
      transfer(joe, gus, 50_000_000_000n, v1),
      transfer(joe, hal, 60_000_000_000n, { ...v1, fee: 10_000_001n }),
    ],
  },
  {
    generator: eve,
    transactions: [secondSignature(kim, secondKeys.kim, v1), registration(gus, "gus.1", v1), vote(fay, [["+", eve]], v1)],
  },
  {
    generator: dan,
    transactions: [
      vote(joe, [["+", cyd]], v1),
      multiPayment(
        ivy,
        [
          [pia, 1_000n],
          [joe, 20_000_000_001n],
          [pia, 2_000n],
          [ivy, 500n],
        ],
        { ...v1, fee: 30_000_000n },
      ),
    ],
  },
  {
    generator: cyd,
    transactions: [
      ipfs(kim, "QmR45FmbVVrixReBwJkhEKde2qwHYaQzGxu4ZoDeswuF9w", { ...v1, twice: true }),
      timelock(joe, pia, 7n),
      multiSignature(kim, 2, [ivy, joe], { ...v1, twice: true }),
    ],
  },
  { generator: eve, missed: 2 },
  {
    generator: dan,
    transactions: [
      resignation(fay, v1),
      vote(
        ivy,
        [
          ["-", bob],
          ["+", ada],
        ],
        v1,
      ),
    ],
  },
  {
    generator: ada,
    transactions: [
      vote(eve, [["-", eve]], v1),
      transfer(bob, rae, 5_000_000_000n, { ...v1, vendorField: "x" }),
      transfer(bob, sam, 5_000_000_000n, { ...v1, vendorField: "x" }),
    ],
  },
  { generator: cyd, transactions: [vote(kim, [["+", dan]], { ...v1, twice: true }), transfer(joe, dan, 123_456_789n, v1)] },
  { generator: bob, transactions: [transfer(pia, joe, 7n, { ...v1, fee: 1_000n })] },
];

/** The last round of five, in wire version 2: heights 11 to 15. */
const secondVersion: BlockDraft[] = [
  {
    generator: ada,
    transactions: [
      transfer(ivy, pia, 4_000_000_000n, { vendorField: "Grüße, 世界 ✓" }),
      transfer(ivy, pia, 4_000_000_000n, { fee: 9_999_999n, vendorField: "rent" }),
      registration(hal, "hal_2"),
      resignation(eve),
    ],
  },
  {
    generator: eve,
    transactions: [
      multiSignature(ivy, 2, [ivy, joe, kim]),
      multiSignature(ada, 1, [ada, bob]),
      transfer(joe, council, 700_000_000_000n),
    ],
  },
  {
    generator: cyd,
    transactions: [transfer(council, pia, 1_000_000_007n, { signers: 2 }), secondSignature(joe, secondKeys.joe)],
  },
  {
    generator: dan,
    transactions: [
      htlcLock(
        ivy,
        joe,
        300_000_000_000n,
        { label: "first", secret: "one", expiration: { type: 1, value: 9_000 } },
        { vendorField: "swap" },
      ),
      htlcLock(
        joe,
        pia,
        400_000_000_000n,
        { label: "second", secret: "two", expiration: { type: 2, value: 18 } },
        { twice: true },
      ),
      htlcLock(
        kim,
        kim,
        500_000_000_000n,
        { label: "third", secret: "one", expiration: { type: 2, value: 24 } },
        { twice: true },
      ),
      htlcLock(kim, quin, 250n, { label: "fourth", secret: "four", expiration: { type: 2, value: 1_000 } }, { twice: true }),
    ],
  },
  { generator: bob, transactions: [htlcClaim(hal, "first", { fee: 1_000_003n }), vote(council, [["+", gus]], { signers: 3 })] },
];

/** Rounds of four: heights 16 to 19, 20 to 23, 24 to 27, and the unfinished one of 28 to 31. */
const roundsOfFour: BlockDraft[] = [
  {
    generator: bob,
    transactions: [
      multiPayment(
        ivy,
        [
          [council, 11n],
          [pia, 22n],
          [pia, 33n],
          [ivy, 44n],
          [cyd, 55n],
        ],
        { vendorField: "wages" },
      ),
    ],
  },
  { generator: ada, transactions: [vote(gus, [["+", gus]]), foreign(bob, 0), foreign(bob, 6, { fee: 5_000_000_001n })] },
  { generator: dan, missed: 1 },
  {
    generator: bob,
    transactions: [htlcRefund(dan, "second", { fee: 2_000_001n }), transfer(joe, dan, 123_456_789n, { twice: true })],
  },
  {
    generator: cyd,
    transactions: [
      htlcLock(ivy, pia, 600_000_000n, { label: "fifth", secret: "five", expiration: { type: 1, value: 20_000 } }),
      htlcClaim(pia, "fifth"),
    ],
  },
  {
    generator: ada,
    transactions: [
      vote(
        joe,
        [
          ["-", cyd],
          ["+", hal],
        ],
        { twice: true },
      ),
      ipfs(kim, "QmYSK2JyM3RyDyB52caZCTKFR3HKniEcMnNJYdk8DQ6KKB", { twice: true }),
    ],
  },
  {
    generator: dan,
    transactions: [
      multiPayment(
        council,
        [
          [ada, 1n],
          [bob, 2n],
        ],
        { signers: 3, fee: 20_000_000n },
      ),
    ],
  },
  {
    generator: bob,
    transactions: [
      htlcLock(joe, mia, 777n, { label: "sixth", secret: "six", expiration: { type: 1, value: 8_240 } }, { twice: true }),
      htlcLock(dan, mia, 777n, { label: "seventh", secret: "seven", expiration: { type: 2, value: 30 } }),
      htlcLock(
        ivy,
        ned,
        777n,
        { label: "eighth", secret: "seven", expiration: { type: 1, value: 8_249 } },
        { vendorField: "swap" },
      ),
    ],
  },
  { generator: dan },
  { generator: bob, transactions: [transfer(ada, ada, 1_000n), htlcRefund(kim, "third", { twice: true })] },
  {
    generator: hal,
    transactions: [transfer(bob, joe, 1_000n), transfer(bob, joe, 1_000n), transfer(dan, joe, 1_000n, { vendorField: "rent" })],
  },
  { generator: ada, transactions: [vote(bob, [["-", bob]]), vote(bob, [["+", dan]])] },
  {
    generator: dan,
    transactions: [
      registration(kim, "hal1", { twice: true }),
      htlcLock(
        kim,
        bob,
        999_999_999_999n,
        { label: "ninth", secret: "nine", expiration: { type: 2, value: 31 } },
        { twice: true },
      ),
    ],
  },
  { generator: hal },
  { generator: cyd, transactions: [transfer(ivy, gus, 5_000_000_000n, { expiration: 40, fee: 12_345_678n })] },
];

/** The fork: the blocks after height 25 on the other branch. */
const otherBranch: BlockDraft[] = [
  { generator: hal, transactions: [vote(ivy, [["-", ada]]), htlcClaim(quin, "fourth"), resignation(cyd)] },
  { generator: bob, missed: 2, transactions: [transfer(ned, sam, 9_007_199_254_740_991n, { fee: 1n })] },
  { generator: bob },
];

const forkHeight = 25;

/** After the last block: the genesis sender, whose balance is negative, votes for a delegate without other voters. */
const debtorVotes: BlockDraft = { generator: ada, transactions: [vote(origin, [["+", fay]])] };

export interface SampleChain {
  network: Network;
  /** Genesis first. */
  blocks: readonly BlockData[];
  /** Height of the last block that both branches have. */
  forkHeight: number;
  /** Blocks of the other branch, from `forkHeight` + 1. */
  otherBranch: readonly BlockData[];
  /** A block after the last of `blocks`, which makes fay's vote balance negative. */
  debtorVotes: BlockData;
}

export const createSampleChain = (): SampleChain => {
  const maker = createChainMaker(milestones);
  const genesisBlock = maker.add({ generator: origin, transactions: genesis });
  let other = maker;
  for (const block of [...firstVersion, ...secondVersion, ...roundsOfFour]) {
    maker.add(block);
    if (maker.blocks.length === forkHeight) other = maker.fork();
  }
  return {
    network: networkOf(genesisBlock),
    blocks: maker.blocks,
    forkHeight,
    otherBranch: otherBranch.map((block) => other.add(block)),
    debtorVotes: maker.fork().add(debtorVotes),
  };
};
