import type { ChainSnapshot, MaybePromise } from "../../../types/chain-adapter.js";
import { rowOf, rowsOf, same } from "../comparing.js";
import { labelled } from "../chain/chain-maker.js";
import { delegateSpec, everyRow, walletSpec } from "../lists.js";
import { actors } from "../chain/actors.js";
import type { CaseDefinition } from "../target.js";
import type { FeeStatistics } from "../../../types/chain.js";

const { ada, gus, joe, kim, mia, pair } = actors;

const expectOne = async <Row extends object, Key extends keyof Row>(
  what: string,
  answers: readonly MaybePromise<Row | undefined>[],
  key: Key,
  expected: Row[Key],
): Promise<void> => {
  for (const answer of answers) same((await answer)?.[key], expected, what);
};

const expectNone = async (what: string, answer: unknown): Promise<void> => same(await answer, undefined, `${what} is not found`);

const walletCase: CaseDefinition = {
  name: "look-ups: a wallet by address, public key and username",
  run: async (fixture) =>
    fixture.reading(async (snapshot) => {
      for (const wallet of await everyRow(snapshot, walletSpec)) {
        for (const name of [wallet.address, wallet.publicKey, wallet.username]) {
          if (name !== null) same(rowOf("wallet", await snapshot.wallet(name)), rowOf("wallet", wallet), `wallet ${name}`);
        }
      }
      const answers = [snapshot.wallet(pair.publicKey), snapshot.wallet(pair.address)];
      await expectOne("a multisignature wallet that never sent", answers, "address", pair.address);
    }),
};

const delegateCase: CaseDefinition = {
  name: "look-ups: a delegate by username, address and public key",
  run: async (fixture) =>
    fixture.reading(async (snapshot) => {
      for (const delegate of await everyRow(snapshot, delegateSpec)) {
        for (const name of [delegate.username, delegate.address, delegate.publicKey]) {
          same(rowOf("delegate", await snapshot.delegate(name)), rowOf("delegate", delegate), `delegate ${name}`);
        }
        for (const member of ["voteBalance", "rank", "balance"] as const) {
          same((await snapshot.delegate(delegate.username, [member]))?.[member], delegate[member], `${member} of the delegate ${delegate.username}, asked for alone`);
        }
      }
      const answers = ["gus.1", gus.address, gus.publicKey].map((name) => snapshot.delegate(name));
      await expectOne("gus by any of its names", answers, "username", "gus.1");
    }),
};

const blockCase: CaseDefinition = {
  name: "look-ups: a block by height and id",
  run: async (fixture) =>
    fixture.reading(async (snapshot) => {
      for (const { id, height } of fixture.chain.blocks) {
        await expectOne(`block ${height}`, [snapshot.block({ height }), snapshot.block({ id })], "id", id);
      }
    }),
};

/** Names that no row has: some look almost right, others are too short or too long for the keys of many stores. */
const unknownNames = [
  "nobody",
  "gus",
  "ADA",
  "AUexKjGtgsSpVzPLs6jNMM6vJ6znEVTQWK",
  `02${"0".repeat(63)}1`,
  "__proto__",
  "constructor",
  "",
  "\u0000",
  "ada\u0000",
  "\ud800",
  "x".repeat(5_000),
];

const expectNothing = async (snapshot: ChainSnapshot): Promise<void> => {
  for (const name of [...unknownNames, ada.address.toLowerCase()]) {
    await expectNone(`wallet "${name}"`, snapshot.wallet(name));
    await expectNone(`delegate "${name}"`, snapshot.delegate(name));
  }
  for (const { name, address, publicKey } of [joe, mia]) {
    for (const other of [name, address, publicKey])
      await expectNone(`delegate "${other}", whose wallet is no delegate`, snapshot.delegate(other));
  }
  for (const height of [0, -1, 1.5, 31, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER])
    await expectNone(`block ${height}`, snapshot.block({ height }));
  for (const id of [...unknownNames, "0", "1", "f".repeat(64), "99999999999999999999", ada.address]) {
    await expectNone(`block "${id}"`, snapshot.block({ id }));
    await expectNone(`transaction "${id}"`, snapshot.transaction(id));
  }
};

const nothingCase: CaseDefinition = {
  name: "look-ups: what is not there is not found",
  run: async (fixture) => fixture.reading(expectNothing),
};

const lockCase: CaseDefinition = {
  name: "look-ups: an open lock by its id, an ended one not at all",
  run: async (fixture) => {
    await fixture.needs("locks");
    await fixture.reading(async (snapshot) => {
      await expectOne("the fourth lock", [snapshot.lock(labelled("fourth"))], "senderId", kim.address);
      for (const label of ["first", "second", "third", "fifth"])
        await expectNone(`the ${label} lock, which has ended`, snapshot.lock(labelled(label)));
      const [genesis] = fixture.chain.blocks;
      const transfer = genesis?.transactions?.[0];
      await expectNone("a transaction that is no lock", snapshot.lock(transfer?.id ?? ""));
      await expectNone("a lock of no transaction", snapshot.lock("f".repeat(64)));
    });
  },
};

export const lookUpCases: CaseDefinition[] = [walletCase, delegateCase, blockCase, lockCase, nothingCase];

type Fees = readonly [typeGroup: number, type: number, avg: bigint, min: bigint, max: bigint, sum: bigint];

const rows = (fees: readonly Fees[]): FeeStatistics[] =>
  fees.map(([typeGroup, type, avg, min, max, sum]) => ({ typeGroup, type, avg, min, max, sum }));

/** Without genesis. Averages round half up: 500,001.5 is 500,002. */
const ofWholeChain = rows([
  [1, 0, 9_574_815n, 1_000n, 12_345_678n, 172_346_678n],
  [1, 1, 500_000_000n, 500_000_000n, 500_000_000n, 1_000_000_000n],
  [1, 2, 2_500_000_000n, 2_500_000_000n, 2_500_000_000n, 7_500_000_000n],
  [1, 3, 100_000_000n, 100_000_000n, 100_000_000n, 1_000_000_000n],
  [1, 4, 1_666_666_667n, 1_500_000_000n, 2_000_000_000n, 5_000_000_000n],
  [1, 5, 500_000_000n, 500_000_000n, 500_000_000n, 1_000_000_000n],
  [1, 6, 13_333_333n, 10_000_000n, 20_000_000n, 40_000_000n],
  [1, 7, 1_265_000_000n, 30_000_000n, 2_500_000_000n, 2_530_000_000n],
  [1, 8, 259_000_000n, 10_000_000n, 2_500_000_000n, 2_590_000_000n],
  [1, 9, 500_002n, 0n, 1_000_003n, 1_000_003n],
  [1, 10, 1_000_001n, 0n, 2_000_001n, 2_000_001n],
  [2, 0, 5_000_000_000n, 5_000_000_000n, 5_000_000_000n, 5_000_000_000n],
  [2, 6, 5_000_000_001n, 5_000_000_001n, 5_000_000_001n, 5_000_000_001n],
]);

/** Those of at least 10,000,000: one of 9,999,999, which was paid for a transfer, does not count. */
const withoutLowFees = [
  ...rows([[1, 0, 10_146_605n, 10_000_000n, 12_345_678n, 162_345_679n]]),
  ...ofWholeChain.filter(({ typeGroup, type }) => typeGroup === 2 || (type > 0 && type < 9)),
];

/** From the time of block 12 to that of block 20, inclusive. */
const ofHeights12To20 = rows([
  [1, 0, 10_000_000n, 10_000_000n, 10_000_000n, 30_000_000n],
  [1, 1, 500_000_000n, 500_000_000n, 500_000_000n, 500_000_000n],
  [1, 3, 100_000_000n, 100_000_000n, 100_000_000n, 200_000_000n],
  [1, 4, 1_750_000_000n, 1_500_000_000n, 2_000_000_000n, 3_500_000_000n],
  [1, 6, 10_000_000n, 10_000_000n, 10_000_000n, 10_000_000n],
  [1, 8, 10_000_000n, 10_000_000n, 10_000_000n, 50_000_000n],
  [1, 9, 500_002n, 0n, 1_000_003n, 1_000_003n],
  [1, 10, 2_000_001n, 2_000_001n, 2_000_001n, 2_000_001n],
  [2, 0, 5_000_000_000n, 5_000_000_000n, 5_000_000_000n, 5_000_000_000n],
  [2, 6, 5_000_000_001n, 5_000_000_001n, 5_000_000_001n, 5_000_000_001n],
]);

const windows: [what: string, from: number, to: number, expected: FeeStatistics[], minFee?: bigint][] = [
  ["the whole chain", 0, 8_248, ofWholeChain],
  ["a window that ends long after the tip", 0, 1_000_000_000, ofWholeChain],
  ["a window whose ends are the times of blocks", 8_096, 8_168, ofHeights12To20],
  ["a window whose ends lie between blocks", 8_089, 8_175, ofHeights12To20],
  [
    "the time of one block",
    8_144,
    8_160,
    rows([
      [1, 0, 10_000_000n, 10_000_000n, 10_000_000n, 10_000_000n],
      [1, 10, 2_000_001n, 2_000_001n, 2_000_001n, 2_000_001n],
    ]),
  ],
  [
    "the time of one block of older transactions",
    8_016,
    8_016,
    rows([
      [1, 3, 100_000_000n, 100_000_000n, 100_000_000n, 100_000_000n],
      [1, 7, 30_000_000n, 30_000_000n, 30_000_000n, 30_000_000n],
    ]),
  ],
  ["times at which transactions were made, but no block", 8_009, 8_015, []],
  ["blocks without transactions", 8_048, 8_048, []],
  ["times in which no block was made", 8_025, 8_047, []],
  ["a time after the tip", 8_249, 9_000, []],
  ["genesis, which does not count", 0, 0, []],
  ["the whole chain without fees below a bound", 0, 8_248, withoutLowFees, 10_000_000n],
  ["a part of the chain without fees below a bound", 8_096, 8_168, ofHeights12To20.filter(({ type }) => type !== 9), 1_000_004n],
];

export const statisticsCases: CaseDefinition[] = windows.map(([what, from, to, expected, minFee]) => ({
  name: `fee statistics: ${what}`,
  run: async (fixture) => {
    await fixture.needs("feeStatistics");
    await fixture.reading(async (snapshot) => {
      const found = await snapshot.feeStatistics({ from, to, ...(minFee === undefined ? {} : { minFee }) });
      same(rowsOf("feeStatistics", found), rowsOf("feeStatistics", expected), `fee statistics of ${from}..${to}`);
    });
  },
}));
