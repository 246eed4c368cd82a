import type { FeeStatistics } from "../../../types/chain.js";
import { rowsOf, same } from "../comparing.js";
import type { CaseDefinition } from "./case.js";

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
